use std::fmt;

use async_openai::Client;
use async_openai::error::OpenAIError;
use serde_json::{Map, Value};
use superstep::messages::AiMessage;

mod builder;
mod delta_reader;
mod endpoint;
mod failure;
mod http_service;
mod metadata;
mod reply;
mod reply_stream;
mod request;
mod usage;

pub use builder::OpenAiBuilder;

use super::chat_model::{ChatModel, ModelFuture, ModelStream};
use super::error::ModelError;
use super::request::ChatRequest;
use endpoint::Endpoint;
use failure::InvalidReply;
use reply_stream::ReplyStream;

/// A model behind a chat endpoint that speaks OpenAI's protocol: OpenAI, most other providers, and local servers.
///
/// ```no_run
/// use superstep_agent::{ChatModel, ChatRequest, OpenAiModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = OpenAiModel::builder("qwen3").endpoint("http://localhost:8000/v1").build()?;
/// let reply = model.complete(&ChatRequest::new(["why is the sky blue?"])).await?;
/// println!("{}", reply.content.text());
/// # Ok(())
/// # }
/// ```
///
/// # Requests
///
/// A request contains the messages in OpenAI's form and the options of the [`ChatRequest`]:
///
/// - `max_tokens` is sent to OpenAI as `max_completion_tokens`, which its newer models require, and to others under its own name.
/// - The [schema of the answer](ChatRequest::response_schema) is sent without `strict`, which only few schemas satisfy.
/// - A field of [`ChatRequest::extra`] replaces the field of the same name, except `stream`. A null removes the field.
///
/// # Replies
///
/// | part of the reply | field of the [`AiMessage`] |
/// |---|---|
/// | model, `finish_reason`, the provider's id, all other metadata | [`response_metadata`](AiMessage::response_metadata) |
/// | token counts, with LangChain's names for the details | [`usage`](field@AiMessage::usage) |
/// | unknown fields of the message, such as a refusal | [`additional_kwargs`](AiMessage::additional_kwargs) |
/// | reasoning | a block of the content |
///
/// Only the first choice is read, even if `n` requests several. The message has no id, since the ids of some providers are not
/// unique. A streamed reply is complete only if it has a finish reason; a stream that ends earlier is an error.
///
/// # Errors
///
/// | failure | error |
/// |---|---|
/// | no connection, a broken connection, no data until the [timeout](OpenAiBuilder::timeout), a reply that is cut off | [`ModelError::Unreachable`] |
/// | any status other than success, with any body; an error object instead of a reply or in the middle of one | [`ModelError::Refused`], [`ModelError::QuotaExceeded`] |
/// | a reply without a choice or message, or that is not JSON | [`ModelError::NoReply`] |
///
/// # Retries
///
/// A request that was refused with 408, 409, 425, 429 or 5xx (except 501), or that could not connect, is retried [twice by
/// default](OpenAiBuilder::max_retries). The wait is the one that the provider requests, or else half a second, then a second, and so
/// on. A request is not retried if the provider requests more than a minute, if the quota is used up, or once a reply has begun.
///
/// # Secrets
///
/// No error and no `Debug` output contains the key, even if a provider repeats it. Our errors do not contain a reply that cannot
/// be read, but `async-openai` logs it with `tracing` under the target `async_openai`.
///
/// # Runtime
///
/// Requires tokio with its timer and IO. A task of its own reads a streamed reply and ends with the stream.
pub struct OpenAiModel {
    model: String,
    client: Client<Endpoint>,
    /// The name of the field for the maximum number of tokens.
    max_tokens: &'static str,
}

impl OpenAiModel {
    /// Returns a builder for the model of this name.
    pub fn builder(model: impl Into<String>) -> OpenAiBuilder {
        OpenAiBuilder::new(model)
    }

    /// Creates the model that the environment variables describe: see [`OpenAiBuilder::from_env`].
    ///
    /// Returns `None` if neither a base URL nor a key is set.
    ///
    /// # Errors
    /// [`ModelError::InvalidConfig`], as for [`OpenAiBuilder::build`].
    pub fn from_env() -> Result<Option<Self>, ModelError> {
        OpenAiBuilder::from_env().map(OpenAiBuilder::build).transpose()
    }

    async fn ask(&self, request: &ChatRequest) -> Result<AiMessage, ModelError> {
        let body = self.body(request, false)?;
        let reply = self.client.chat().create_byot(body).await;
        reply::read(self.object(reply)?).map_err(|reason| failure::invalid_reply(&self.model, reason))
    }

    /// Returns the object of a reply or a chunk, or the error that it contains.
    fn object(&self, response: Result<Value, OpenAIError>) -> Result<Map<String, Value>, ModelError> {
        let response = response.map_err(|error| failure::from_client(&self.model, error))?;
        let Value::Object(reply) = response else {
            return Err(failure::invalid_reply(&self.model, InvalidReply::NotAnObject));
        };
        failure::error_in_reply(&self.model, self.client.config(), &reply).map_or(Ok(reply), Err)
    }

    fn body(&self, request: &ChatRequest, streamed: bool) -> Result<Value, ModelError> {
        request::body(&self.model, request, self.max_tokens, streamed)
            .map_err(|reason| ModelError::InvalidRequest { model: self.model.clone(), reason })
    }
}

impl ChatModel for OpenAiModel {
    fn name(&self) -> &str {
        &self.model
    }

    fn provider(&self) -> Option<&str> {
        Some("openai")
    }

    fn complete<'a>(&'a self, request: &'a ChatRequest) -> ModelFuture<'a> {
        Box::pin(self.ask(request))
    }

    fn stream<'a>(&'a self, request: &'a ChatRequest) -> ModelStream<'a> {
        Box::pin(ReplyStream::new(self, request))
    }
}

impl fmt::Debug for OpenAiModel {
    /// Omits the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel")
            .field("model", &self.model)
            .field("endpoint", &self.client.config().base())
            .finish_non_exhaustive()
    }
}
