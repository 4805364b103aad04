use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use serde_json::Value;

use crate::engine::context::context::Context;
use crate::error::NodeError;
use crate::interrupt::{CheckpointValue as _, OpenInterrupt, Question};

/// The result of calling a node directly; see [`Context::until_interrupt`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Attempted<T> {
    /// The node has returned this value.
    Returned(T),
    /// The node waits for answers to these questions. A run would be interrupted here.
    Interrupted(Vec<OpenInterrupt>),
    /// The node's task would fail with this error, whatever the node returns. An example is a question inside a step.
    Failed(NodeError),
}

impl Context {
    /// Prepares the answer to the next question of type `Q`, for a detached context.
    ///
    /// Several calls prepare the answers to several questions, in this order.
    ///
    /// ```
    /// # use superstep::{Context, GraphState, interrupt::{Attempted, Question}};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Approve;
    /// # impl Question for Approve { type Answer = bool; }
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { bought: bool }
    /// async fn buy(_: &Order, cx: &Context) -> OrderUpdate {
    ///     Order::update().bought(cx.interrupt(Approve).await)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// let order = Order::started(Order::input())?;
    /// let update = buy(&order, &Context::detached("buy").answering::<Approve>(true)).await;
    /// assert!(order.updated(update)?.bought);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Ignored for the context of a run, and for an answer that cannot be stored.
    pub fn answering<Q: Question>(self, answer: Q::Answer) -> Self {
        if let (Some(script), Ok(answer)) = (&self.shared.script, answer.__to_json()) {
            script.add(Q::name(), answer);
        }
        self
    }

    /// Calls a node directly, with a detached context, until it returns or waits for an answer that was not
    /// [prepared](Self::answering).
    ///
    /// A node that is awaited without this method stays pending at such a question.
    ///
    /// ```
    /// # use superstep::{Context, GraphState, interrupt::{Attempted, Question}};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Approve;
    /// # impl Question for Approve { type Answer = bool; }
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { bought: bool }
    /// # async fn buy(_: &Order, cx: &Context) -> OrderUpdate {
    /// #     Order::update().bought(cx.interrupt(Approve).await)
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// let order = Order::started(Order::input())?;
    /// let cx = Context::detached("buy");
    /// match cx.until_interrupt(buy(&order, &cx)).await {
    ///     Attempted::Interrupted(questions) => assert_eq!(questions[0].name, "Approve"),
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// In a run this method only awaits `node`: there the whole task is suspended.
    pub async fn until_interrupt<T>(&self, node: impl Future<Output = T>) -> Attempted<T> {
        let mut node = pin!(node);
        poll_fn(|cx| {
            let polled = node.as_mut().poll(cx);
            if self.shared.script.is_some()
                && let Some(scratch) = self.used_scratch()
            {
                if let Some(fault) = scratch.take_fault() {
                    return Poll::Ready(Attempted::Failed(fault));
                }
                if polled.is_pending() {
                    let open = scratch.take_open();
                    if !open.is_empty() {
                        return Poll::Ready(Attempted::Interrupted(open));
                    }
                }
            }
            polled.map(Attempted::Returned)
        })
        .await
    }

    /// Takes the next prepared answer to a question of this name.
    pub(crate) fn scripted(&self, name: &str) -> Option<Value> {
        self.shared.script.as_ref()?.take(name)
    }
}
