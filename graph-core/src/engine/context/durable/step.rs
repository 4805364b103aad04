use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use crate::checkpoint::RecordKind;
use crate::engine::context::context::Context;
use crate::error::{Failure, NodeError};
use crate::limits::MAX_NAME_BYTES;
use crate::payload::{Payload, Storable, Unreadable, from_payload, to_payload};

use super::ids;
use super::task_memory::OF_HANDLER;

/// A durable step; created by [`Context::step`]. It starts when it is awaited.
// Generic over the result only and without a bound: rustc then reports a result that cannot be stored once, where the
// step is created.
#[must_use = "a step runs when it is awaited"]
pub struct DurableStep<'c, T>(Pin<Box<dyn Future<Output = Result<T, NodeError>> + Send + 'c>>);

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
    /// Runs a future as a durable step: its result is stored before the node continues, and returned when the node
    /// runs again.
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
    /// The key identifies the step inside its task. It may be used once in an attempt, and it must be the same
    /// whenever the node runs again.
    ///
    /// - An `Err` is not stored: the step runs again with the node. To try several times in one attempt, retry inside
    ///   the step.
    /// - [`interrupt`](Self::interrupt) inside a step fails the task.
    /// - A step is forgotten together with its task. If the task is abandoned (by new input with `abandon_pending`,
    ///   or by `thread.update`), a later task runs the step again with another idempotency key. For an effect that
    ///   must never happen twice, use a key from your own domain, such as the order's number.
    /// - In a run without a checkpointer, the results of finished steps are kept in memory until the superstep ends.
    ///
    /// # Errors
    /// Returns the error of the step. In these cases the task fails, whatever the node does with the error:
    ///
    /// - the key was used before in this attempt
    /// - the result cannot be stored
    /// - the stored result cannot be read as a `T`
    /// - the checkpointer fails
    ///
    /// # Durability
    /// Everything that the step depends on is durable before the step begins, and its result is durable before this
    /// returns. Both hold in every [`Durability`](crate::Durability) mode. After a crash in between, the step runs
    /// again: pass an [`idempotency_key`](Self::idempotency_key) to the service that it calls.
    ///
    /// # Cancel safety
    /// Dropping the future has the effect of a crash: the step may have run in part, or completely without its result
    /// being stored, and it runs again with the node. An open question next to the step suspends the task only after
    /// the step has finished.
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
        let scratch = self.scratch();
        scratch.beat();
        if !scratch.step(key) {
            return Err(self.misused(key, "its key is used twice in one attempt".to_owned()));
        }
        if key.starts_with(OF_HANDLER) {
            return Err(
                self.misused(key, "its key begins with a control character, which is reserved".to_owned())
            );
        }
        if key.len() > MAX_NAME_BYTES {
            let reason = format!(
                "its key is {} bytes long, but at most {MAX_NAME_BYTES} can be stored: use a shorter one",
                key.len()
            );
            return Err(self.misused(&shortened(key), reason));
        }
        // The task is not suspended before the step has finished.
        let _under_way = scratch.begins_step();
        let named = key;
        let key = &*match scratch.failure() {
            None => Cow::Borrowed(key),
            Some(_) => Cow::Owned(format!("{OF_HANDLER}{key}")),
        };
        if let Some(stored) = self.memory(|memory| memory.steps.get(key).cloned()) {
            if self.memory(|memory| memory.unsaved.contains(key)) {
                self.save(key, stored.clone()).await?;
            }
            let result =
                from_payload(&stored).map_err(|reason| self.misused(key, self.unreadable(&reason)))?;
            self.step_finished(named, true).await;
            return Ok(result);
        }
        if let Some(log) = &self.shared.steps {
            log.flush().await.map_err(|error| self.unstored(key, error))?;
        }
        let mut step = pin!(step);
        let result = poll_fn(|cx| {
            let _polled = scratch.polls_step();
            step.as_mut().poll(cx)
        });
        let result = result.await;
        scratch.beat();
        let result = result.map_err(Failure::into_node_error)?;
        let stored = to_payload(&result)
            .map_err(|unstorable| self.misused(key, format!("its result {unstorable}")))?;
        // In memory from here on, durable a little later. If the attempt ends in between, the result is written
        // again, but the step does not run again.
        self.memory(|memory| {
            memory.steps.insert(key.to_owned(), stored.clone());
            memory.unsaved.insert(key.to_owned());
        });
        self.save(key, stored).await?;
        self.step_finished(named, false).await;
        Ok(result)
    }

    /// Returns an idempotency key for an effect of this task.
    ///
    /// The key is the same when the task runs again, and different for every other task, thread and run. Pass it to a
    /// service that performs an effect once per key.
    pub fn idempotency_key(&self, key: &str) -> String {
        ids::idempotency(self.shared.memories.scope(), &self.scratch().task, key)
    }

    /// Stores the result of a step durably.
    async fn save(&self, key: &str, result: Payload) -> Result<(), NodeError> {
        if let Some(log) = &self.shared.steps {
            log.record(self.at.task(), RecordKind::Step, key, result)
                .await
                .map_err(|error| self.unstored(key, error))?;
        }
        self.memory(|memory| memory.unsaved.remove(key));
        Ok(())
    }

    /// Fails the attempt, and returns the same error for the node.
    fn misused(&self, key: &str, reason: String) -> NodeError {
        let error = |reason| StepError { key: key.trim_start_matches(OF_HANDLER).to_owned(), reason };
        self.scratch().fail(error(reason.clone()).into());
        error(reason).into()
    }

    /// Returns the reason why a stored result is not used.
    fn unreadable(&self, reason: &Unreadable) -> String {
        // The task's id begins with the checkpoint that planned it.
        let place = match self.thread() {
            Some(thread) => format!(" (thread `{thread}`, task `{}`)", self.scratch().task),
            None => String::new(),
        };
        format!(
            "its stored result cannot be read: {reason}{place}; let its type read the old JSON, for example with \
             `#[serde(default)]` on a new field, or change the key to run the step again"
        )
    }

    /// Fails the attempt with an error of the checkpointer, and returns a description of it for the node.
    fn unstored(&self, key: &str, error: NodeError) -> NodeError {
        let reason = format!("the checkpointer failed: {error}");
        self.scratch().fail(error);
        StepError { key: key.trim_start_matches(OF_HANDLER).to_owned(), reason }.into()
    }
}

/// Returns the beginning of a key, for an error text.
fn shortened(key: &str) -> String {
    key.chars().take(64).chain(['…']).collect()
}

/// The misuse or failure of a durable step.
#[derive(Debug, thiserror::Error)]
#[error("durable step `{key}` failed: {reason}")]
struct StepError {
    key: String,
    reason: String,
}
