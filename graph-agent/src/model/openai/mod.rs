use std::fmt;

use reqwest::Response;
use serde_json::{Map, Value};
use superstep::messages::AiMessage;

mod body;
mod builder;
mod delta_reader;
mod endpoint;
mod event_size;
mod failure;
mod limits;
mod metadata;
mod reply;
mod reply_stream;
mod request;
mod sender;
mod tls;
mod usage;

pub use builder::OpenAiBuilder;

use super::chat_model::{ChatModel, ModelFuture, ModelStream};
use super::error::ModelError;
use super::request::ChatRequest;
use failure::InvalidReply;
use limits::Limits;
use reply_stream::ReplyStream;
use sender::Sender;

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
/// | a reply, or an event of a streamed reply, that exceeds its [limit](OpenAiBuilder::max_reply_size) | [`ModelError::ReplyTooLarge`] |
///
/// # Retries
///
/// A request that was refused with 408, 409, 425, 429 or 5xx (except 501), or that could not connect, is retried [twice by
/// default](OpenAiBuilder::max_retries). The wait is the one that the provider requests, or else half a second, then a second, and so
/// on. A request is not retried if the provider requests more than a minute, if the quota is used up, or once a reply has begun.
/// The error then has the [requested wait](ModelError::retry_after), which the retry policy of a node can honour.
///
/// # Secrets
///
/// No error and no `Debug` output contains the key or the value of a [header](OpenAiBuilder::header), even if a provider repeats
/// it. Header values of less than four bytes are not secrets. Errors do not contain a reply that cannot be read.
///
/// # Cancel safety
///
/// A request or stream that is dropped closes its connection.
///
/// # Runtime
///
/// Requires tokio with its timer and IO.
pub struct OpenAiModel {
    model: String,
    sender: Sender,
    limits: Limits,
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
        let response = self.send(request, false).await?;
        let body = body::read(&self.model, response, self.limits).await?;
        reply::read(self.object(&body)?).map_err(|reason| failure::invalid_reply(&self.model, reason))
    }

    async fn send(&self, request: &ChatRequest, streamed: bool) -> Result<Response, ModelError> {
        self.sender.send(self.body(request, streamed)?.to_string()).await
    }

    /// Returns the object of a reply or a chunk, or the error that it contains.
    fn object(&self, json: &[u8]) -> Result<Map<String, Value>, ModelError> {
        match serde_json::from_slice(json).map_err(|error| failure::not_json(&self.model, error))? {
            Value::Object(reply) => {
                let error = failure::error_in_reply(&self.model, &self.sender.endpoint, &reply);
                error.map_or(Ok(reply), Err)
            }
            _ => Err(failure::invalid_reply(&self.model, InvalidReply::NotAnObject)),
        }
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
            .field("endpoint", &self.sender.endpoint.base())
            .finish_non_exhaustive()
    }
}
