//! A process that dies at any instant at which something has happened: what its store had by then is all that is left.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use superstep::checkpoint::{Checkpointer as _, MemoryCheckpointer, WriteBatch};
use superstep::interrupt::Answer;
use superstep::run::Stop;
use superstep::thread::Thread;
use superstep::{Durability, Error, ErrorKind, Graph, GraphState, Outcome};
use tokio::time::Instant;

use crate::processes::clock;
use crate::truth::Truth;
use crate::watched::{Fault, Watched};

/// The clock is told of so often, so that there are instants while everybody waits.
pub(crate) const TICK: Duration = Duration::from_secs(20 * 60);

/// What happens in a run, and how many of its batches the store has by then.
#[derive(Default)]
pub(crate) struct World {
    notes: Mutex<Vec<Note>>,
    batches: Arc<Mutex<Vec<WriteBatch>>>,
    /// Whoever else is told.
    told: Option<Arc<Truth>>,
    /// What is stopped, and when: once so much has happened.
    stop: Option<(usize, How, Stop)>,
}

/// How a run is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Drained,
    Cancelled,
}

#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) text: String,
    pub(crate) at: Instant,
    batches: usize,
}

impl World {
    /// One that is told to somebody else.
    pub(crate) fn told_to(truth: Arc<Truth>) -> Arc<Self> {
        Arc::new(Self { told: Some(truth), ..Self::default() })
    }

    pub(crate) fn note(&self, text: impl Into<String>) {
        let text = text.into();
        if let Some(told) = &self.told {
            return told.tell(text);
        }
        let batches = self.batches.lock().unwrap().len();
        let mut notes = self.notes.lock().unwrap();
        notes.push(Note { text, at: Instant::now(), batches });
        match &self.stop {
            Some((count, How::Drained, stop)) if *count == notes.len() => stop.drain(),
            Some((count, How::Cancelled, stop)) if *count == notes.len() => stop.cancel(),
            _ => {}
        }
    }

    fn notes(&self) -> Vec<Note> {
        self.notes.lock().unwrap().clone()
    }
}

/// Whether one thing never happened once another had.
pub(crate) fn never_after<'n>(first: &str, then: &str, notes: impl IntoIterator<Item = &'n str>) -> bool {
    let mut notes = notes.into_iter();
    !notes.any(|note| note == first) || notes.all(|note| note != then)
}

/// A run that has died at an instant, and the one that has gone on in its place.
pub(crate) struct Crash<S: GraphState> {
    pub(crate) before: Vec<Note>,
    pub(crate) after: Vec<Note>,
    pub(crate) begun: Instant,
    pub(crate) state: S,
    pub(crate) thread: Thread<S, World>,
    /// It has died of its store, and not at an instant.
    pub(crate) store_failed: bool,
    pub(crate) about: String,
}

impl<S: GraphState> Crash<S> {
    async fn of(before: Vec<Note>, run: Once<'_, S>, about: &str) -> Self {
        let (world, begun) = (Arc::new(World::default()), Instant::now());
        let thread = run.thread();
        let state = run.run(&world).await.unwrap().into_state();
        let told = |notes: &[Note]| notes.iter().map(|note| &*note.text).collect::<Vec<_>>().join(", ");
        let after = world.notes();
        let about = format!("{about}: {}; then {}", told(&before), told(&after));
        Self { before, after, begun, state, thread, store_failed: false, about }
    }

    pub(crate) fn had(&self, text: &str) -> bool {
        self.before.iter().any(|note| note.text == text)
    }

    /// Everything that happened.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> + Clone {
        self.before.iter().chain(&self.after).map(|note| &*note.text)
    }

    /// How long after the second run has begun this was noted there.
    pub(crate) fn then(&self, text: &str) -> Option<Duration> {
        self.after.iter().find(|note| note.text == text).map(|note| note.at - self.begun)
    }

    /// Whether time has gone by since this was noted: the first tick may come at the same moment.
    pub(crate) fn had_long(&self, text: &str) -> bool {
        let at = self.before.iter().position(|note| note.text == text);
        at.is_some_and(|at| self.before[at..].iter().filter(|note| note.text == "tick").count() > 1)
    }
}

/// A run that is begun once, however often it is started.
struct Once<'g, S: GraphState> {
    graph: &'g Graph<S, World>,
    store: Watched<MemoryCheckpointer>,
    input: &'g dyn Fn() -> S::Input,
    durability: Durability,
    longest_sleep: Duration,
}

impl<'g, S: GraphState> Once<'g, S> {
    fn new(
        graph: &'g Graph<S, World>,
        store: Watched<MemoryCheckpointer>,
        input: &'g dyn Fn() -> S::Input,
        durability: Durability,
    ) -> Self {
        // Sleeps are in the process alone with one, and in the store alone with another.
        let longest_sleep =
            if durability == Durability::Sync { Duration::from_secs(60) } else { Duration::MAX };
        Self { graph, store, input, durability, longest_sleep }
    }

    fn thread(&self) -> Thread<S, World> {
        self.graph.with_checkpointer(self.store.clone()).thread("t")
    }

    async fn run(self, world: &Arc<World>) -> Result<Outcome<S>, Error> {
        let clock = async {
            for _ in 0..100 {
                tokio::time::sleep(TICK).await;
                world.note("tick");
            }
        };
        tokio::select! {
            outcome = self.to_the_end(world) => outcome,
            () = clock => panic!("it waits for ever: {:?}", world.notes()),
        }
    }

    /// Answers what is asked, wakes who sleeps, and passes breakpoints; until it is at its end, or was told to stop.
    async fn to_the_end(&self, world: &Arc<World>) -> Result<Outcome<S>, Error> {
        let (thread, input) = (self.thread(), (self.input)());
        let stop = world.stop.as_ref().map(|(_, _, stop)| stop.clone()).unwrap_or_default();
        let run = thread.run(input).run_id("once").durability(self.durability).recursion_limit(1_000);
        let run = run.suspend_sleeps_longer_than(self.longest_sleep).stop_by(&stop);
        let mut outcome = run.context(Arc::clone(world)).await?;
        loop {
            let Some(pause) = outcome.pause().filter(|pause| !pause.is_stopped()) else { return Ok(outcome) };
            let asked = pause.interrupts();
            asked.iter().for_each(|open| world.note(format!("asked {}", open.question)));
            let answers: Vec<Answer> = asked.iter().map(|open| open.answer_json(json!(true))).collect();
            if let Some(until) = pause.wakes_at().filter(|_| answers.is_empty()) {
                let left = until.duration_since(clock()).unwrap_or_default();
                world.note("left alone");
                tokio::time::sleep(left).await;
            }
            let run = thread.resume(answers).durability(self.durability).recursion_limit(1_000);
            let run = run.suspend_sleeps_longer_than(self.longest_sleep).stop_by(&stop);
            outcome = run.context(Arc::clone(world)).await?;
        }
    }
}

fn watched(store: MemoryCheckpointer) -> Watched<MemoryCheckpointer> {
    Watched::new(store, Truth::told_to(|_| {}))
}

async fn reopened(batches: &[WriteBatch]) -> Watched<MemoryCheckpointer> {
    let store = MemoryCheckpointer::new();
    for batch in batches {
        store.commit(batch.clone()).await.unwrap();
    }
    watched(store)
}

/// Runs a graph, lets it die at each instant and after each of its batches, and go on with what the store had then.
pub(crate) async fn at_each_instant<S: GraphState>(
    graph: &Graph<S, World>,
    input: impl Fn() -> S::Input,
    durability: Durability,
    (slow, slow_around): (u32, u32),
) -> Vec<Crash<S>> {
    let world = Arc::new(World::default());
    let mut store = watched(MemoryCheckpointer::new());
    (store.slow, store.slow_around) = (slow, slow_around);
    store.batches = Some(Arc::clone(&world.batches));
    Once::new(graph, store, &input, durability).run(&world).await.unwrap();
    let (notes, batches) = (world.notes(), world.batches.lock().unwrap().clone());
    let instants = notes.iter().enumerate().map(|(last, note)| (last + 1, note.batches));
    // What had happened at the least when a batch was written.
    let prefixes =
        (0..=batches.len()).map(|count| (notes.partition_point(|note| note.batches < count), count));
    let mut crashes = Vec::new();
    for (happened, count) in instants.chain(prefixes) {
        let about = format!(
            "{durability:?}, a store that takes {slow} and {slow_around} more around calls, after {count} of {} batches",
            batches.len()
        );
        let store = reopened(&batches[..count]).await;
        let run = Once::new(graph, store, &input, durability);
        crashes.push(Crash::of(notes[..happened].to_vec(), run, &about).await);
    }
    crashes
}

/// Runs a graph on a store whose first commit fails, or its second, and so on; and again once the store is well.
pub(crate) async fn whichever_commit_fails<S: GraphState>(
    graph: &Graph<S, World>,
    input: impl Fn() -> S::Input,
    durability: Durability,
) -> Vec<Crash<S>> {
    let mut crashes = Vec::new();
    for fault in [Fault::Before, Fault::After] {
        for nth in 0.. {
            let (world, kept) = (Arc::new(World::default()), MemoryCheckpointer::new());
            let mut store = watched(kept.clone());
            store.fails = Some((nth, fault));
            let about = format!("{durability:?}, commit {nth} fails {fault:?}");
            match Once::new(graph, store, &input, durability).run(&world).await {
                Ok(_) => break,
                Err(error) => {
                    let cause = format!("{error:?}");
                    let store = matches!(error.kind(), ErrorKind::Checkpoint(_) | ErrorKind::Node { .. });
                    assert!(store && cause.contains("the cable was pulled"), "{about}: {cause}");
                }
            }
            let run = Once::new(graph, watched(kept), &input, durability);
            crashes.push(Crash { store_failed: true, ..Crash::of(world.notes(), run, &about).await });
        }
    }
    crashes
}

/// Runs a graph, tells it to stop at each instant, and goes on as another process would.
pub(crate) async fn stopped_at_each_instant<S: GraphState>(
    graph: &Graph<S, World>,
    input: impl Fn() -> S::Input,
    durability: Durability,
    slow: u32,
) -> Vec<Crash<S>> {
    let mut crashes = Vec::new();
    for how in [How::Drained, How::Cancelled] {
        for count in 1.. {
            let world = World { stop: Some((count, how, Stop::new())), ..World::default() };
            let (world, kept) = (Arc::new(world), MemoryCheckpointer::new());
            let mut store = watched(kept.clone());
            store.slow = slow;
            let about = format!("{durability:?}, {how:?} at instant {count}, a store that takes {slow}");
            let ended = Once::new(graph, store, &input, durability).run(&world).await;
            if world.notes().len() < count {
                break;
            }
            let run = Once::new(graph, watched(kept), &input, durability);
            let told = run.thread().interrupts().await.unwrap().is_stopped();
            match &ended {
                // It came to its end all the same.
                Ok(Outcome::Done(_)) => assert!(!told, "{about}"),
                Ok(Outcome::Interrupted(pause)) => assert!(told && pause.is_stopped(), "{about}"),
                // One that was told before a resumption began is told so and no more.
                Err(error) => {
                    let ErrorKind::Cancelled { step, .. } = error.kind() else {
                        panic!("{about}: {error:?}")
                    };
                    assert!(how == How::Cancelled && (told || step.is_none()), "{about}");
                }
            }
            crashes.push(Crash::of(world.notes(), run, &about).await);
        }
    }
    crashes
}
