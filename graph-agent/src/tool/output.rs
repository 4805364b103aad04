use std::error::Error;
use std::fmt;

use serde_json::Value;
use superstep::GraphState;
use superstep::NodeError;
use superstep::messages::{Content, ToolStatus};
use superstep::node::Failure;
use superstep::state::IntoUpdate;

/// The result of a tool call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolOutput<S: GraphState> {
    /// The content for the model.
    pub content: Content,
    /// A value for the application, which the model does not get.
    pub artifact: Option<Value>,
    /// The status of the call: success or error.
    pub status: ToolStatus,
    /// An update of the state, in addition to the tool's message.
    pub update: Option<S::Update>,
}

impl<S: GraphState> ToolOutput<S> {
    /// Creates a successful result with this content for the model.
    pub fn new(content: impl Into<Content>) -> Self {
        Self { content: content.into(), artifact: None, status: ToolStatus::Success, update: None }
    }

    /// Creates a result with the status `error` and this content for the model.
    pub fn error(content: impl Into<Content>) -> Self {
        Self { status: ToolStatus::Error, ..Self::new(content) }
    }
}

/// A return type of a tool.
///
/// It is implemented for strings, numbers, JSON, [`Content`], [`ToolReply`], pairs of content and an update, `()`, and a `Result`
/// of these.
#[diagnostic::on_unimplemented(
    message = "a tool of this graph cannot return `{Self}`",
    label = "returns `{Self}`, which is not a tool result in a graph over `{S}`",
    note = "a tool returns a string, a number, `serde_json::Value`, `Content`, `ToolReply`, `(content, update)` of the graph's state, `()` or a `Result` of these"
)]
pub trait IntoToolOutput<S: GraphState> {
    /// Converts the return value into the result of the call.
    ///
    /// # Errors
    /// The value is the tool's error.
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError>;
}

macro_rules! as_text {
    ($($ty:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<S: GraphState> IntoToolOutput<S> for $ty {
            fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
                Ok(ToolOutput::new(self.to_string()))
            }
        }
    )*};
}

as_text!(bool, char, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, &'static str);

#[diagnostic::do_not_recommend]
impl<S: GraphState> IntoToolOutput<S> for String {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        Ok(ToolOutput::new(self))
    }
}

#[diagnostic::do_not_recommend]
impl<S: GraphState> IntoToolOutput<S> for Content {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        Ok(ToolOutput::new(self))
    }
}

/// A JSON string becomes plain text; any other value becomes JSON.
#[diagnostic::do_not_recommend]
impl<S: GraphState> IntoToolOutput<S> for Value {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        Ok(ToolOutput::new(match self {
            Self::String(text) => text,
            other => other.to_string(),
        }))
    }
}

/// The model gets the text `done`.
#[diagnostic::do_not_recommend]
impl<S: GraphState> IntoToolOutput<S> for () {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        Ok(ToolOutput::new("done"))
    }
}

#[diagnostic::do_not_recommend]
impl<S: GraphState> IntoToolOutput<S> for ToolOutput<S> {
    fn into_tool_output(self) -> Result<Self, NodeError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<S: GraphState, C: Into<Content>, U: IntoUpdate<S>> IntoToolOutput<S> for (C, U) {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        Ok(ToolOutput { update: Some(self.1.into_update()), ..ToolOutput::new(self.0) })
    }
}

impl<S: GraphState, T: IntoToolOutput<S>, E: Failure> IntoToolOutput<S> for Result<T, E> {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        self.map_err(Failure::into_node_error)?.into_tool_output()
    }
}

/// A tool's reply with optional parts: an artifact, an error status, a state update.
///
/// ```
/// use superstep_agent::tool::ToolReply;
/// use serde_json::json;
///
/// let reply = ToolReply::new("3 rows").artifact(json!([1, 2, 3]));
/// # let _ = reply;
/// ```
#[derive(Clone, Debug)]
pub struct ToolReply<U = NoUpdate> {
    content: Content,
    artifact: Option<Value>,
    status: ToolStatus,
    update: Option<U>,
}

/// The type of a [`ToolReply`] without an update: only the tool's message is written to the state.
#[derive(Clone, Copy, Debug)]
pub enum NoUpdate {}

impl<S: GraphState> IntoUpdate<S> for NoUpdate {
    fn into_update(self) -> S::Update {
        match self {}
    }
}

impl ToolReply {
    /// Creates a successful reply with this content for the model.
    pub fn new(content: impl Into<Content>) -> Self {
        Self { content: content.into(), artifact: None, status: ToolStatus::Success, update: None }
    }

    /// Creates a reply with the status `error`. The model gets the content and may try something else.
    pub fn error(content: impl Into<Content>) -> Self {
        Self { status: ToolStatus::Error, ..Self::new(content) }
    }
}

impl<U> ToolReply<U> {
    /// Attaches a value for the application, which the model does not get.
    pub fn artifact(self, artifact: impl Into<Value>) -> Self {
        Self { artifact: Some(artifact.into()), ..self }
    }

    /// Adds an update of the state.
    pub fn update<V>(self, update: V) -> ToolReply<V> {
        let Self { content, artifact, status, .. } = self;
        ToolReply { content, artifact, status, update: Some(update) }
    }
}

#[diagnostic::do_not_recommend]
impl<S: GraphState, U: IntoUpdate<S>> IntoToolOutput<S> for ToolReply<U> {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        let Self { content, artifact, status, update } = self;
        Ok(ToolOutput { content, artifact, status, update: update.map(IntoUpdate::into_update) })
    }
}

/// An error of a tool that fails the run instead of being sent to the model.
///
/// Once the cause is fixed, the thread can be resumed. Tool calls that have finished do not run again.
///
/// ```
/// use superstep_agent::tool::Fatal;
/// use superstep_agent::tool;
///
/// /// Reads the price list.
/// #[tool]
/// async fn prices() -> superstep::Result<String> {
///     Ok(std::fs::read_to_string("prices.txt").map_err(Fatal::new)?)
/// }
/// ```
#[derive(Debug)]
pub struct Fatal(Box<dyn Error + Send + Sync>);

impl Fatal {
    /// Wraps an error so that it fails the run.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Fatal {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
