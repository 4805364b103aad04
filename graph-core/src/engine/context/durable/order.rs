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
use std::future::poll_fn;
use std::task::Poll;

use crate::engine::context::context::Context;
use crate::error::NodeError;
use crate::payload::Payload;

use super::step::OF_HANDLER;
use super::task_memory::TaskMemory;
use super::timer::Fired;
use super::{TaskScratch, ids};

impl Context {
    /// Returns `true` if nothing that was recorded before the answer still has to take effect.
    pub(crate) fn is_next(&self, answer: &str) -> bool {
        self.order(|_, order| order.given.get(answer).is_none_or(|given| given.after <= order.effective))
    }

    /// Records that the answer to a question was taken, or that it is outdated.
    pub(crate) fn settle_answer(&self, id: &str) {
        self.order(|_, order| {
            if let Some(given) = order.given.get_mut(id)
                && !std::mem::replace(&mut given.settled, true)
            {
                order.open -= 1;
            }
        });
        self.scratch().unblock();
        if self.shared.memories.is_inside() {
            self.shared.parent_run.take_answer(id);
        }
    }

    /// Records that a sleep has taken effect, or that it was dropped.
    pub(crate) fn settle_timer(&self, id: &str) {
        self.order(|_, order| order.settle_timer(id));
        self.scratch().unblock();
    }

    /// Fires a timer whose time has come, or lets a timer take effect that has fired in an earlier attempt.
    ///
    /// Ends when the firing is durable and it is the timer's turn. An error means that it could not be stored.
    pub(crate) async fn fire(&self, timer: &str) -> Result<(), NodeError> {
        let scratch = self.scratch();
        let turn = poll_fn(|cx| match self.take_turn(timer) {
            Some(turn) => Poll::Ready(turn),
            None => {
                scratch.block(cx.waker());
                Poll::Pending
            }
        });
        // Whatever follows it may continue when the node drops the sleep, too.
        let _effect = turn.await;
        if !self.memory(|memory| memory.sleeps.get(timer).is_some_and(|timer| timer.unsaved)) {
            return Ok(());
        }
        let _under_way = scratch.begins_step();
        self.save_firing(timer).await
    }

    /// Takes a timer's turn, if it has come. A timer that has not fired fires then.
    fn take_turn(&self, id: &str) -> Option<Effect<'_>> {
        let has_fault = self.scratch().has_fault();
        self.order(|memory, order| {
            let timer = memory.sleeps.get_mut(id)?;
            match &timer.fired {
                Some(fired) => {
                    let place = order.places.get(id).copied().unwrap_or_default();
                    if order.effective < place || fired.after.iter().any(|answer| order.is_open(answer)) {
                        return None;
                    }
                }
                // An attempt that fails may have withdrawn the answer that precedes the timer.
                None if has_fault || order.open > 0 || order.effective < order.timers.len() => return None,
                None => {
                    timer.fired = Some(order.fire(id));
                    timer.unsaved = true;
                    self.shared.memories.note_firing();
                }
            }
            Some(Effect { cx: self, timer: id.to_owned() })
        })
    }

    /// Lets an attempt that nothing else can wake continue without the earliest timer that has not taken effect: a sleep of
    /// an earlier attempt that this one does not await. Returns `true` if this wakes a future that waits for its turn.
    pub(crate) fn skips_timer(&self) -> bool {
        let scratch = self.scratch();
        if !scratch.has_blocked() {
            return false;
        }
        let skipped = self.order(|memory, order| {
            let (id, _) = order.timers.get(order.effective)?;
            let fired = memory.sleeps.get(id)?.fired.as_ref()?;
            (!fired.after.iter().any(|answer| order.is_open(answer))).then(|| id.clone())
        });
        if let Some(timer) = &skipped {
            self.settle_timer(timer);
            // The attempt has been polled already, and the futures are woken for the next poll.
            scratch.take_stirred();
        }
        skipped.is_some()
    }

    /// Stores that a timer has fired, and withdraws the stored questions of its task: the node may no longer wait for
    /// their answers. Those for which it still waits are stored again when its task is suspended.
    async fn save_firing(&self, id: &str) -> Result<(), NodeError> {
        let (timer, withdrawn) = self.memory(|memory| {
            let asked = memory.asked.iter().filter(|id| !memory.answers.contains_key(*id)).cloned();
            (memory.sleeps.get(id).cloned(), asked.collect::<Vec<_>>())
        });
        self.shared.parent_run.withdraw(&withdrawn);
        if let (Some(log), Some(timer)) = (&self.shared.steps, timer) {
            let payload = serde_json::to_string(&timer).map_err(NodeError::from)?;
            log.fired(self.at.task, id, Payload::json(payload), withdrawn).await?;
        }
        self.memory(|memory| {
            memory.asked.clear();
            if let Some(timer) = memory.sleeps.get_mut(id) {
                timer.unsaved = false;
            }
        });
        Ok(())
    }

    /// Returns `true` if the attempt may have been given answers, or has timers that have fired.
    #[inline]
    pub(crate) fn was_given_answers(&self) -> bool {
        self.shared.memories.were_given() || !self.shared.parent_run.answers.is_empty()
    }

    /// Returns `true` if the attempt was given an answer that it has not taken.
    pub(crate) fn has_untaken(&self) -> bool {
        self.order(|_, order| order.open > 0)
    }

    /// Returns the id of an answer that this attempt was given and has not taken.
    pub(crate) fn untaken(&self) -> Option<String> {
        self.order(|_, order| {
            let open = order.given.iter().filter(|(_, given)| !given.settled);
            open.map(|(id, _)| id).min().cloned()
        })
    }

    /// Returns the id of an answer for a question inside the task's subgraph call that the call has not taken.
    pub(crate) fn untaken_inside(&self) -> Option<String> {
        let scratch = self.scratch();
        self.memory(|memory| {
            let inside = memory.answers.keys().filter(|id| ids::is_inside(id, scratch.task()));
            inside.filter(|id| !self.shared.parent_run.has_taken(id)).min().cloned()
        })
    }

    /// Accesses the order of the task's answers and timers.
    fn order<T>(&self, look: impl FnOnce(&mut TaskMemory, &mut Order) -> T) -> T {
        let scratch = self.scratch();
        self.memory(|memory| {
            scratch.order(|order| {
                let inherited = || self.shared.parent_run.answers_of(scratch.task()).map(|(id, _)| id);
                look(memory, order.get_or_insert_with(|| Order::new(memory, scratch, inherited())))
            })
        })
    }
}

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
    /// Creates the order of an attempt, which was given the answers in its memory and those in `inherited`.
    fn new<'i>(
        memory: &'i TaskMemory,
        scratch: &TaskScratch,
        inherited: impl Iterator<Item = &'i String>,
    ) -> Self {
        // A node's timers and those of its error handler are independent.
        let of_handler = scratch.failure().is_some();
        let own = memory.sleeps.iter().filter(|(id, _)| id.starts_with(OF_HANDLER) == of_handler);
        let mut fired: Vec<(&String, &Fired)> =
            own.filter_map(|(id, timer)| Some((id, timer.fired.as_ref()?))).collect();
        fired.sort_unstable_by_key(|(_, fired)| fired.nth);
        let mut order = Self::default();
        let given = memory.answers.keys().chain(inherited).filter(|id| ids::is_of(id, scratch.task()));
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

    fn is_open(&self, answer: &str) -> bool {
        self.given.get(answer).is_some_and(|given| !given.settled)
    }

    fn settle_timer(&mut self, timer: &str) {
        if let Some((_, settled)) = self.places.get(timer).and_then(|place| self.timers.get_mut(*place)) {
            *settled = true;
        }
        while self.timers.get(self.effective).is_some_and(|(_, settled)| *settled) {
            self.effective += 1;
        }
    }

    /// Gives a timer that fires its place after all that has taken effect.
    fn fire(&mut self, timer: &str) -> Fired {
        let fired = Fired { nth: self.next, after: std::mem::take(&mut self.latest) };
        self.places.insert(timer.to_owned(), self.timers.len());
        self.timers.push((timer.to_owned(), false));
        self.next = self.next.saturating_add(1);
        fired
    }
}

/// The turn of a timer. Ends with the sleep, which may also be dropped before.
struct Effect<'c> {
    cx: &'c Context,
    timer: String,
}

impl Drop for Effect<'_> {
    fn drop(&mut self) {
        self.cx.settle_timer(&self.timer);
    }
}

/// An answer that the node has not taken.
#[derive(Debug, thiserror::Error)]
#[error(
    "the node {how} without asking the question `{question}`, whose answer was accepted: ask it in every attempt, with \
     the same type and the same number or key; the answer is kept for the next attempt"
)]
pub(crate) struct Untaken {
    pub(crate) question: String,
    /// How the attempt ended.
    pub(crate) how: &'static str,
}
