use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use crate::checkpoint::RecordKind;
use crate::engine::Context;
use crate::node::{Failure, NodeError};
use crate::payload::Payload;
use crate::payload::Storable;
use crate::payload::{from_payload, to_payload};

use super::ids;

/// A durable step; made by [`Context::step`]. It is taken when it is awaited.
// Of the result's type alone, without a bound: what cannot be stored is told where the step is made, once.
#[must_use = "a step is taken when it is awaited"]
pub struct DurableStep<'c, T>(Pin<Box<dyn Future<Output = Result<T, NodeError>> + Send + 'c>>);

/// What the keys of an error handler's steps begin with where they are kept, so that they are not the node's.
pub(super) const OF_HANDLER: char = '\u{1}';

impl<T> Future for DurableStep<'_, T> {
    type Output = Result<T, NodeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl<T> std::fmt::Debug for DurableStep<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DurableStep").finish_non_exhaustive()
    }
}

impl Context {
    /// Runs something once: what came of it is stored before the node goes on, and given back when the node runs again.
    ///
    /// ```
    /// # use superstep::{Context, GraphState, Result};
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { paid: Option<u32> }
    /// # async fn charge(_: &str) -> std::io::Result<u32> { Ok(17) }
    /// async fn pay(_: &Order, cx: &Context) -> Result<OrderUpdate> {
    ///     let receipt = cx.step("charge", charge(&cx.idempotency_key("charge"))).await?;
    ///     Ok(Order::update().paid(receipt))
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// # let order = Order::started(Order::input())?;
    /// # let update = pay(&order, &Context::detached("pay")).await?;
    /// # assert_eq!(order.updated(update)?.paid, Some(17));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The key says which step of the task it is; it may be used once in an attempt, and has to be the same whenever the
    /// node runs again. An `Err` is not stored: the step runs again with the node. To try several times, do so inside the
    /// step. [`interrupt`](Self::interrupt) inside a step makes the task fail.
    ///
    /// A step belongs to its task, and is forgotten with it: when the task is given up (by new input with `abandon_pending`, by
    /// `thread.update`), a later one runs it again, with another idempotency key. What must never be done twice needs a key
    /// from its own domain, such as the order's.
    ///
    /// In a run without a store, a step that has finished is remembered for as long as its superstep is under way.
    ///
    /// # Errors
    /// What the step fails with; and, whatever the node makes of it, the task fails if the key was used before, if the
    /// result cannot be stored, or if what was stored is no `T`.
    ///
    /// # Durability
    /// What the step hangs on, whatever the run's mode, is durable before it begins, and its result before this returns.
    /// A crash in between runs it again; for that there is [`idempotency_key`](Self::idempotency_key).
    ///
    /// # Cancel safety
    /// A dropped call is like a crash in its midst: the step has been done in part, or as a whole without its result being
    /// stored, and runs again with the node. A question that suspends the task drops the steps next to it.
    pub fn step<'c, T, E>(
        &'c self,
        key: &str,
        step: impl Future<Output = Result<T, E>> + Send + 'c,
    ) -> DurableStep<'c, T>
    where
        T: Storable + Send + 'c,
        E: Failure + 'c,
    {
        let key = key.to_owned();
        DurableStep(Box::pin(async move { self.take(&key, step).await }))
    }

    async fn take<T: Storable, E: Failure>(
        &self,
        key: &str,
        step: impl Future<Output = Result<T, E>>,
    ) -> Result<T, NodeError> {
        let desk = self.desk();
        desk.beat();
        if !desk.step(key) {
            return Err(self.misused(key, "its key is used twice in one attempt".to_owned()));
        }
        if key.starts_with(OF_HANDLER) {
            return Err(self.misused(key, "its key begins with a control character".to_owned()));
        }
        let named = key;
        let key = &*match desk.failure() {
            None => Cow::Borrowed(key),
            Some(_) => Cow::Owned(format!("{OF_HANDLER}{key}")),
        };
        if let Some(stored) = self.memo(|memo| memo.steps.get(key).cloned()) {
            if self.memo(|memo| memo.unsaved.contains(key)) {
                self.save(key, stored.clone()).await?;
            }
            let result = from_payload(&stored)
                .map_err(|reason| self.misused(key, format!("its stored result cannot be read: {reason}")))?;
            self.step_finished(named, true).await;
            return Ok(result);
        }
        let _begun = desk.begins_step();
        if let Some(log) = &self.shared.steps {
            log.flush().await.map_err(|error| self.unstored(key, error))?;
        }
        let mut step = pin!(step);
        let result = poll_fn(|cx| {
            let _polled = desk.polls_step();
            step.as_mut().poll(cx)
        });
        let result = result.await;
        desk.beat();
        let result = result.map_err(Failure::into_node_error)?;
        let stored = to_payload(&result)
            .map_err(|unstorable| self.misused(key, format!("its result {unstorable}")))?;
        // Known from here on, durable a little later: if the attempt ends in between, it is written again, not done again.
        self.memo(|memo| {
            memo.steps.insert(key.to_owned(), stored.clone());
            memo.unsaved.insert(key.to_owned());
        });
        self.save(key, stored).await?;
        self.step_finished(named, false).await;
        Ok(result)
    }

    /// A text that tells what is done under this key from everything else that is done: the same when the task runs
    /// again, another for every other task, thread and run. For services that do a thing once for each such key.
    pub fn idempotency_key(&self, key: &str) -> String {
        ids::idempotency(self.shared.memos.scope(), &self.desk().task, key)
    }

    /// Makes a result durable.
    async fn save(&self, key: &str, result: Payload) -> Result<(), NodeError> {
        if let Some(log) = &self.shared.steps {
            log.record(self.at.task, RecordKind::Step, key, result)
                .await
                .map_err(|error| self.unstored(key, error))?;
        }
        self.memo(|memo| memo.unsaved.remove(key));
        Ok(())
    }

    /// An error that fails the attempt, and the same for the node.
    fn misused(&self, key: &str, reason: String) -> NodeError {
        let error = |reason| StepError { key: key.trim_start_matches(OF_HANDLER).to_owned(), reason };
        self.desk().fail(error(reason.clone()).into());
        error(reason).into()
    }

    /// The failure of the store, which is the attempt's, in words for the node.
    fn unstored(&self, key: &str, error: NodeError) -> NodeError {
        let reason = format!("the store failed: {error}");
        self.desk().fail(error);
        StepError { key: key.trim_start_matches(OF_HANDLER).to_owned(), reason }.into()
    }
}

/// What is wrong with a durable step.
#[derive(Debug, thiserror::Error)]
#[error("durable step `{key}` cannot be taken: {reason}")]
struct StepError {
    key: String,
    reason: String,
}
