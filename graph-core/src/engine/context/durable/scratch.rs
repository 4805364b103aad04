use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::SystemTime;

use crate::engine::context::stop_point::StopPoint;
use crate::error::{NodeError, NodeFailure};
use crate::interrupt::OpenInterrupt;

use super::order::Order;

/// Task-local scratch state of one attempt: its open interrupts, durable steps, sleeps and heartbeats.
#[derive(Default)]
pub(crate) struct TaskScratch {
    /// The task's id.
    pub(crate) task: String,
    /// The number of durable steps that are being polled right now, one inside the other.
    steps_polled: AtomicUsize,
    /// The failure to handle, if this is an attempt of an error handler.
    failure: Option<Arc<NodeFailure>>,
    /// The number of heartbeats.
    beats: Arc<AtomicU64>,
    /// The number of durable steps and firing timers that have begun and not finished.
    under_way: AtomicUsize,
    state: Mutex<ScratchState>,
}

#[derive(Default)]
struct ScratchState {
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
    /// The counted waker of the attempt, and the waker that it wraps.
    wakers: Option<(Waker, Waker)>,
    /// `true` if a future that waited for its turn was woken since the attempt was polled.
    unblocked: bool,
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
    stop_point: Option<StopPoint>,
}

/// The numbers that questions of one name have.
#[derive(Default)]
struct Numbers {
    /// The lowest number that was never taken.
    next: usize,
    /// Lower numbers that are free again.
    released: BTreeSet<usize>,
}

impl TaskScratch {
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

    fn state(&self) -> MutexGuard<'_, ScratchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
    pub(crate) fn place(&self) -> usize {
        let mut state = self.state();
        state.place += 1;
        state.place
    }

    /// Takes the lowest free number for a question of this name.
    pub(crate) fn take_number(&self, name: &'static str) -> usize {
        let mut state = self.state();
        let numbers = state.numbers.entry(name).or_default();
        numbers.released.pop_first().unwrap_or_else(|| {
            numbers.next += 1;
            numbers.next - 1
        })
    }

    /// Releases the number of a question that got a key, so that keys do not shift the numbers of later questions.
    pub(crate) fn release_number(&self, name: &'static str, number: usize) {
        if let Some(numbers) = self.state().numbers.get_mut(name) {
            numbers.released.insert(number);
        }
    }

    /// Records the id of a question with a key; `false` if the attempt has used it before.
    pub(crate) fn key(&self, id: &str) -> bool {
        self.state().keyed.insert(id.to_owned())
    }

    /// Releases the id of a question that got another key.
    pub(crate) fn release_key(&self, id: &str) {
        self.state().keyed.remove(id);
    }

    /// Records the key of a durable step; `false` if the attempt has used it before.
    pub(crate) fn step(&self, key: &str) -> bool {
        self.state().steps.insert(key.to_owned())
    }

    /// Counts a sleep, and returns the number of earlier ones.
    pub(crate) fn nth_sleep(&self) -> usize {
        let mut state = self.state();
        state.sleeps += 1;
        state.sleeps - 1
    }

    /// Marks the task as asleep until a time, as long as the returned guard lives.
    pub(crate) fn asleep(&self, until: SystemTime) -> Asleep<'_> {
        let place = self.place();
        self.state().asleep.insert((until, place));
        Asleep { scratch: self, place, until }
    }

    /// Returns the earliest end of the sleeps in progress.
    pub(crate) fn sleeps_until(&self) -> Option<SystemTime> {
        self.state().asleep.first().map(|(until, _)| *until)
    }

    /// Marks a durable step or a firing timer as in progress, as long as the returned guard lives.
    pub(crate) fn begins_step(&self) -> PollsStep<'_> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        PollsStep(&self.under_way)
    }

    /// Returns `true` if the attempt cannot be suspended now.
    pub(crate) fn is_busy(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) > 0
    }

    /// Returns the number of earlier deadlines of a question, and counts one more.
    pub(crate) fn nth_deadline(&self, question: &str) -> usize {
        let mut state = self.state();
        let count = state.deadlines.entry(question.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// Wakes the futures that wait for their turn, after an answer or a timer took effect.
    pub(crate) fn unblock(&self) {
        let blocked = {
            let mut state = self.state();
            state.unblocked |= !state.blocked.is_empty();
            std::mem::take(&mut state.blocked)
        };
        blocked.into_iter().for_each(Waker::wake);
    }

    /// Accesses the order of answers and timers; `None` until it is needed.
    pub(crate) fn order<T>(&self, look: impl FnOnce(&mut Option<Order>) -> T) -> T {
        look(&mut self.state().order)
    }

    /// Keeps the waker of a future that waits for its turn.
    pub(crate) fn block(&self, waker: &Waker) {
        let mut state = self.state();
        if !state.blocked.iter().any(|known| known.will_wake(waker)) {
            state.blocked.push(waker.clone());
        }
    }

    /// Returns `true` if futures wait for their turn.
    pub(crate) fn has_blocked(&self) -> bool {
        !self.state().blocked.is_empty()
    }

    /// Sets the counted waker with which the attempt is polled next, and the waker that it wraps.
    pub(crate) fn set_counted_waker(&self, counted: &Waker, waker: &Waker) {
        self.state().wakers = Some((counted.clone(), waker.clone()));
    }

    /// Returns a waker for futures that cannot wake the node alone: it is not counted.
    pub(crate) fn uncounted(&self, waker: &Waker) -> Waker {
        match &self.state().wakers {
            Some((counted, wrapped)) if counted.will_wake(waker) => wrapped.clone(),
            _ => waker.clone(),
        }
    }

    /// Returns `true` if a future that waits for its turn was woken since the last call.
    pub(crate) fn take_unblocked(&self) -> bool {
        std::mem::take(&mut self.state().unblocked)
    }

    pub(crate) fn open(&self, place: usize, question: OpenInterrupt) {
        self.state().open.insert(place, question);
    }

    /// Sets the time at which the question at this position expires, if it is open.
    pub(crate) fn expires(&self, place: usize, id: &str, at: Option<SystemTime>) {
        let state = &mut *self.state();
        // Few are: their answers could not be read.
        let reopened = state.reopened.iter_mut().filter(|open| open.id == id);
        state.open.get_mut(&place).into_iter().chain(reopened).for_each(|open| open.expires_at = at);
    }

    pub(crate) fn reopen(&self, question: OpenInterrupt) {
        self.state().reopened.push(question);
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
    pub(crate) fn stop_point(&self, stop_point: StopPoint) {
        self.state().stop_point = Some(stop_point);
    }

    /// Takes the stop of a subgraph run inside the task.
    pub(crate) fn take_stop_point(&self) -> Option<StopPoint> {
        self.state().stop_point.take()
    }

    /// Withdraws an interrupt for which the node no longer waits.
    pub(crate) fn withdraw(&self, place: usize) {
        self.state().open.remove(&place);
    }

    /// Returns `true` if the attempt fails whatever happens.
    pub(crate) fn has_fault(&self) -> bool {
        self.state().fault.is_some()
    }

    /// Makes the attempt fail. The first error wins.
    pub(crate) fn fail(&self, fault: NodeError) {
        self.state().fault.get_or_insert(fault);
    }

    /// Marks a durable step as being polled, as long as the returned guard lives.
    pub(crate) fn polls_step(&self) -> PollsStep<'_> {
        self.steps_polled.fetch_add(1, Ordering::Relaxed);
        PollsStep(&self.steps_polled)
    }

    pub(crate) fn is_in_step(&self) -> bool {
        self.steps_polled.load(Ordering::Relaxed) > 0
    }

    /// Takes the error with which the attempt fails whatever its node returned.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_fault(&self) -> Option<NodeError> {
        self.state().fault.take()
    }

    pub(crate) fn take_open(&self) -> Vec<OpenInterrupt> {
        std::mem::take(&mut self.state().open).into_values().collect()
    }

    pub(crate) fn take_reopened(&self) -> Vec<OpenInterrupt> {
        std::mem::take(&mut self.state().reopened)
    }
}

pub(crate) struct PollsStep<'d>(&'d AtomicUsize);

impl Drop for PollsStep<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(crate) struct Asleep<'d> {
    scratch: &'d TaskScratch,
    place: usize,
    until: SystemTime,
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.scratch.state().asleep.remove(&(self.until, self.place));
    }
}
