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

use crate::engine::Context;
use crate::node::NodeError;
use crate::payload::Payload;

use super::memo::Memo;
use super::step::OF_HANDLER;
use super::timer::Fired;
use super::{Desk, ids};

impl Context {
    /// Returns `true` if nothing that was recorded before the answer still has to take effect.
    pub(super) fn is_next(&self, answer: &str) -> bool {
        self.order(|_, order| order.given.get(answer).is_none_or(|given| given.after <= order.effective))
    }

    /// Records that the answer to a question was taken, or that it is outdated.
    pub(super) fn settle_answer(&self, id: &str) {
        self.order(|_, order| {
            if let Some(given) = order.given.get_mut(id)
                && !std::mem::replace(&mut given.settled, true)
            {
                order.open -= 1;
            }
        });
        self.desk().unblock();
        if self.shared.memos.is_inside() {
            self.shared.nest.take_answer(id);
        }
    }

    /// Records that a sleep has taken effect, or that it was dropped.
    pub(super) fn settle_timer(&self, id: &str) {
        self.order(|_, order| order.settle_timer(id));
        self.desk().unblock();
    }

    /// Fires a timer whose time has come, or lets a timer take effect that has fired in an earlier attempt.
    ///
    /// Ends when the firing is durable and it is the timer's turn. An error means that it could not be stored.
    pub(super) async fn fire(&self, timer: &str) -> Result<(), NodeError> {
        let desk = self.desk();
        let turn = poll_fn(|cx| match self.take_turn(timer) {
            Some(turn) => Poll::Ready(turn),
            None => {
                desk.block(cx.waker());
                Poll::Pending
            }
        });
        // Whatever follows it may continue when the node drops the sleep, too.
        let _effect = turn.await;
        if !self.memo(|memo| memo.sleeps.get(timer).is_some_and(|timer| timer.unsaved)) {
            return Ok(());
        }
        let _under_way = desk.begins_step();
        self.save_firing(timer).await
    }

    /// Takes a timer's turn, if it has come. A timer that has not fired fires then.
    fn take_turn(&self, id: &str) -> Option<Effect<'_>> {
        let has_fault = self.desk().has_fault();
        self.order(|memo, order| {
            let timer = memo.sleeps.get_mut(id)?;
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
                    self.shared.memos.note_firing();
                }
            }
            Some(Effect { cx: self, timer: id.to_owned() })
        })
    }

    /// Lets an attempt that nothing else can wake go on without the earliest timer that has not taken effect: a sleep of
    /// an earlier attempt that this one does not await. Returns `true` if this wakes a future that waits for its turn.
    pub(in crate::engine) fn skips_timer(&self) -> bool {
        let desk = self.desk();
        if !desk.has_blocked() {
            return false;
        }
        let skipped = self.order(|memo, order| {
            let (id, _) = order.timers.get(order.effective)?;
            let fired = memo.sleeps.get(id)?.fired.as_ref()?;
            (!fired.after.iter().any(|answer| order.is_open(answer))).then(|| id.clone())
        });
        if let Some(timer) = &skipped {
            self.settle_timer(timer);
            // The attempt has been polled already, and the futures are woken for the next poll.
            desk.take_stirred();
        }
        skipped.is_some()
    }

    /// Stores that a timer has fired, and withdraws the stored questions of its task: the node may no longer wait for
    /// their answers. Those for which it still waits are stored again when its task is suspended.
    async fn save_firing(&self, id: &str) -> Result<(), NodeError> {
        let (timer, withdrawn) = self.memo(|memo| {
            let asked = memo.asked.iter().filter(|id| !memo.answers.contains_key(*id)).cloned();
            (memo.sleeps.get(id).cloned(), asked.collect::<Vec<_>>())
        });
        self.shared.nest.withdraw(&withdrawn);
        if let (Some(log), Some(timer)) = (&self.shared.steps, timer) {
            let payload = serde_json::to_string(&timer).map_err(NodeError::from)?;
            log.fired(self.at.task, id, Payload::json(payload), withdrawn).await?;
        }
        self.memo(|memo| {
            memo.asked.clear();
            if let Some(timer) = memo.sleeps.get_mut(id) {
                timer.unsaved = false;
            }
        });
        Ok(())
    }

    /// Returns `true` if the attempt may have been given answers, or has timers that have fired.
    #[inline]
    pub(in crate::engine) fn was_given_answers(&self) -> bool {
        self.shared.memos.were_given() || !self.shared.nest.answers.is_empty()
    }

    /// Returns `true` if the attempt was given an answer that it has not taken.
    pub(in crate::engine) fn has_untaken(&self) -> bool {
        self.order(|_, order| order.open > 0)
    }

    /// Returns the id of an answer that this attempt was given and has not taken.
    pub(in crate::engine) fn untaken(&self) -> Option<String> {
        self.order(|_, order| {
            let open = order.given.iter().filter(|(_, given)| !given.settled);
            open.map(|(id, _)| id).min().cloned()
        })
    }

    /// Returns the id of an answer for a question inside the task's subgraph call that the call has not taken.
    pub(in crate::engine) fn untaken_inside(&self) -> Option<String> {
        let desk = self.desk();
        self.memo(|memo| {
            let inside = memo.answers.keys().filter(|id| ids::is_inside(id, desk.task()));
            inside.filter(|id| !self.shared.nest.has_taken(id)).min().cloned()
        })
    }

    /// Accesses the order of the task's answers and timers.
    fn order<T>(&self, look: impl FnOnce(&mut Memo, &mut Order) -> T) -> T {
        let desk = self.desk();
        self.memo(|memo| {
            desk.order(|order| {
                let inherited = || self.shared.nest.answers_of(desk.task()).map(|(id, _)| id);
                look(memo, order.get_or_insert_with(|| Order::new(memo, desk, inherited())))
            })
        })
    }
}

/// The order in which the answers and timers of a task take effect in one attempt.
#[derive(Default)]
pub(super) struct Order {
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
    /// Creates the order of an attempt, which was given the answers in its memo and those in `inherited`.
    fn new<'i>(memo: &'i Memo, desk: &Desk, inherited: impl Iterator<Item = &'i String>) -> Self {
        // A node's timers and those of its error handler are independent.
        let of_handler = desk.failure().is_some();
        let own = memo.sleeps.iter().filter(|(id, _)| id.starts_with(OF_HANDLER) == of_handler);
        let mut fired: Vec<(&String, &Fired)> =
            own.filter_map(|(id, timer)| Some((id, timer.fired.as_ref()?))).collect();
        fired.sort_unstable_by_key(|(_, fired)| fired.nth);
        let mut order = Self::default();
        let given = memo.answers.keys().chain(inherited).filter(|id| ids::is_of(id, desk.task()));
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
pub(in crate::engine) struct Untaken {
    pub(in crate::engine) question: String,
    /// How the attempt ended.
    pub(in crate::engine) how: &'static str,
}
