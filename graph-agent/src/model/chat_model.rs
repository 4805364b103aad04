use std::future::Future;
use std::pin::Pin;

use futures_core::Stream;
use superstep::messages::{AiMessage, MessageChunk};

use super::error::ModelError;
use super::request::ChatRequest;

/// A reply on its way.
pub type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<AiMessage, ModelError>> + Send + 'a>>;

/// A reply in pieces.
pub type ModelStream<'a> = Pin<Box<dyn Stream<Item = Result<MessageChunk, ModelError>> + Send + 'a>>;

/// A language model that goes on with a conversation.
///
/// It is object-safe: graphs hold it as `Arc<dyn ChatModel>`, so that a test can put a [`ScriptedModel`](crate::ScriptedModel) in
/// its place.
pub trait ChatModel: Send + Sync + 'static {
    /// What it is called, for logs and errors.
    fn name(&self) -> &str;

    /// Whose protocol it is asked by, for traces: one of OpenTelemetry's values for `gen_ai.provider.name`, such as `openai` or
    /// `anthropic`, if there is one.
    fn provider(&self) -> Option<&str> {
        None
    }

    /// Asks for the next message.
    ///
    /// # Errors
    /// The model could not be asked, or has refused.
    ///
    /// # Cancel safety
    /// A dropped call may have been paid for; its reply is lost.
    fn complete<'a>(&'a self, request: &'a ChatRequest) -> ModelFuture<'a>;

    /// The same in pieces as they come. A model that knows no pieces gives its reply as one. An error is the last item.
    ///
    /// # Cancel safety
    /// As of [`complete`](Self::complete); what has come is lost with the stream, but for what its reader has kept.
    fn stream<'a>(&'a self, request: &'a ChatRequest) -> ModelStream<'a>;
}
