//! Crashes at every instant of a run: only the batches that the store has by then remain.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use superstep::checkpoint::{Checkpointer as _, MemoryCheckpointer, WriteBatch};
use superstep::interrupt::Answer;
use superstep::run::Stop;
use superstep::thread::Thread;
use superstep::{Durability, Error, ErrorKind, Graph, GraphState, Outcome};
use tokio::time::Instant;

use crate::instrumented_store::{Fault, InstrumentedStore};
use crate::journal::Journal;
use crate::processes::clock;

/// The interval of clock notes, so that instants exist while every task waits.
pub(crate) const TICK: Duration = Duration::from_secs(20 * 60);

/// Records the events of a run, each with the number of batches that the store had.
#[derive(Default)]
pub(crate) struct Timeline {
    notes: Mutex<Vec<Note>>,
    batches: Arc<Mutex<Vec<WriteBatch>>>,
    /// The journal that receives the notes instead, if any.
    journal: Option<Arc<Journal>>,
    /// The number of notes after which the run is stopped.
    stop: Option<(usize, StopKind, Stop)>,
}

/// The kind of a stop request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopKind {
    Drained,
    Cancelled,
}

#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) text: String,
    pub(crate) at: Instant,
    batches: usize,
}

impl Timeline {
    /// Creates a timeline that forwards its notes to a journal.
    pub(crate) fn forwarding_to(journal: Arc<Journal>) -> Arc<Self> {
        Arc::new(Self { journal: Some(journal), ..Self::default() })
    }

    pub(crate) fn note(&self, text: impl Into<String>) {
        let text = text.into();
        if let Some(journal) = &self.journal {
            return journal.record(text);
        }
        let batches = self.batches.lock().unwrap().len();
        let mut notes = self.notes.lock().unwrap();
        notes.push(Note { text, at: Instant::now(), batches });
        match &self.stop {
            Some((count, StopKind::Drained, stop)) if *count == notes.len() => stop.drain(),
            Some((count, StopKind::Cancelled, stop)) if *count == notes.len() => stop.cancel(),
            _ => {}
        }
    }

    fn notes(&self) -> Vec<Note> {
        self.notes.lock().unwrap().clone()
    }
}

/// Returns `true` if `then` never occurs after `first`.
pub(crate) fn never_after<'n>(first: &str, then: &str, notes: impl IntoIterator<Item = &'n str>) -> bool {
    let mut notes = notes.into_iter();
    !notes.any(|note| note == first) || notes.all(|note| note != then)
}

/// A run that crashed at an instant, and the run that continued it.
pub(crate) struct Crash<S: GraphState> {
    pub(crate) before: Vec<Note>,
    pub(crate) after: Vec<Note>,
    pub(crate) begun: Instant,
    pub(crate) state: S,
    pub(crate) thread: Thread<S, Timeline>,
    /// `true` if a failing store ended the first run, not an instant.
    pub(crate) store_failed: bool,
    pub(crate) about: String,
}

impl<S: GraphState> Crash<S> {
    async fn recover(before: Vec<Note>, run: IdempotentRun<'_, S>, about: &str) -> Self {
        let (timeline, begun) = (Arc::new(Timeline::default()), Instant::now());
        let thread = run.thread();
        let state = run.run(&timeline).await.unwrap().into_state();
        let list = |notes: &[Note]| notes.iter().map(|note| &*note.text).collect::<Vec<_>>().join(", ");
        let after = timeline.notes();
        let about = format!("{about}: {}; then {}", list(&before), list(&after));
        Self { before, after, begun, state, thread, store_failed: false, about }
    }

    pub(crate) fn noted_before_crash(&self, text: &str) -> bool {
        self.before.iter().any(|note| note.text == text)
    }

    /// All notes of both runs.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> + Clone {
        self.before.iter().chain(&self.after).map(|note| &*note.text)
    }

    /// Returns the time from the start of the second run to this note.
    pub(crate) fn noted_after_restart(&self, text: &str) -> Option<Duration> {
        self.after.iter().find(|note| note.text == text).map(|note| note.at - self.begun)
    }

    /// Returns `true` if time has passed since this note. The first tick may come at the same moment.
    pub(crate) fn passed_long_before_crash(&self, text: &str) -> bool {
        let at = self.before.iter().position(|note| note.text == text);
        at.is_some_and(|at| self.before[at..].iter().filter(|note| note.text == "tick").count() > 1)
    }
}

/// A run with a fixed id: it starts once, however often it is called.
struct IdempotentRun<'g, S: GraphState> {
    graph: &'g Graph<S, Timeline>,
    store: InstrumentedStore<MemoryCheckpointer>,
    input: &'g dyn Fn() -> S::Input,
    durability: Durability,
    longest_sleep: Duration,
}

impl<'g, S: GraphState> IdempotentRun<'g, S> {
    fn new(
        graph: &'g Graph<S, Timeline>,
        store: InstrumentedStore<MemoryCheckpointer>,
        input: &'g dyn Fn() -> S::Input,
        durability: Durability,
    ) -> Self {
        // With `Sync`, long sleeps suspend the run. Otherwise they stay in the process.
        let longest_sleep =
            if durability == Durability::Sync { Duration::from_secs(60) } else { Duration::MAX };
        Self { graph, store, input, durability, longest_sleep }
    }

    fn thread(&self) -> Thread<S, Timeline> {
        self.graph.with_checkpointer(self.store.clone()).thread("t")
    }

    async fn run(self, timeline: &Arc<Timeline>) -> Result<Outcome<S>, Error> {
        let clock = async {
            for _ in 0..100 {
                tokio::time::sleep(TICK).await;
                timeline.note("tick");
            }
        };
        tokio::select! {
            outcome = self.run_to_the_end(timeline) => outcome,
            () = clock => panic!("it waits for ever: {:?}", timeline.notes()),
        }
    }

    /// Answers interrupts, waits for sleeps and passes breakpoints until the run ends or was stopped.
    async fn run_to_the_end(&self, timeline: &Arc<Timeline>) -> Result<Outcome<S>, Error> {
        let (thread, input) = (self.thread(), (self.input)());
        let stop = timeline.stop.as_ref().map(|(_, _, stop)| stop.clone()).unwrap_or_default();
        let run = thread.run(input).run_id("once").durability(self.durability).recursion_limit(1_000);
        let run = run.suspend_sleeps_longer_than(self.longest_sleep).stop_by(&stop);
        let mut outcome = run.context(Arc::clone(timeline)).await?;
        loop {
            let Some(pause) = outcome.pause().filter(|pause| !pause.is_stopped()) else { return Ok(outcome) };
            let asked = pause.interrupts();
            asked.iter().for_each(|open| timeline.note(format!("asked {}", open.question)));
            let answers: Vec<Answer> = asked.iter().map(|open| open.answer_json(json!(true))).collect();
            if let Some(until) = pause.wakes_at().filter(|_| answers.is_empty()) {
                let left = until.duration_since(clock()).unwrap_or_default();
                timeline.note("left alone");
                tokio::time::sleep(left).await;
            }
            let run = thread.resume(answers).durability(self.durability).recursion_limit(1_000);
            let run = run.suspend_sleeps_longer_than(self.longest_sleep).stop_by(&stop);
            outcome = run.context(Arc::clone(timeline)).await?;
        }
    }
}

fn instrument(store: MemoryCheckpointer) -> InstrumentedStore<MemoryCheckpointer> {
    InstrumentedStore::new(store, Journal::with_listener(|_| {}))
}

async fn reopened(batches: &[WriteBatch]) -> InstrumentedStore<MemoryCheckpointer> {
    let store = MemoryCheckpointer::new();
    for batch in batches {
        store.commit(batch.clone()).await.unwrap();
    }
    instrument(store)
}

/// Runs a graph, crashes it at each instant and after each batch, and continues from the batches stored by then.
pub(crate) async fn crash_at_each_instant<S: GraphState>(
    graph: &Graph<S, Timeline>,
    input: impl Fn() -> S::Input,
    durability: Durability,
    (slow, slow_outside_calls): (u32, u32),
) -> Vec<Crash<S>> {
    let timeline = Arc::new(Timeline::default());
    let mut store = instrument(MemoryCheckpointer::new());
    (store.slow, store.slow_outside_calls) = (slow, slow_outside_calls);
    store.batches = Some(Arc::clone(&timeline.batches));
    IdempotentRun::new(graph, store, &input, durability).run(&timeline).await.unwrap();
    let (notes, batches) = (timeline.notes(), timeline.batches.lock().unwrap().clone());
    let instants = notes.iter().enumerate().map(|(last, note)| (last + 1, note.batches));
    // The notes that must have happened before the batch was written.
    let prefixes =
        (0..=batches.len()).map(|count| (notes.partition_point(|note| note.batches < count), count));
    let mut crashes = Vec::new();
    for (happened, count) in instants.chain(prefixes) {
        let about = format!(
            "{durability:?}, a store that takes {slow} and {slow_outside_calls} more around calls, after {count} of {} batches",
            batches.len()
        );
        let store = reopened(&batches[..count]).await;
        let run = IdempotentRun::new(graph, store, &input, durability);
        crashes.push(Crash::recover(notes[..happened].to_vec(), run, &about).await);
    }
    crashes
}

/// Runs a graph on a store on which one commit fails, for each commit. Then continues on the repaired store.
pub(crate) async fn fail_each_commit<S: GraphState>(
    graph: &Graph<S, Timeline>,
    input: impl Fn() -> S::Input,
    durability: Durability,
) -> Vec<Crash<S>> {
    let mut crashes = Vec::new();
    for fault in [Fault::Before, Fault::After] {
        for nth in 0.. {
            let (timeline, inner) = (Arc::new(Timeline::default()), MemoryCheckpointer::new());
            let mut store = instrument(inner.clone());
            store.fails = Some((nth, fault));
            let about = format!("{durability:?}, commit {nth} fails {fault:?}");
            match IdempotentRun::new(graph, store, &input, durability).run(&timeline).await {
                Ok(_) => break,
                Err(error) => {
                    let cause = format!("{error:?}");
                    let store = matches!(error.kind(), ErrorKind::Checkpoint(_) | ErrorKind::Node { .. });
                    assert!(store && cause.contains("the cable was pulled"), "{about}: {cause}");
                }
            }
            let run = IdempotentRun::new(graph, instrument(inner), &input, durability);
            crashes.push(Crash { store_failed: true, ..Crash::recover(timeline.notes(), run, &about).await });
        }
    }
    crashes
}

/// Runs a graph, stops it at each instant, and continues as another process would.
pub(crate) async fn stop_at_each_instant<S: GraphState>(
    graph: &Graph<S, Timeline>,
    input: impl Fn() -> S::Input,
    durability: Durability,
    slow: u32,
) -> Vec<Crash<S>> {
    let mut crashes = Vec::new();
    for how in [StopKind::Drained, StopKind::Cancelled] {
        for count in 1.. {
            let timeline = Timeline { stop: Some((count, how, Stop::new())), ..Timeline::default() };
            let (timeline, inner) = (Arc::new(timeline), MemoryCheckpointer::new());
            let mut store = instrument(inner.clone());
            store.slow = slow;
            let about = format!("{durability:?}, {how:?} at instant {count}, a store that takes {slow}");
            let ended = IdempotentRun::new(graph, store, &input, durability).run(&timeline).await;
            if timeline.notes().len() < count {
                break;
            }
            let run = IdempotentRun::new(graph, instrument(inner), &input, durability);
            let stopped = run.thread().interrupts().await.unwrap().is_stopped();
            match &ended {
                // The run ended nevertheless.
                Ok(Outcome::Done(_)) => assert!(!stopped, "{about}"),
                Ok(Outcome::Interrupted(pause)) => assert!(stopped && pause.is_stopped(), "{about}"),
                // A stop before a resume starts is only reported to the caller.
                Err(error) => {
                    let ErrorKind::Cancelled { step, .. } = error.kind() else {
                        panic!("{about}: {error:?}")
                    };
                    assert!(how == StopKind::Cancelled && (stopped || step.is_none()), "{about}");
                }
            }
            crashes.push(Crash::recover(timeline.notes(), run, &about).await);
        }
    }
    crashes
}
