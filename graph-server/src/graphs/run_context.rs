use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use superstep::Metadata;

/// The part of a request to run a graph from which the context of the run is made.
///
/// See [`Server::graph_with_context`](crate::Server::graph_with_context).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunContext {
    /// The thread of the run. Empty for a run without a thread.
    pub thread_id: Arc<str>,
    /// The run. Empty for an update of the state.
    pub run_id: Arc<str>,
    /// The assistant. Empty for an update of the state.
    pub assistant_id: Arc<str>,
    /// The `context` of the request over that of the assistant. An empty object without both.
    ///
    /// Older clients send it as `config.configurable`.
    pub context: Metadata,
    /// The id of the [`Identity`](crate::Identity) that has sent the request. `None` if callers are not told apart.
    pub identity: Option<Arc<str>>,
}

impl Default for RunContext {
    fn default() -> Self {
        let empty = || Arc::from("");
        Self {
            thread_id: empty(),
            run_id: empty(),
            assistant_id: empty(),
            context: Metadata::new(),
            identity: None,
        }
    }
}

impl RunContext {
    /// Reads the `context` of the request as a type.
    ///
    /// # Errors
    /// The JSON does not fit the type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ContextError> {
        T::deserialize(Value::Object(self.context.clone())).map_err(ContextError::new)
    }
}

/// The reason why no context can be made from a request. The client gets it with status 422.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the context of the run is refused: {0}")]
pub struct ContextError(String);

impl ContextError {
    /// Creates an error with a message for the client.
    pub fn new(message: impl std::fmt::Display) -> Self {
        Self(message.to_string())
    }
}

/// Makes the context of a run from its request.
pub(super) type MakeContext<D> = Arc<dyn Fn(&RunContext) -> Result<Arc<D>, ContextError> + Send + Sync>;
