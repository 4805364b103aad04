use std::error::Error;
use std::fmt;

use serde_json::Value;
use superstep::GraphState;
use superstep::NodeError;
use superstep::messages::{Content, ToolStatus};
use superstep::node::Failure;
use superstep::state::IntoUpdate;

/// What came of a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolOutput<S: GraphState> {
    /// What the model is told.
    pub content: Content,
    /// What the application gets besides.
    pub artifact: Option<Value>,
    /// Whether it went well.
    pub status: ToolStatus,
    /// What is written to the state besides.
    pub update: Option<S::Update>,
}

impl<S: GraphState> ToolOutput<S> {
    /// The model is told this.
    pub fn new(content: impl Into<Content>) -> Self {
        Self { content: content.into(), artifact: None, status: ToolStatus::Success, update: None }
    }

    /// The model is told that it went wrong.
    pub fn error(content: impl Into<Content>) -> Self {
        Self { status: ToolStatus::Error, ..Self::new(content) }
    }
}

/// What a tool may return: a text, a number, JSON, a [`ToolReply`], a text with an update, nothing, or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "a tool of this graph cannot return `{Self}`",
    label = "returns `{Self}`, of which a model cannot be told in a graph over `{S}`",
    note = "a tool returns a text, a number, `serde_json::Value`, `Content`, `ToolReply`, `(text, update)` of the graph's state, `()` or a `Result` of these"
)]
pub trait IntoToolOutput<S: GraphState> {
    /// What the model is told, and what is written.
    ///
    /// # Errors
    /// The tool has failed.
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError>;
}

macro_rules! as_text {
    ($($ty:ty),*) => {$(
        impl<S: GraphState> IntoToolOutput<S> for $ty {
            fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
                Ok(ToolOutput::new(self.to_string()))
            }
        }
    )*};
}

as_text!(bool, char, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, &'static str);

impl<S: GraphState> IntoToolOutput<S> for String {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        Ok(ToolOutput::new(self))
    }
}

impl<S: GraphState> IntoToolOutput<S> for Content {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        Ok(ToolOutput::new(self))
    }
}

/// A text as it is, anything else as JSON.
impl<S: GraphState> IntoToolOutput<S> for Value {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        Ok(ToolOutput::new(match self {
            Self::String(text) => text,
            other => other.to_string(),
        }))
    }
}

/// The model is told that it is done.
impl<S: GraphState> IntoToolOutput<S> for () {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        Ok(ToolOutput::new("done"))
    }
}

impl<S: GraphState> IntoToolOutput<S> for ToolOutput<S> {
    fn into_tool_output(self) -> Result<Self, NodeError> {
        Ok(self)
    }
}

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

/// What a tool has to say, piece by piece.
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

/// Nothing is written to the state but the tool's message.
#[derive(Clone, Copy, Debug)]
pub enum NoUpdate {}

impl<S: GraphState> IntoUpdate<S> for NoUpdate {
    fn into_update(self) -> S::Update {
        match self {}
    }
}

impl ToolReply {
    /// The model is told this.
    pub fn new(content: impl Into<Content>) -> Self {
        Self { content: content.into(), artifact: None, status: ToolStatus::Success, update: None }
    }

    /// The model is told that it went wrong, and may try something else.
    pub fn error(content: impl Into<Content>) -> Self {
        Self { status: ToolStatus::Error, ..Self::new(content) }
    }
}

impl<U> ToolReply<U> {
    /// Keeps something for the application that the model is not told.
    pub fn artifact(self, artifact: impl Into<Value>) -> Self {
        Self { artifact: Some(artifact.into()), ..self }
    }

    /// Writes to the state besides.
    pub fn update<V>(self, update: V) -> ToolReply<V> {
        let Self { content, artifact, status, .. } = self;
        ToolReply { content, artifact, status, update: Some(update) }
    }
}

impl<S: GraphState, U: IntoUpdate<S>> IntoToolOutput<S> for ToolReply<U> {
    fn into_tool_output(self) -> Result<ToolOutput<S>, NodeError> {
        let Self { content, artifact, status, update } = self;
        Ok(ToolOutput { content, artifact, status, update: update.map(IntoUpdate::into_update) })
    }
}

/// An error of a tool that ends the run instead of being told to the model.
///
/// The thread can be gone on with when its cause is mended; tools that have finished are not called again.
///
/// ```
/// use superstep_agent::tool::Fatal;
/// use superstep_agent::tool;
///
/// /// Reads the ledger.
/// #[tool]
/// async fn ledger() -> superstep::Result<String> {
///     Ok(std::fs::read_to_string("ledger.txt").map_err(Fatal::new)?)
/// }
/// ```
#[derive(Debug)]
pub struct Fatal(Box<dyn Error + Send + Sync>);

impl Fatal {
    /// Ends the run with this.
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
