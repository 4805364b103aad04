//! The live state of a run equals the state that is read back, after every superstep and every action.

mod graph;
mod state;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use superstep::checkpoint::CheckpointId;
use superstep::messages::Message;
use superstep::run::Stepper;
use superstep::thread::{AsNode, Thread};
use superstep::{Durability, Error, Graph, GraphState as _};

use super::stores::TestStore;
use graph::{Played, Script, graph, script, subgraph};
use state::{All, Write, fields, update, write};

/// An action on a thread. A number selects one of the existing checkpoints.
#[derive(Clone, Debug)]
enum Action {
    Run {
        script: Script,
    },
    Resume {
        script: Script,
        patch: Vec<Write>,
    },
    RunAgain {
        at: usize,
        script: Script,
        patch: Vec<Write>,
    },
    /// A run that is dropped after some supersteps.
    Dropped {
        script: Script,
        steps: usize,
    },
    Update {
        at: Option<usize>,
        node: &'static str,
        writes: Vec<Write>,
    },
    Copy,
    Delete,
}

fn actions(fields: &[u8]) -> BoxedStrategy<Vec<Action>> {
    let (writes, script) = (|| prop::collection::vec(write(fields), 0..3), || script(fields));
    let node = prop::sample::select(&["START", "first", "side", "last"][..]);
    let action = prop_oneof![
        4 => script().prop_map(|script| Action::Run { script }),
        4 => (script(), writes()).prop_map(|(script, patch)| Action::Resume { script, patch }),
        3 => (0..100_usize, script(), writes())
            .prop_map(|(at, script, patch)| Action::RunAgain { at, script, patch }),
        2 => (script(), 0..4_usize).prop_map(|(script, steps)| Action::Dropped { script, steps }),
        4 => (prop::option::of(0..100_usize), node, writes())
            .prop_map(|(at, node, writes)| Action::Update { at, node, writes }),
        1 => Just(Action::Copy),
        1 => Just(Action::Delete),
    ];
    prop::collection::vec(action, 1..8).boxed()
}

/// A thread, and everything that was seen of it while its runs were live.
struct Live {
    store: TestStore,
    graph: Graph<All, Played>,
    name: String,
    copies: usize,
    /// The live state at each checkpoint.
    states: HashMap<(String, CheckpointId), All>,
    /// The text of each new message, by its id.
    ids: HashMap<String, String>,
}

impl Live {
    fn new(store: TestStore) -> Self {
        let (states, ids) = (HashMap::new(), HashMap::new());
        Self { store, graph: graph(), name: "t".to_owned(), copies: 0, states, ids }
    }

    /// Returns the thread through a new handle, like another process.
    fn thread(&self) -> Thread<All, Played> {
        self.graph.with_checkpointer(self.store.open()).thread(&*self.name)
    }

    async fn at(&self, at: usize) -> Option<CheckpointId> {
        let history = self.thread().history().await.unwrap();
        let index = at.checked_rem(history.len())?;
        history.get(index).map(|snapshot| snapshot.id)
    }

    /// Takes note of the live state at the head, and compares it with the stored one.
    async fn compare(&mut self, live: &All) -> Result<(), TestCaseError> {
        let head = self.thread().state().await.unwrap().unwrap();
        prop_assert_eq!(head.state.as_ref(), Some(live), "the state of {:?}", head.source);
        self.states.insert((self.name.clone(), head.id), live.clone());
        self.take_ids(&live.messages)
    }

    /// Checks that no id is used twice: in the list, and for different new messages anywhere.
    fn take_ids(&mut self, messages: &[Message]) -> Result<(), TestCaseError> {
        let mut ids: Vec<_> = messages.iter().map(|message| message.id().unwrap()).collect();
        ids.sort_unstable();
        prop_assert!(ids.windows(2).all(|two| two[0] != two[1]), "{:?}", ids);
        for message in messages.iter().filter(|message| message.text().starts_with('n')) {
            let text = message.text().into_owned();
            let known = self.ids.entry(message.id().unwrap().to_owned()).or_insert_with(|| text.clone());
            prop_assert_eq!(&*known, &text);
        }
        Ok(())
    }

    /// Steps through a run.
    async fn follow(
        &mut self,
        started: Result<Option<Stepper<All, Played>>, Error>,
        played: &Played,
        most: usize,
    ) -> Result<(), TestCaseError> {
        let Ok(Some(mut run)) = started else { return Ok(()) };
        self.compare(run.state()).await?;
        for _ in 0..most {
            let stepped = run.step().await;
            match stepped {
                Ok(true) => self.compare(run.state()).await?,
                Ok(false) => break,
                Err(_) => {
                    self.compare(run.state()).await?;
                    break;
                }
            }
        }
        drop(run);
        self.compare_seen(played).await
    }

    /// Compares the states that nodes of the subgraph saw with its checkpoints.
    async fn compare_seen(&self, played: &Played) -> Result<(), TestCaseError> {
        let seen = std::mem::take(&mut *played.seen.lock().unwrap());
        let inside = self.thread().within(&subgraph()).state().await.ok().flatten();
        let Some((snapshot, stored)) = inside.and_then(|mut inside| Some((inside.state.take()?, inside)))
        else {
            return Ok(());
        };
        for next in &stored.next {
            let live = seen.iter().rev().find(|(node, _)| *node == **next);
            if let Some((_, live)) = live {
                prop_assert_eq!(&snapshot, live, "inside, before {}", next);
            }
        }
        Ok(())
    }

    async fn apply(&mut self, action: &Action) -> Result<(), TestCaseError> {
        let thread = self.thread();
        let head = thread.state().await.unwrap();
        let in_part = head.iter().flat_map(|head| &head.tasks).any(|task| task.result.is_some());
        let now = head.and_then(|head| head.state).unwrap_or_default();
        match action {
            Action::Run { script } | Action::Dropped { script, .. } => {
                let most = if let Action::Dropped { steps, .. } = action { *steps } else { usize::MAX };
                let played = Arc::new(script.play());
                let run =
                    thread.run(All::input().messages("hello")).abandon_pending().context(Arc::clone(&played));
                let run = run.durability(Durability::Sync).start().await;
                self.follow(run, &played, most).await?;
            }
            Action::Resume { script, patch } => {
                let played = Arc::new(script.play());
                let run = thread.resume(()).update(update(patch, &now)).context(Arc::clone(&played));
                let run = run.durability(Durability::Sync).start().await;
                self.follow(run, &played, usize::MAX).await?;
            }
            Action::RunAgain { at, script, patch } => {
                let Some(at) = self.at(*at).await else { return Ok(()) };
                let played = Arc::new(script.play());
                let run = thread.at(at).run_again().update(update(patch, &now)).context(Arc::clone(&played));
                let run = run.durability(Durability::Sync).start().await;
                self.follow(run, &played, usize::MAX).await?;
            }
            Action::Update { at, node, writes } => {
                let (update, node) = (update(writes, &now), AsNode::named(*node));
                let played = Script { writes: Vec::new(), failing: HashSet::new() }.play();
                // Finished tasks are applied together with an update of the head.
                let expected = (at.is_none() && !in_part).then(|| now.updated(update.clone()).ok()).flatten();
                let updated = match at {
                    None => thread.update(update, node).context(played).await,
                    Some(at) => {
                        let Some(at) = self.at(*at).await else { return Ok(()) };
                        thread.at(at).update(update, node).context(played).await
                    }
                };
                if let (Ok(_), Some(head)) = (updated, thread.state().await.unwrap()) {
                    let stored = head.state.unwrap();
                    self.take_ids(&stored.messages)?;
                    if let Some(expected) = expected {
                        prop_assert_eq!(comparable(stored), comparable(expected));
                    }
                }
            }
            Action::Copy => {
                self.copies += 1;
                let Ok(copy) = thread.copy(format!("t{}", self.copies)).await else { return Ok(()) };
                for snapshot in copy.history().await.unwrap() {
                    if let Some(state) = self.states.get(&(self.name.clone(), snapshot.id)).cloned() {
                        self.states.insert((copy.name().to_owned(), snapshot.id), state);
                    }
                }
                self.name = copy.name().to_owned();
            }
            Action::Delete => drop(thread.delete().await.unwrap()),
        }
        Ok(())
    }

    /// Compares every checkpoint with the state that was live then.
    async fn compare_history(&self) -> Result<(), TestCaseError> {
        for snapshot in self.thread().history().await.unwrap() {
            if let Some(live) = self.states.get(&(self.name.clone(), snapshot.id)) {
                // A resume can have added an update to the checkpoint since.
                if snapshot.tasks.is_empty() {
                    prop_assert_eq!(snapshot.state.as_ref(), Some(live));
                }
            }
        }
        Ok(())
    }
}

fn check<T: std::fmt::Debug>(
    cases: u32,
    strategy: &impl Strategy<Value = T>,
    test: impl AsyncFn(T) -> Result<(), TestCaseError>,
) {
    // The cases are the same each time. A failing case is shrunk and printed.
    let mut runner = TestRunner::deterministic();
    let mut config = ProptestConfig::with_cases(cases);
    config.failure_persistence = None;
    let rng = runner.new_rng();
    runner = TestRunner::new_with_rng(config, rng);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    if let Err(error) = runner.run(strategy, |value| runtime.block_on(test(value))) {
        panic!("{error}");
    }
}

fn check_store(cases: u32, store: impl Fn() -> TestStore) {
    check(cases, &fields().prop_flat_map(|fields| actions(&fields)), async |actions| {
        let mut live = Live::new(store());
        for action in &actions {
            live.apply(action).await?;
            live.compare_history().await?;
        }
        Ok(())
    });
}

#[test]
fn state_in_memory_is_read_back() {
    check_store(150, TestStore::memory);
}

#[test]
fn encrypted_state_is_read_back() {
    check_store(10, TestStore::encrypted);
}

#[test]
fn state_in_a_file_is_read_back() {
    check_store(10, TestStore::file);
}

/// Returns the state without its ephemeral fields, and without the ids of its new messages and calls, which differ from
/// run to run.
fn comparable(mut state: All) -> All {
    fn without(messages: &mut Vec<Message>) {
        let without = messages.drain(..).map(|message| Message::from_json(without_new_id(&message)).unwrap());
        *messages = without.collect();
    }
    without(&mut state.messages);
    state.aside.iter_mut().for_each(without);
    (state.hints, state.tip) = (Vec::new(), None);
    state
}

fn without_new_id(message: &Message) -> serde_json::Value {
    let mut message = serde_json::to_value(message).unwrap();
    if message["content"].as_str().unwrap().starts_with('n') {
        message["content"] = "new".into();
    }
    if message["id"].as_str().unwrap().starts_with("m-") {
        message["id"] = "new".into();
    }
    if let Some(calls) = message.get_mut("tool_calls").and_then(|calls| calls.as_array_mut()) {
        calls.iter_mut().for_each(|call| call["id"] = "new".into());
    }
    message
}

/// Runs a script in one process: a run that fails goes on in memory.
async fn uninterrupted(script: &Script) -> Result<All, ()> {
    let mut run = graph().run(All::input().messages("hello")).context(script.play()).start().unwrap();
    let mut failed = 0;
    loop {
        match run.step().await {
            Ok(true) => {}
            Ok(false) => return Ok(comparable(run.state().clone())),
            Err(_) if failed < 20 => failed += 1,
            Err(_) => return Err(()),
        }
    }
}

/// Runs a script so that another process continues after every failure.
async fn interrupted(script: &Script, store: &TestStore, durability: Durability) -> Result<All, ()> {
    let (graph, played) = (graph(), Arc::new(script.play()));
    let thread = || graph.with_checkpointer(store.open()).thread("t");
    let run = thread().run(All::input().messages("hello")).durability(durability);
    let mut ended = run.context(Arc::clone(&played)).await;
    for _ in 0..20 {
        if ended.is_ok() {
            break;
        }
        ended = thread().resume(()).durability(durability).context(Arc::clone(&played)).await;
    }
    ended.map(|outcome| comparable(outcome.into_state())).map_err(drop)
}

fn check_interruptions(cases: u32, store: impl Fn() -> TestStore) {
    let scripts = fields().prop_flat_map(|fields| script(&fields));
    check(cases, &(scripts, any::<bool>()), async |(script, exit)| {
        let durability = if exit { Durability::Exit } else { Durability::Sync };
        let expected = uninterrupted(&script).await;
        let found = interrupted(&script, &store(), durability).await;
        prop_assert_eq!(found, expected);
        Ok(())
    });
}

#[test]
fn interrupted_run_in_memory_equals_an_uninterrupted_one() {
    check_interruptions(250, TestStore::memory);
}

#[test]
fn interrupted_run_in_a_file_equals_an_uninterrupted_one() {
    check_interruptions(10, TestStore::file);
}
