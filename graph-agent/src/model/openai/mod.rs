use std::fmt;

use async_openai::Client;
use async_openai::error::OpenAIError;
use serde_json::{Map, Value};
use superstep::messages::AiMessage;

mod builder;
mod delta;
mod endpoint;
mod failure;
mod metadata;
mod reading;
mod reply;
mod request;
mod usage;
mod wire;

pub use builder::OpenAiBuilder;

use super::chat_model::{ChatModel, ModelFuture, ModelStream};
use super::error::ModelError;
use super::request::ChatRequest;
use endpoint::Endpoint;
use failure::Fault;
use reading::Reading;

/// A model behind a chat endpoint that understands OpenAI's protocol: OpenAI itself, most other providers, servers on one's own
/// machine.
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
/// # What is sent
///
/// The messages in the form of chat endpoints, and what the [request](ChatRequest) says besides. `max_tokens` goes to OpenAI as
/// `max_completion_tokens`, as its newer models want it, and to others as it is called. An [answer's
/// schema](ChatRequest::answer) is sent without `strict`, which few schemas are fit for. Fields of
/// [`ChatRequest::extra`] replace ours, but for `stream`; one that is null takes ours out. A reply has one choice: of several
/// (`n`) the first is read.
///
/// # What comes back
///
/// Model, `finish_reason`, the provider's id and everything else that it says of the reply are in
/// [`response_metadata`](AiMessage::response_metadata); tokens in [`usage`](field@AiMessage::usage), with the details as LangChain
/// names them; fields of the message that only this provider knows, a refusal among them, in
/// [`additional_kwargs`](AiMessage::additional_kwargs); a thought that comes with the reply is a block of its content. The
/// message has no id: not every provider's ids differ.
///
/// # What goes wrong
///
/// | | is |
/// |---|---|
/// | nobody there, a broken connection, silence for longer than the [timeout](OpenAiBuilder::timeout), a reply that breaks off | [`ModelError::Unreachable`] |
/// | any status but success, whatever its body is; an error in place of a reply or in the middle of one | [`ModelError::Refused`], [`ModelError::QuotaExceeded`] |
/// | no choice, no message, no JSON | [`ModelError::NoReply`] |
///
/// A streamed reply is whole when it says why it has stopped; one that ends before is an error.
///
/// A request that was refused for now (408, 409, 425, 429, 5xx) or did not get through is made again, [twice](OpenAiBuilder::retries)
/// if nothing else is said: after as long as the provider asks for, up to a minute, or after half a second, a second, and so on.
/// A provider that asks for more, or whose quota is used up, is not asked again. Nothing is asked again once a reply has begun.
///
/// The key is in no error and no `Debug`, also when a provider repeats it. A reply that cannot be read is in no error of ours,
/// but the client `async-openai` logs it with `tracing`, under the target `async_openai`.
///
/// # Runtime
///
/// It needs tokio with its timer and IO. A streamed reply is read by a task of its own, which ends with the stream.
pub struct OpenAiModel {
    model: String,
    client: Client<Endpoint>,
    /// What the field is called that says how many tokens there may be at most.
    max_tokens: &'static str,
}

impl OpenAiModel {
    /// A model of this name.
    pub fn builder(model: impl Into<String>) -> OpenAiBuilder {
        OpenAiBuilder::new(model)
    }

    /// The model that the environment names, if it does: see [`OpenAiBuilder::from_env`].
    ///
    /// # Errors
    /// [`ModelError::Setup`]: the base URL is no URL, or the key no key.
    pub fn from_env() -> Result<Option<Self>, ModelError> {
        OpenAiBuilder::from_env().map(OpenAiBuilder::build).transpose()
    }

    async fn ask(&self, request: &ChatRequest) -> Result<AiMessage, ModelError> {
        let body = self.body(request, false)?;
        let reply = self.client.chat().create_byot(body).await;
        reply::read(self.object(reply)?).map_err(|fault| failure::no_reply(&self.model, fault))
    }

    /// A reply, or a piece of one; an error that comes in its place is one.
    fn object(&self, came: Result<Value, OpenAIError>) -> Result<Map<String, Value>, ModelError> {
        let came = came.map_err(|error| failure::of(&self.model, error))?;
        let Value::Object(reply) = came else { return Err(failure::no_reply(&self.model, Fault::NoObject)) };
        failure::instead_of_a_reply(&self.model, self.client.config(), &reply).map_or(Ok(reply), Err)
    }

    fn body(&self, request: &ChatRequest, streamed: bool) -> Result<Value, ModelError> {
        request::body(&self.model, request, self.max_tokens, streamed)
            .map_err(|reason| ModelError::Request { model: self.model.clone(), reason })
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
        Box::pin(Reading::new(self, request))
    }
}

impl fmt::Debug for OpenAiModel {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel")
            .field("model", &self.model)
            .field("endpoint", &self.client.config().base())
            .finish_non_exhaustive()
    }
}
