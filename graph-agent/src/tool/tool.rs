use std::fmt;
use std::future::Future;
use std::pin::Pin;

use superstep::messages::ToolCall;
use superstep::{ContextWith, GraphState, NodeError};

use crate::model::request::ToolSpec;

use super::ToolOutput;

/// What came of a tool, on its way.
pub type ToolFuture<'a, S> = Pin<Box<dyn Future<Output = Result<ToolOutput<S>, NodeError>> + Send + 'a>>;

/// Something that a model may have called, in graphs over the state `S` with the context `D`.
///
/// [`#[tool]`](macro@crate::tool) implements it for async functions. By hand it is implemented for what is known only when the
/// program runs, such as the tools of a server.
///
/// ```
/// use superstep_agent::tool::{Tool, ToolFuture, ToolOutput, Turn};
/// use superstep_agent::ToolSpec;
/// use superstep::GraphState;
/// use serde_json::json;
///
/// /// Says what it was told.
/// struct Echo;
///
/// impl<S: GraphState, D: Send + Sync + 'static> Tool<S, D> for Echo {
///     fn spec(&self) -> ToolSpec {
///         ToolSpec {
///             name: "echo".to_owned(),
///             description: "Says what it was told.".to_owned(),
///             parameters: json!({"type": "object"}),
///         }
///     }
///
///     fn call<'a>(&'a self, turn: Turn<'a, S, D>) -> ToolFuture<'a, S> {
///         Box::pin(async move { Ok(ToolOutput::new(serde_json::to_string(&turn.call.args)?)) })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool of graphs over `{S}`",
    label = "is not a tool here",
    note = "a tool is an `async fn` marked `#[tool]`; what it reads of the run —a state, a view, `&ContextWith<_>`— has to be what the graph has"
)]
pub trait Tool<S: GraphState, D>: Send + Sync + 'static {
    /// What the model is told of it.
    fn spec(&self) -> ToolSpec;

    /// Does what the call says.
    ///
    /// An error is told to the model, which may try something else, unless it is [`Fatal`](super::Fatal).
    ///
    /// # Cancel safety
    /// It is dropped with the run. What must not be done twice goes into a [`step`](superstep::Context::step).
    fn call<'a>(&'a self, turn: Turn<'a, S, D>) -> ToolFuture<'a, S>;
}

/// A call of a tool, and the run that it is made in.
pub struct Turn<'a, S, D> {
    /// What the model wants.
    pub call: &'a ToolCall,
    /// The state, with the model's message in it.
    pub state: &'a S,
    /// The run: questions, durable steps, events, and the context.
    pub ctx: &'a ContextWith<D>,
}

impl<S, D> Clone for Turn<'_, S, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, D> Copy for Turn<'_, S, D> {}

impl<S, D> fmt::Debug for Turn<'_, S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("call", self.call).finish_non_exhaustive()
    }
}
