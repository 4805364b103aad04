//! The turns of answers and timers in an attempt, by the rules of [`order`](super::order).

use std::future::poll_fn;
use std::task::Poll;

use crate::engine::context::context::Context;
use crate::error::NodeError;
use crate::payload::Payload;

use super::ids;
use super::order::Order;
use super::task_memory::TaskMemory;

impl Context {
    /// Returns `true` if nothing that was recorded before the answer still has to take effect.
    pub(crate) fn is_next(&self, answer: &str) -> bool {
        self.order(|_, order| order.is_next(answer))
    }

    /// Records that the answer to a question was taken, or that it is outdated.
    pub(crate) fn settle_answer(&self, id: &str) {
        self.order(|_, order| order.settle_answer(id));
        self.scratch().unblock();
        if self.shared.memories.is_inside_task() {
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
                Some(fired) if order.is_turn_of(id, fired) => {}
                Some(_) => return None,
                // An attempt that fails may have withdrawn the answer that precedes the timer.
                None if has_fault || !order.is_settled() => return None,
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
            let id = order.earliest_timer()?;
            let fired = memory.sleeps.get(id)?.fired.as_ref()?;
            (!order.awaits_answers(fired)).then(|| id.to_owned())
        });
        if let Some(timer) = &skipped {
            self.settle_timer(timer);
            // The attempt has been polled already, and the futures are woken for the next poll.
            scratch.take_unblocked();
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
            log.fired(self.at.task(), id, Payload::json(payload), withdrawn).await?;
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
        self.order(|_, order| order.has_open())
    }

    /// Returns the id of an answer that this attempt was given and has not taken.
    pub(crate) fn untaken(&self) -> Option<String> {
        self.order(|_, order| order.open().min().cloned())
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
                let order = order.get_or_insert_with(|| {
                    let task = scratch.task();
                    let inherited = self.shared.parent_run.answers_of(task).map(|(id, _)| id);
                    Order::new(memory, task, scratch.failure().is_some(), inherited)
                });
                look(memory, order)
            })
        })
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
