use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::engine::halt::Halt;
use crate::error::NodeFailure;
use crate::interrupt::OpenInterrupt;
use crate::node::NodeError;

/// What one attempt of a task has asked and done so far.
#[derive(Default)]
pub(crate) struct Desk {
    /// The task's id.
    pub(super) task: String,
    /// How many durable steps are being polled, one within the other.
    steps_polled: AtomicUsize,
    /// What the attempt, which is one of an error handler, is asked about.
    failure: Option<Arc<NodeFailure>>,
    /// How many signs of life it has given.
    beats: Arc<AtomicU64>,
    /// How many of them have been begun and not finished.
    steps_begun: AtomicUsize,
    papers: Mutex<Papers>,
}

#[derive(Default)]
struct Papers {
    /// How many questions of each name were asked without a key.
    counts: HashMap<&'static str, usize>,
    /// The ids of questions that were given a key.
    keyed: HashSet<String>,
    /// The keys of durable steps.
    steps: HashSet<String>,
    /// How many sleeps there were.
    sleeps: usize,
    /// Until when the task sleeps, by the place of each sleep.
    asleep: BTreeMap<usize, SystemTime>,
    /// The place that the next question, or sleep, has.
    place: usize,
    /// Questions that wait for an answer, by their place: the order in which the node made them.
    open: BTreeMap<usize, OpenInterrupt>,
    /// Questions whose answer could not be read.
    reopened: Vec<OpenInterrupt>,
    /// What the attempt fails with, whatever its node makes of it.
    fault: Option<NodeError>,
    /// Where a run within the task has stopped.
    halt: Option<Halt>,
}

impl Desk {
    pub(crate) fn new(task: String) -> Self {
        Self { task, ..Self::default() }
    }

    /// For an error handler: its questions and steps are not the node's.
    pub(crate) fn handling(task: &str, failure: Arc<NodeFailure>) -> Self {
        Self { failure: Some(failure), ..Self::new(format!("{task}/on_error")) }
    }

    pub(crate) fn failure(&self) -> Option<&NodeFailure> {
        self.failure.as_deref()
    }

    fn papers(&self) -> MutexGuard<'_, Papers> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where signs of life are counted, for runs within the task.
    pub(crate) fn pulse(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.beats)
    }

    /// A sign of life.
    pub(crate) fn beat(&self) {
        self.beats.fetch_add(1, Ordering::Relaxed);
    }

    /// How many there have been.
    pub(crate) fn beats(&self) -> u64 {
        self.beats.load(Ordering::Relaxed)
    }

    /// The place of a question that is being made.
    pub(super) fn place(&self) -> usize {
        let mut papers = self.papers();
        papers.place += 1;
        papers.place
    }

    /// How many questions of this name there were before.
    pub(super) fn count(&self, name: &'static str) -> usize {
        let mut papers = self.papers();
        let count = papers.counts.entry(name).or_default();
        *count += 1;
        *count - 1
    }

    /// Gives back the number of a question that is identified by a key after all, so that keys do not shift the numbers of the
    /// questions without one. A number that is not the last one taken stays taken.
    pub(super) fn uncount(&self, name: &'static str, nth: usize) {
        if let Some(count) = self.papers().counts.get_mut(name).filter(|count| **count == nth + 1) {
            *count = nth;
        }
    }

    /// Notes the id of a question with a key; `false` when there was one of it.
    pub(super) fn key(&self, id: &str) -> bool {
        self.papers().keyed.insert(id.to_owned())
    }

    /// Notes the key of a durable step; `false` when there was one of it.
    pub(super) fn step(&self, key: &str) -> bool {
        self.papers().steps.insert(key.to_owned())
    }

    /// How many sleeps there were before.
    pub(super) fn nth_sleep(&self) -> usize {
        let mut papers = self.papers();
        papers.sleeps += 1;
        papers.sleeps - 1
    }

    /// While what is given back lives, the task sleeps until then.
    pub(super) fn asleep(&self, until: SystemTime) -> Asleep<'_> {
        let place = self.place();
        self.papers().asleep.insert(place, until);
        Asleep { desk: self, place }
    }

    /// When the first of its sleeps is over.
    pub(crate) fn sleeps_until(&self) -> Option<SystemTime> {
        self.papers().asleep.values().min().copied()
    }

    /// While what is given back lives, a durable step is under way.
    pub(super) fn begins_step(&self) -> PollsStep<'_> {
        self.steps_begun.fetch_add(1, Ordering::Relaxed);
        PollsStep(&self.steps_begun)
    }

    pub(super) fn has_steps(&self) -> bool {
        self.steps_begun.load(Ordering::Relaxed) > 0
    }

    pub(super) fn open(&self, place: usize, question: OpenInterrupt) {
        self.papers().open.insert(place, question);
    }

    pub(super) fn reopen(&self, question: OpenInterrupt) {
        self.papers().reopened.push(question);
    }

    /// The task's id.
    pub(crate) fn task(&self) -> &str {
        &self.task
    }

    /// Opens a question that a run within the task asks.
    pub(crate) fn wait_for(&self, question: OpenInterrupt) {
        self.open(self.place(), question);
    }

    /// Opens a question of a run within the task that has failed.
    pub(crate) fn ask_again(&self, question: OpenInterrupt) {
        self.reopen(question);
    }

    /// A run within the task has stopped.
    pub(crate) fn halt(&self, halt: Halt) {
        self.papers().halt = Some(halt);
    }

    /// Where a run within the task has stopped.
    pub(crate) fn take_halt(&self) -> Option<Halt> {
        self.papers().halt.take()
    }

    /// Takes a question back that nobody waits for any more.
    pub(super) fn withdraw(&self, place: usize) {
        self.papers().open.remove(&place);
    }

    /// Makes the attempt fail; of several reasons the first counts.
    pub(super) fn fail(&self, fault: NodeError) {
        self.papers().fault.get_or_insert(fault);
    }

    /// While what is given back lives, a durable step is polled.
    pub(super) fn polls_step(&self) -> PollsStep<'_> {
        self.steps_polled.fetch_add(1, Ordering::Relaxed);
        PollsStep(&self.steps_polled)
    }

    pub(super) fn is_in_step(&self) -> bool {
        self.steps_polled.load(Ordering::Relaxed) > 0
    }

    /// What the attempt fails with, whatever its node has made of it.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_fault(&self) -> Option<NodeError> {
        self.papers().fault.take()
    }

    pub(crate) fn take_open(&self) -> Vec<OpenInterrupt> {
        std::mem::take(&mut self.papers().open).into_values().collect()
    }

    pub(crate) fn take_reopened(&self) -> Vec<OpenInterrupt> {
        std::mem::take(&mut self.papers().reopened)
    }
}

pub(super) struct PollsStep<'d>(&'d AtomicUsize);

impl Drop for PollsStep<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(super) struct Asleep<'d> {
    desk: &'d Desk,
    place: usize,
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.desk.papers().asleep.remove(&self.place);
    }
}
