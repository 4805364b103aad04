//! The order in which answers and timers take effect.
//!
//! They take effect in the order in which they were recorded, in every attempt. A timer records with its firing which
//! answers and timers precede it. An attempt therefore has three rules:
//!
//! - An answer is taken after the timers that fired before it was given.
//! - A timer that has fired takes effect after the answers and timers that precede it.
//! - A timer fires after all that was recorded before has taken effect in this attempt.

use std::future::poll_fn;
use std::task::Poll;

use crate::engine::Context;
use crate::node::NodeError;
use crate::payload::Payload;

use super::memo::Memo;
use super::step::OF_HANDLER;
use super::timer::{Fired, Timer};
use super::{Desk, ids};

impl Context {
    /// Returns `true` if nothing that was recorded before the answer still has to take effect.
    pub(super) fn is_next(&self, answer: &str) -> bool {
        let desk = self.desk();
        self.memo(|memo| {
            let mut earlier =
                desk.fired(memo).filter(|(_, fired)| !fired.after.iter().any(|id| id == answer));
            earlier.all(|(timer, _)| desk.has_settled(timer))
        })
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
        self.save_firing(timer).await?;
        self.memo(|memo| {
            if let Some(timer) = memo.sleeps.get_mut(timer) {
                timer.unsaved = false;
            }
        });
        Ok(())
    }

    /// Takes a timer's turn, if it has come. A timer that has not fired fires then.
    fn take_turn(&self, id: &str) -> Option<Effect<'_>> {
        let desk = self.desk();
        let given = self.given_here(desk);
        self.memo(|memo| {
            let timer = memo.sleeps.get(id)?;
            let is_open = |answer: &String| given.contains(answer) && !desk.has_settled(answer);
            let settled = |of: usize| {
                desk.fired(memo).filter(|(_, fired)| fired.nth < of).all(|(id, _)| desk.has_settled(id))
            };
            let fired = match &timer.fired {
                Some(fired) => {
                    let is_next = !fired.after.iter().any(is_open) && settled(fired.nth);
                    return is_next.then(|| Effect { desk, timer: id.to_owned() });
                }
                None if given.iter().any(is_open) || !settled(usize::MAX) => return None,
                None => Fired { nth: desk.fired(memo).count(), after: given.clone() },
            };
            let timer = Timer { until: timer.until, fired: Some(fired), unsaved: true };
            memo.sleeps.insert(id.to_owned(), timer);
            Some(Effect { desk, timer: id.to_owned() })
        })
    }

    /// Stores that a timer has fired, and withdraws the stored questions of its task: the node may no longer wait for
    /// their answers. Those for which it still waits are stored again when its task is suspended.
    async fn save_firing(&self, id: &str) -> Result<(), NodeError> {
        let (timer, withdrawn) = self.memo(|memo| {
            let mut asked = std::mem::take(&mut memo.asked);
            asked.retain(|id| !memo.answers.contains_key(id));
            (memo.sleeps.get(id).cloned(), asked)
        });
        let (Some(log), Some(timer)) = (&self.shared.steps, timer) else { return Ok(()) };
        let payload = serde_json::to_string(&timer).map_err(NodeError::from)?;
        log.fired(self.at.task, id, Payload::json(payload), withdrawn).await
    }

    /// Returns `true` if the attempt may have been given answers.
    #[inline]
    pub(in crate::engine) fn was_given_answers(&self) -> bool {
        self.shared.memos.were_given() || !self.shared.nest.answers.is_empty()
    }

    /// Returns the ids of the answers that this attempt was given, for its own questions.
    fn given_here(&self, desk: &Desk) -> Vec<String> {
        let own = |id: &&String| ids::is_of(id, desk.task());
        let mut given: Vec<String> = self.memo(|memo| memo.answers.keys().filter(own).cloned().collect());
        given.extend(self.shared.nest.answers.keys().filter(own).cloned());
        given.sort_unstable();
        given.dedup();
        given
    }

    /// Returns the ids of the answers that this attempt was given and has not taken.
    pub(in crate::engine) fn untaken(&self) -> Vec<String> {
        let desk = self.desk();
        let mut untaken = self.given_here(desk);
        untaken.retain(|id| !desk.has_settled(id));
        untaken
    }

    /// Returns the ids of the answers for questions inside the task's subgraph call that the call has not taken.
    pub(in crate::engine) fn untaken_inside(&self) -> Vec<String> {
        let desk = self.desk();
        let inside = |id: &&String| ids::is_inside(id, desk.task());
        let mut given: Vec<String> = self.memo(|memo| memo.answers.keys().filter(inside).cloned().collect());
        given.retain(|id| !self.shared.nest.has_taken(id));
        given
    }
}

impl Desk {
    /// Returns the timers that have fired. A node's timers and those of its error handler are independent.
    fn fired<'m>(&self, memo: &'m Memo) -> impl Iterator<Item = (&'m str, &'m Fired)> + use<'m> {
        let of_handler = self.failure().is_some();
        let own = move |id: &str| id.starts_with(OF_HANDLER) == of_handler;
        let fired = memo.sleeps.iter().filter_map(|(id, timer)| Some((id.as_str(), timer.fired.as_ref()?)));
        fired.filter(move |(id, _)| own(id))
    }
}

/// The turn of a timer. Ends with the sleep, which may also be dropped before.
struct Effect<'d> {
    desk: &'d Desk,
    timer: String,
}

impl Drop for Effect<'_> {
    fn drop(&mut self) {
        self.desk.settle(&self.timer);
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
