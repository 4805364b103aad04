use std::future::Future;
use std::pin::Pin;

use futures_core::Stream;
use superstep::messages::{AiMessage, MessageChunk};

use super::error::ModelError;
use super::request::ChatRequest;

/// The future of a reply.
pub type ModelFuture<'a> = Pin<Box<dyn Future<Output = Result<AiMessage, ModelError>> + Send + 'a>>;

/// A reply as a stream of chunks.
pub type ModelStream<'a> = Pin<Box<dyn Stream<Item = Result<MessageChunk, ModelError>> + Send + 'a>>;

/// A language model that writes the next message of a conversation.
///
/// A streamed reply has to equal the complete one: see [`MessageAssembler`](superstep::messages::MessageAssembler). The feature
/// `conformance` has a test for every promise of this trait.
///
/// The trait is object-safe. Graphs hold an `Arc<dyn ChatModel>`, so that tests can use a [`ScriptedModel`](crate::ScriptedModel).
pub trait ChatModel: Send + Sync + 'static {
    /// Returns the name of the model, for logs and errors.
    fn name(&self) -> &str;

    /// Returns the provider of the model's protocol, for traces.
    ///
    /// This is one of OpenTelemetry's values for `gen_ai.provider.name`, such as `openai` or `anthropic`. The default is `None`.
    fn provider(&self) -> Option<&str> {
        None
    }

    /// Requests the next message of the conversation.
    ///
    /// # Errors
    /// The model could not be reached, it refused the request, or the reply is cut off or too large.
    ///
    /// # Cancel safety
    /// A dropped request closes its connection. It may still be billed, and its reply is lost.
    fn complete<'a>(&'a self, request: &'a ChatRequest) -> ModelFuture<'a>;

    /// Requests the next message and streams its chunks as they arrive.
    ///
    /// A model that cannot stream returns its reply as one chunk. An error is the last item of the stream, also if the reply is cut
    /// off. The chunks have everything that a complete reply has, such as usage and signatures.
    ///
    /// # Cancel safety
    /// Same as [`complete`](Self::complete). Only the chunks that the caller has already received remain.
    fn stream<'a>(&'a self, request: &'a ChatRequest) -> ModelStream<'a>;
}
