//! Random actions on a thread, compared with a small model of threads.

mod reference;
mod thread;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use superstep::Durability;

use super::stores::TestStore;
use reference::Model;
use thread::RealThread;

/// An action on a thread. A number selects one of the existing checkpoints.
#[derive(Clone, Debug)]
enum Action {
    /// New input. The run asks a question or not.
    Run { asks: bool, abandon: bool, options: RunOptions },
    /// New input at an old checkpoint.
    RunAt { at: usize, asks: bool, options: RunOptions },
    /// A resume, with an answer if an interrupt is open, and perhaps with an update.
    Resume { answer: Option<bool>, patch: bool, options: RunOptions },
    /// The last answer again.
    RepeatAnswer,
    /// An update as a node, at the head or at an old checkpoint.
    Update { at: Option<usize>, node: &'static str },
    /// A replay of an old checkpoint, perhaps with an update.
    RunAgain { at: usize, patch: bool, options: RunOptions },
    /// Prunes all but the newest checkpoints.
    Prune { keep: usize },
    /// Continues with a copy of the thread.
    Copy,
}

/// The options of a run.
#[derive(Clone, Copy, Debug)]
struct RunOptions {
    failing: FailingNode,
    durability: Durability,
}

/// The node that fails, if any.
type FailingNode = Option<&'static str>;

impl Action {
    /// Returns `true` if the action is a run that stores only its end.
    fn stores_only_its_end(&self) -> bool {
        match self {
            Self::Run { options, .. }
            | Self::RunAt { options, .. }
            | Self::Resume { options, .. }
            | Self::RunAgain { options, .. } => options.durability == Durability::Exit,
            Self::RepeatAnswer | Self::Update { .. } | Self::Prune { .. } | Self::Copy => false,
        }
    }
}

const NODES: [&str; 3] = ["ask", "work", "end"];

fn failing() -> impl Strategy<Value = FailingNode> {
    prop_oneof![2 => Just(None), 1 => prop::sample::select(&NODES[..]).prop_map(Some)]
}

fn run_options() -> impl Strategy<Value = RunOptions> {
    let durability = prop_oneof![
        3 => Just(Durability::Async),
        1 => Just(Durability::Sync),
        3 => Just(Durability::Exit),
    ];
    (failing(), durability).prop_map(|(failing, durability)| RunOptions { failing, durability })
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let node = prop::sample::select(&["START", "ask", "work", "end", "END"][..]);
    let at = 0..100_usize;
    let action = prop_oneof![
        4 => (any::<bool>(), any::<bool>(), run_options()).prop_map(|(asks, abandon, options)| Action::Run { asks, abandon, options }),
        1 => (at.clone(), any::<bool>(), run_options()).prop_map(|(at, asks, options)| Action::RunAt { at, asks, options }),
        6 => (prop::option::weighted(0.8, any::<bool>()), prop::bool::weighted(0.3), run_options())
            .prop_map(|(answer, patch, options)| Action::Resume { answer, patch, options }),
        1 => Just(Action::RepeatAnswer),
        2 => (prop::option::of(at.clone()), node).prop_map(|(at, node)| Action::Update { at, node }),
        2 => (at, prop::bool::weighted(0.3), run_options())
            .prop_map(|(at, patch, options)| Action::RunAgain { at, patch, options }),
        1 => (1..5_usize).prop_map(|keep| Action::Prune { keep }),
        1 => Just(Action::Copy),
    ];
    prop::collection::vec(action, 1..14)
}

/// Applies random actions to a thread and to the model, and compares their views after each.
fn check(cases: u32, store: impl Fn() -> TestStore) {
    // The cases are the same each time. A failing case is shrunk and printed.
    let mut runner = TestRunner::deterministic();
    let mut config = ProptestConfig::with_cases(cases);
    config.failure_persistence = None;
    let rng = runner.new_rng();
    runner = TestRunner::new_with_rng(config, rng);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let tested = runner.run(&actions(), |actions| {
        let mut real = RealThread::new(store());
        let mut model = Model::default();
        runtime.block_on(async {
            for (count, action) in actions.iter().enumerate() {
                let label = format!("{count}");
                let expected = model.apply(action, &label);
                let result = real.apply(action, &label).await;
                prop_assert_eq!(result, expected, "{:?}", action);
                prop_assert_eq!(real.view().await, model.view(), "after {:?}", action);
            }
            Ok(())
        })
    });
    if let Err(error) = tested {
        panic!("{error}");
    }
}

#[test]
fn thread_in_memory_matches_the_model() {
    check(500, TestStore::memory);
}

#[test]
fn encrypted_thread_matches_the_model() {
    check(20, TestStore::encrypted);
}

#[test]
fn thread_in_a_file_matches_the_model() {
    check(20, TestStore::file);
}
