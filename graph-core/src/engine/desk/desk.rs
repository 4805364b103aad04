use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::SystemTime;

use crate::engine::halt::Halt;
use crate::error::NodeFailure;
use crate::interrupt::OpenInterrupt;
use crate::node::NodeError;

use super::order::Order;

/// Task-local scratch state of one attempt: its open interrupts, durable steps, sleeps and heartbeats.
#[derive(Default)]
pub(crate) struct Desk {
    /// The task's id.
    pub(super) task: String,
    /// The number of durable steps that are being polled right now, one inside the other.
    steps_polled: AtomicUsize,
    /// The failure to handle, if this is an attempt of an error handler.
    failure: Option<Arc<NodeFailure>>,
    /// The number of heartbeats.
    beats: Arc<AtomicU64>,
    /// The number of durable steps and firing timers that have begun and not finished.
    under_way: AtomicUsize,
    papers: Mutex<Papers>,
}

#[derive(Default)]
struct Papers {
    /// By name, the numbers of the questions without a key.
    numbers: HashMap<&'static str, Numbers>,
    /// The ids of questions with a key.
    keyed: HashSet<String>,
    /// The keys of durable steps.
    steps: HashSet<String>,
    /// The order of answers and timers; `None` until it is needed.
    order: Option<Order>,
    /// By question, the number of its deadlines.
    deadlines: HashMap<String, usize>,
    /// Futures that wait until it is their turn.
    blocked: Vec<Waker>,
    /// The counted waker of the attempt, and the waker behind it.
    probe: Option<(Waker, Waker)>,
    /// `true` if a future that waited for its turn was woken since the attempt was polled.
    stirred: bool,
    /// The number of sleeps.
    sleeps: usize,
    /// The ends of the sleeps in progress, with the sleeps' positions.
    asleep: BTreeSet<(SystemTime, usize)>,
    /// The position of the last question or sleep.
    place: usize,
    /// Open interrupts by position, which is the order in which the node created them.
    open: BTreeMap<usize, OpenInterrupt>,
    /// Interrupts whose answer could not be read.
    reopened: Vec<OpenInterrupt>,
    /// The error with which the attempt fails whatever its node returns.
    fault: Option<NodeError>,
    /// The stop of a subgraph run inside the task.
    halt: Option<Halt>,
}

/// The numbers that questions of one name have.
#[derive(Default)]
struct Numbers {
    /// The lowest number that was never taken.
    next: usize,
    /// Lower numbers that are free again.
    released: BTreeSet<usize>,
}

impl Desk {
    pub(crate) fn new(task: String) -> Self {
        Self { task, ..Self::default() }
    }

    /// Creates the state for an error handler. Its task id differs, so that its questions and steps are not the
    /// node's.
    pub(crate) fn handling(task: &str, failure: Arc<NodeFailure>) -> Self {
        Self { failure: Some(failure), ..Self::new(format!("{task}/on_error")) }
    }

    pub(crate) fn failure(&self) -> Option<&NodeFailure> {
        self.failure.as_deref()
    }

    fn papers(&self) -> MutexGuard<'_, Papers> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the heartbeat counter, for subgraph runs inside the task.
    pub(crate) fn pulse(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.beats)
    }

    /// Counts a heartbeat.
    pub(crate) fn beat(&self) {
        self.beats.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of heartbeats.
    pub(crate) fn beats(&self) -> u64 {
        self.beats.load(Ordering::Relaxed)
    }

    /// Returns the position of a new question or sleep.
    pub(super) fn place(&self) -> usize {
        let mut papers = self.papers();
        papers.place += 1;
        papers.place
    }

    /// Takes the lowest free number for a question of this name.
    pub(super) fn take_number(&self, name: &'static str) -> usize {
        let mut papers = self.papers();
        let numbers = papers.numbers.entry(name).or_default();
        numbers.released.pop_first().unwrap_or_else(|| {
            numbers.next += 1;
            numbers.next - 1
        })
    }

    /// Releases the number of a question that got a key, so that keys do not shift the numbers of later questions.
    pub(super) fn release_number(&self, name: &'static str, number: usize) {
        if let Some(numbers) = self.papers().numbers.get_mut(name) {
            numbers.released.insert(number);
        }
    }

    /// Records the id of a question with a key; `false` if the attempt has used it before.
    pub(super) fn key(&self, id: &str) -> bool {
        self.papers().keyed.insert(id.to_owned())
    }

    /// Releases the id of a question that got another key.
    pub(super) fn release_key(&self, id: &str) {
        self.papers().keyed.remove(id);
    }

    /// Records the key of a durable step; `false` if the attempt has used it before.
    pub(super) fn step(&self, key: &str) -> bool {
        self.papers().steps.insert(key.to_owned())
    }

    /// Counts a sleep, and returns the number of earlier ones.
    pub(super) fn nth_sleep(&self) -> usize {
        let mut papers = self.papers();
        papers.sleeps += 1;
        papers.sleeps - 1
    }

    /// Marks the task as asleep until a time, as long as the returned guard lives.
    pub(super) fn asleep(&self, until: SystemTime) -> Asleep<'_> {
        let place = self.place();
        self.papers().asleep.insert((until, place));
        Asleep { desk: self, place, until }
    }

    /// Returns the earliest end of the sleeps in progress.
    pub(crate) fn sleeps_until(&self) -> Option<SystemTime> {
        self.papers().asleep.first().map(|(until, _)| *until)
    }

    /// Marks a durable step or a firing timer as in progress, as long as the returned guard lives.
    pub(in crate::engine) fn begins_step(&self) -> PollsStep<'_> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        PollsStep(&self.under_way)
    }

    /// Returns `true` if the attempt cannot be suspended now.
    pub(in crate::engine) fn is_busy(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) > 0
    }

    /// Returns the number of earlier deadlines of a question, and counts one more.
    pub(super) fn nth_deadline(&self, question: &str) -> usize {
        let mut papers = self.papers();
        let count = papers.deadlines.entry(question.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// Wakes the futures that wait for their turn, after an answer or a timer took effect.
    pub(super) fn unblock(&self) {
        let blocked = {
            let mut papers = self.papers();
            papers.stirred |= !papers.blocked.is_empty();
            std::mem::take(&mut papers.blocked)
        };
        blocked.into_iter().for_each(Waker::wake);
    }

    /// Accesses the order of answers and timers; `None` until it is needed.
    pub(super) fn order<T>(&self, look: impl FnOnce(&mut Option<Order>) -> T) -> T {
        look(&mut self.papers().order)
    }

    /// Keeps the waker of a future that waits for its turn.
    pub(super) fn block(&self, waker: &Waker) {
        let mut papers = self.papers();
        if !papers.blocked.iter().any(|known| known.will_wake(waker)) {
            papers.blocked.push(waker.clone());
        }
    }

    /// Returns `true` if futures wait for their turn.
    pub(super) fn has_blocked(&self) -> bool {
        !self.papers().blocked.is_empty()
    }

    /// Sets the counted waker with which the attempt is polled next, and the waker behind it.
    pub(in crate::engine) fn set_probe(&self, counted: &Waker, waker: &Waker) {
        self.papers().probe = Some((counted.clone(), waker.clone()));
    }

    /// Returns a waker for futures that cannot wake the node alone: it is not counted.
    pub(super) fn uncounted(&self, waker: &Waker) -> Waker {
        match &self.papers().probe {
            Some((counted, behind)) if counted.will_wake(waker) => behind.clone(),
            _ => waker.clone(),
        }
    }

    /// Returns `true` if a future that waits for its turn was woken since the last call.
    pub(in crate::engine) fn take_stirred(&self) -> bool {
        std::mem::take(&mut self.papers().stirred)
    }

    pub(super) fn open(&self, place: usize, question: OpenInterrupt) {
        self.papers().open.insert(place, question);
    }

    /// Sets the time at which the question at this position expires, if it is open.
    pub(super) fn expires(&self, place: usize, id: &str, at: Option<SystemTime>) {
        let papers = &mut *self.papers();
        // Few are: their answers could not be read.
        let reopened = papers.reopened.iter_mut().filter(|open| open.id == id);
        papers.open.get_mut(&place).into_iter().chain(reopened).for_each(|open| open.expires_at = at);
    }

    pub(super) fn reopen(&self, question: OpenInterrupt) {
        self.papers().reopened.push(question);
    }

    /// Returns the task's id.
    pub(crate) fn task(&self) -> &str {
        &self.task
    }

    /// Opens an interrupt of a subgraph run inside the task.
    pub(crate) fn wait_for(&self, question: OpenInterrupt) {
        self.open(self.place(), question);
    }

    /// Reopens an interrupt of a failed subgraph run inside the task.
    pub(crate) fn ask_again(&self, question: OpenInterrupt) {
        self.reopen(question);
    }

    /// Records the stop of a subgraph run inside the task.
    pub(crate) fn halt(&self, halt: Halt) {
        self.papers().halt = Some(halt);
    }

    /// Takes the stop of a subgraph run inside the task.
    pub(crate) fn take_halt(&self) -> Option<Halt> {
        self.papers().halt.take()
    }

    /// Withdraws an interrupt for which the node no longer waits.
    pub(super) fn withdraw(&self, place: usize) {
        self.papers().open.remove(&place);
    }

    /// Returns `true` if the attempt fails whatever happens.
    pub(super) fn has_fault(&self) -> bool {
        self.papers().fault.is_some()
    }

    /// Makes the attempt fail. The first error wins.
    pub(super) fn fail(&self, fault: NodeError) {
        self.papers().fault.get_or_insert(fault);
    }

    /// Marks a durable step as being polled, as long as the returned guard lives.
    pub(super) fn polls_step(&self) -> PollsStep<'_> {
        self.steps_polled.fetch_add(1, Ordering::Relaxed);
        PollsStep(&self.steps_polled)
    }

    pub(super) fn is_in_step(&self) -> bool {
        self.steps_polled.load(Ordering::Relaxed) > 0
    }

    /// Takes the error with which the attempt fails whatever its node returned.
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

pub(in crate::engine) struct PollsStep<'d>(&'d AtomicUsize);

impl Drop for PollsStep<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(super) struct Asleep<'d> {
    desk: &'d Desk,
    place: usize,
    until: SystemTime,
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.desk.papers().asleep.remove(&(self.until, self.place));
    }
}
