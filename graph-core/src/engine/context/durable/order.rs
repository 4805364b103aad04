//! The order in which answers and timers take effect.
//!
//! They take effect in the order in which they were recorded, in every attempt. A timer records with its firing which
//! answers and timers precede it. An attempt therefore has three rules:
//!
//! - An answer is taken after the timers that fired before it was given.
//! - A timer that has fired takes effect after the answers and timers that precede it.
//! - A timer fires after all that was recorded before has taken effect in this attempt.
//!
//! A timer of an earlier attempt that this attempt does not await, or drops, holds up nothing.

use std::collections::HashMap;

use super::ids;
use super::task_memory::{OF_HANDLER, TaskMemory};
use super::timer::Fired;

/// The order in which the answers and timers of a task take effect in one attempt.
#[derive(Default)]
pub(crate) struct Order {
    /// The answers that the attempt was given, by the ids of their questions.
    given: HashMap<String, Given>,
    /// The number of answers that were not taken and are not outdated.
    open: usize,
    /// The answers that were given after the last timer fired.
    latest: Vec<String>,
    /// The timers that have fired, in this order. `true` if it has taken effect in this attempt or was dropped.
    timers: Vec<(String, bool)>,
    /// The indices of the timers in `timers`.
    places: HashMap<String, usize>,
    /// The number of the next timer that fires.
    next: usize,
    /// The number of timers at the beginning of `timers` that have taken effect.
    effective: usize,
}

struct Given {
    /// The number of timers that fired before it was given.
    after: usize,
    /// `true` if it was taken or is outdated.
    settled: bool,
}

impl Order {
    /// Creates the order of an attempt of this task, which was given the answers in its memory and in `inherited`.
    ///
    /// The timers of a node and of its error handler are independent. `of_handler` is `true` for the handler.
    pub(super) fn new<'i>(
        memory: &'i TaskMemory,
        task: &str,
        of_handler: bool,
        inherited: impl Iterator<Item = &'i String>,
    ) -> Self {
        let own = memory.sleeps.iter().filter(|(id, _)| id.starts_with(OF_HANDLER) == of_handler);
        let mut fired: Vec<(&String, &Fired)> =
            own.filter_map(|(id, timer)| Some((id, timer.fired.as_ref()?))).collect();
        fired.sort_unstable_by_key(|(_, fired)| fired.nth);
        let mut order = Self::default();
        let given = memory.answers.keys().chain(inherited).filter(|id| ids::is_of(id, task));
        order.given.extend(given.map(|id| (id.clone(), Given { after: fired.len(), settled: false })));
        order.open = order.given.len();
        for (place, (id, fired)) in fired.iter().enumerate() {
            order.places.insert((*id).clone(), place);
            order.timers.push(((*id).clone(), false));
            order.next = fired.nth.saturating_add(1);
            for answer in &fired.after {
                if let Some(given) = order.given.get_mut(answer) {
                    given.after = given.after.min(place);
                }
            }
        }
        let latest = order.given.iter().filter(|(_, given)| given.after == fired.len());
        order.latest = latest.map(|(id, _)| id.clone()).collect();
        order.latest.sort_unstable();
        order
    }

    /// Returns `true` if nothing that was recorded before the answer still has to take effect.
    pub(super) fn is_next(&self, answer: &str) -> bool {
        self.given.get(answer).is_none_or(|given| given.after <= self.effective)
    }

    /// Returns `true` if the attempt was given an answer that it has not taken.
    pub(super) fn has_open(&self) -> bool {
        self.open > 0
    }

    /// Returns the ids of the answers that the attempt was given and has not taken.
    pub(super) fn open(&self) -> impl Iterator<Item = &String> {
        self.given.iter().filter(|(_, given)| !given.settled).map(|(id, _)| id)
    }

    /// Returns `true` if an answer that precedes the timer has not taken effect.
    pub(super) fn awaits_answers(&self, fired: &Fired) -> bool {
        fired.after.iter().any(|answer| self.is_open(answer))
    }

    fn is_open(&self, answer: &str) -> bool {
        self.given.get(answer).is_some_and(|given| !given.settled)
    }

    /// Returns `true` if everything that precedes a timer that has fired has taken effect.
    pub(super) fn is_turn_of(&self, timer: &str, fired: &Fired) -> bool {
        let place = self.places.get(timer).copied().unwrap_or_default();
        self.effective >= place && !self.awaits_answers(fired)
    }

    /// Returns `true` if everything that was recorded has taken effect, so that the next timer may fire.
    pub(super) fn is_settled(&self) -> bool {
        self.open == 0 && self.effective >= self.timers.len()
    }

    /// Returns the id of the earliest timer that has fired and not taken effect.
    pub(super) fn earliest_timer(&self) -> Option<&str> {
        self.timers.get(self.effective).map(|(id, _)| id.as_str())
    }

    /// Records that an answer was taken, or that it is outdated.
    pub(super) fn settle_answer(&mut self, id: &str) {
        if let Some(given) = self.given.get_mut(id)
            && !std::mem::replace(&mut given.settled, true)
        {
            self.open -= 1;
        }
    }

    /// Records that a timer has taken effect, or that it was dropped.
    pub(super) fn settle_timer(&mut self, timer: &str) {
        if let Some((_, settled)) = self.places.get(timer).and_then(|place| self.timers.get_mut(*place)) {
            *settled = true;
        }
        while self.timers.get(self.effective).is_some_and(|(_, settled)| *settled) {
            self.effective += 1;
        }
    }

    /// Gives a timer that fires its place after all that has taken effect.
    pub(super) fn fire(&mut self, timer: &str) -> Fired {
        let fired = Fired { nth: self.next, after: std::mem::take(&mut self.latest) };
        self.places.insert(timer.to_owned(), self.timers.len());
        self.timers.push((timer.to_owned(), false));
        self.next = self.next.saturating_add(1);
        fired
    }
}
