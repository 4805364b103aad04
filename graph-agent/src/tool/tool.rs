use std::fmt;
use std::future::Future;
use std::pin::Pin;

use superstep::messages::ToolCall;
use superstep::{ContextWith, GraphState, NodeError};

use crate::model::request::ToolSpec;

use super::ToolOutput;

/// The future of a tool call.
pub type ToolFuture<'a, S> = Pin<Box<dyn Future<Output = Result<ToolOutput<S>, NodeError>> + Send + 'a>>;

/// A tool that a model may call, in graphs over the state `S` with the application context `D`.
///
/// [`#[tool]`](macro@crate::tool) implements it for async functions. Implement it by hand for tools that are known only at run
/// time, such as the tools of a server.
///
/// ```
/// use superstep_agent::tool::{Tool, ToolFuture, ToolOutput, ToolInvocation};
/// use superstep_agent::ToolSpec;
/// use superstep::GraphState;
/// use serde_json::json;
///
/// /// Returns its arguments.
/// struct Echo;
///
/// impl<S: GraphState, D: Send + Sync + 'static> Tool<S, D> for Echo {
///     fn spec(&self) -> ToolSpec {
///         ToolSpec::new("echo", "Returns its arguments.", json!({"type": "object"}))
///     }
///
///     fn call<'a>(&'a self, turn: ToolInvocation<'a, S, D>) -> ToolFuture<'a, S> {
///         Box::pin(async move { Ok(ToolOutput::new(serde_json::to_string(&turn.call.args)?)) })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool for graphs over `{S}`",
    label = "not a tool for this graph",
    note = "a tool is an `async fn` marked `#[tool]`; the state, views and `&ContextWith<_>` that it takes must be those of the graph"
)]
pub trait Tool<S: GraphState, D>: Send + Sync + 'static {
    /// Returns the description of the tool for the model.
    fn spec(&self) -> ToolSpec;

    /// Executes the call.
    ///
    /// The model gets the error and may try something else. Only a [`Fatal`](super::Fatal) error fails the node instead.
    ///
    /// # Cancel safety
    /// The future is dropped with the run. Put an action that must not happen twice into a [`step`](superstep::Context::step).
    fn call<'a>(&'a self, turn: ToolInvocation<'a, S, D>) -> ToolFuture<'a, S>;
}

/// A tool call together with the state and the context of its run.
#[non_exhaustive]
pub struct ToolInvocation<'a, S, D> {
    /// The call that the model requested.
    pub call: &'a ToolCall,
    /// The state, which already contains the message with the call.
    pub state: &'a S,
    /// The context of the run: interrupts, durable steps, events and the application context.
    pub cx: &'a ContextWith<D>,
}

impl<S, D> Clone for ToolInvocation<'_, S, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, D> Copy for ToolInvocation<'_, S, D> {}

impl<S, D> fmt::Debug for ToolInvocation<'_, S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("call", self.call).finish_non_exhaustive()
    }
}
