//! Random histories of a thread, compared with a model of it that fits on a page.

mod reference;
mod thread;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use superstep::Durability;

use super::stores::Place;
use reference::Model;
use thread::Real;

/// What is done to a thread. A number says which checkpoint, counted over those that are there.
#[derive(Clone, Debug)]
enum Deed {
    /// New input; the run asks a question or not.
    Run { asks: bool, abandon: bool, how: How },
    /// The same behind an old checkpoint.
    RunAt { at: usize, asks: bool, how: How },
    /// Goes on, with an answer to the open question if there is one, and perhaps with an update.
    Resume { answer: Option<bool>, patch: bool, how: How },
    /// The last answer once more.
    ClickAgain,
    /// An update in the place of a node, of the head or of an old checkpoint.
    Update { at: Option<usize>, place: &'static str },
    /// A replay of an old checkpoint, perhaps with an update.
    RunAgain { at: usize, patch: bool, how: How },
    /// Drops all checkpoints but the newest.
    Prune { keep: usize },
    /// Goes on with a copy of the thread.
    Copy,
}

/// How a run runs.
#[derive(Clone, Copy, Debug)]
struct How {
    broken: Broken,
    durability: Durability,
}

/// The node that fails, if any.
type Broken = Option<&'static str>;

impl Deed {
    /// Whether it is a run that stores its end and nothing else.
    fn stores_its_end_alone(&self) -> bool {
        match self {
            Self::Run { how, .. }
            | Self::RunAt { how, .. }
            | Self::Resume { how, .. }
            | Self::RunAgain { how, .. } => how.durability == Durability::Exit,
            Self::ClickAgain | Self::Update { .. } | Self::Prune { .. } | Self::Copy => false,
        }
    }
}

const NODES: [&str; 3] = ["ask", "work", "end"];

fn broken() -> impl Strategy<Value = Broken> {
    prop_oneof![2 => Just(None), 1 => prop::sample::select(&NODES[..]).prop_map(Some)]
}

fn how() -> impl Strategy<Value = How> {
    let durability = prop_oneof![
        3 => Just(Durability::Async),
        1 => Just(Durability::Sync),
        3 => Just(Durability::Exit),
    ];
    (broken(), durability).prop_map(|(broken, durability)| How { broken, durability })
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let place = prop::sample::select(&["START", "ask", "work", "end", "END"][..]);
    let at = 0..100_usize;
    let deed = prop_oneof![
        4 => (any::<bool>(), any::<bool>(), how()).prop_map(|(asks, abandon, how)| Deed::Run { asks, abandon, how }),
        1 => (at.clone(), any::<bool>(), how()).prop_map(|(at, asks, how)| Deed::RunAt { at, asks, how }),
        6 => (prop::option::weighted(0.8, any::<bool>()), prop::bool::weighted(0.3), how())
            .prop_map(|(answer, patch, how)| Deed::Resume { answer, patch, how }),
        1 => Just(Deed::ClickAgain),
        2 => (prop::option::of(at.clone()), place).prop_map(|(at, place)| Deed::Update { at, place }),
        2 => (at, prop::bool::weighted(0.3), how())
            .prop_map(|(at, patch, how)| Deed::RunAgain { at, patch, how }),
        1 => (1..5_usize).prop_map(|keep| Deed::Prune { keep }),
        1 => Just(Deed::Copy),
    ];
    prop::collection::vec(deed, 1..14)
}

/// Does random deeds to a thread and to the model, and compares everything that a thread shows after each.
fn check(cases: u32, place: impl Fn() -> Place) {
    // The same cases every time; what fails is made smaller, and printed.
    let mut runner = TestRunner::deterministic();
    let mut config = ProptestConfig::with_cases(cases);
    config.failure_persistence = None;
    let rng = runner.new_rng();
    runner = TestRunner::new_with_rng(config, rng);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let tested = runner.run(&deeds(), |deeds| {
        let mut real = Real::new(place());
        let mut model = Model::default();
        runtime.block_on(async {
            for (count, deed) in deeds.iter().enumerate() {
                let word = format!("{count}");
                let expected = model.does(deed, &word);
                let happened = real.does(deed, &word).await;
                prop_assert_eq!(happened, expected, "{:?}", deed);
                prop_assert_eq!(real.shows().await, model.shows(), "after {:?}", deed);
            }
            Ok(())
        })
    });
    if let Err(error) = tested {
        panic!("{error}");
    }
}

#[test]
fn a_thread_in_memory_is_what_the_model_says() {
    check(500, Place::memory);
}

#[test]
fn a_thread_that_is_encrypted_is_what_the_model_says() {
    check(20, Place::encrypted);
}

#[test]
fn a_thread_in_a_file_is_what_the_model_says() {
    check(20, Place::file);
}
