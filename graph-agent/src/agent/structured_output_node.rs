use std::error::Error;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use superstep::messages::sanity::RepairTexts;
use superstep::messages::{AiMessage, Content, HasMessages, Message, MessagesUpdate, Usage};
use superstep::state::Update as _;
use superstep::{ContextWith, Node, Result};
use thiserror::Error as ThisError;

use crate::model::request::{ChatRequest, ResponseSchema, ToolChoice};
use crate::shortened::shortened;
use crate::spans;
use crate::tool::schema_of;

use super::model_node::conversation;
use super::model_source::ModelSource;

/// The name of the node that asks for the final answer in an [`Agent`](super::Agent).
pub const ANSWER: &str = "answer";

/// The last message of the request. Without it the request would end with a message of the model itself.
const PROMPT: &str =
    "Summarize this conversation as JSON that matches the given schema. Reply with the JSON only.";

/// The maximum number of characters of a reply, or of an error about it, in a message.
const MAX_QUOTED_CHARS: usize = 500;

/// The maximum number of requests for one answer.
const MAX_REQUESTS: usize = 3;

/// A node that asks a model to summarize a conversation as a `T`, and writes the `T` to the state.
///
/// If the reply is not a `T`, the node sends the error to the model and asks again, at most twice. These messages are not part
/// of the conversation. If the node is cut off, it starts again with the first request.
///
/// The token usage of all these requests is added to the [usage](field@AiMessage::usage) of the last message of a model in the
/// conversation. The sum over the messages is therefore the usage of the whole conversation.
pub struct StructuredOutputNode<S: HasMessages, T, D = ()> {
    source: ModelSource<D>,
    system: Option<Content>,
    request: ChatRequest,
    texts: RepairTexts,
    schema: ResponseSchema,
    write: Arc<dyn Fn(T) -> S::Update + Send + Sync>,
    state: PhantomData<fn(S)>,
}

/// The error of a [`StructuredOutputNode`] whose model did not return the requested type.
#[derive(Debug, ThisError)]
#[error(
    "model `{model}` did not return JSON of the requested schema; its last reply was `{}`",
    shortened(reply, MAX_QUOTED_CHARS)
)]
#[non_exhaustive]
pub struct InvalidOutput {
    /// The name of the model.
    pub model: String,
    /// The text of the last reply. `Display` shortens a long one.
    pub reply: String,
    /// The reason why the reply could not be read.
    pub source: Box<dyn Error + Send + Sync>,
}

impl InvalidOutput {
    /// Creates the error for the reply of a model.
    pub fn new(
        model: impl Into<String>,
        reply: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { model: model.into(), reply: reply.into(), source: source.into() }
    }
}

impl<S: HasMessages, T: JsonSchema + DeserializeOwned, D> StructuredOutputNode<S, T, D> {
    pub(super) fn with_source(
        source: ModelSource<D>,
        write: Arc<dyn Fn(T) -> S::Update + Send + Sync>,
    ) -> Self {
        let name: String = T::schema_name()
            .chars()
            .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
            .collect();
        let schema = ResponseSchema { name, schema: schema_of::<T>() };
        let (request, texts) = (ChatRequest::default(), RepairTexts::default());
        Self { source, system: None, request, texts, schema, write, state: PhantomData }
    }

    /// Creates a node that asks this model. `write` turns the answer into an update of the state.
    pub fn new(
        model: Arc<dyn crate::ChatModel>,
        write: impl Fn(T) -> S::Update + Send + Sync + 'static,
    ) -> Self {
        Self::with_source(ModelSource::Fixed(model), Arc::new(write))
    }

    /// Sets the system message, which precedes the conversation.
    pub fn system(self, text: impl Into<Content>) -> Self {
        Self { system: Some(text.into()), ..self }
    }

    /// Sets the options of each request, such as the temperature.
    ///
    /// The messages of `request`, its schema and everything about tools are ignored: the node offers no tools.
    pub fn request(self, request: ChatRequest) -> Self {
        let mut request =
            ChatRequest { messages: Vec::new(), tools: Vec::new(), tool_choice: ToolChoice::Auto, ..request };
        for key in TOOL_FIELDS {
            request.extra.remove(key);
        }
        Self { request, ..self }
    }

    /// Sets the wording of the messages that repair a damaged conversation before it is sent.
    pub fn texts(self, texts: RepairTexts) -> Self {
        Self { texts, ..self }
    }
}

/// Fields of a provider's request that endpoints refuse in a request without tools.
const TOOL_FIELDS: [&str; 3] = ["tools", "tool_choice", "parallel_tool_calls"];

/// Returns an update that adds the usage to the last message of a model. A message without an id cannot be replaced.
fn with_usage<S: HasMessages>(state: &S, usage: Option<&Usage>) -> Option<S::Update> {
    let last: &AiMessage = state.messages().iter().rev().find_map(Message::as_ai)?;
    let mut message = last.clone();
    message.id.as_ref()?;
    *message.usage.get_or_insert_default() += usage?;
    Some(S::update_messages(MessagesUpdate::from_iter([message])))
}

impl<S, T, D> Node<ContextWith<D>> for StructuredOutputNode<S, T, D>
where
    S: HasMessages,
    T: JsonSchema + DeserializeOwned + 'static,
    D: Send + Sync + 'static,
{
    type Reads = S;
    type Output = Result<S::Update>;

    async fn run(&self, state: &S, ctx: &ContextWith<D>) -> Result<S::Update> {
        let model = self.source.model(ctx.context());
        let messages = conversation(self.system.as_ref(), state, &self.texts);
        let messages = messages.into_iter().chain([Message::human(PROMPT)]);
        let mut request = self.request.clone().response_schema(self.schema.clone());
        request.messages = messages.collect();
        let mut usage: Option<Usage> = None;
        let mut requests = 1;
        loop {
            let reply = model.complete(&request);
            let reply = spans::chat(&*model, &request, ctx.thread(), reply).await?;
            if let Some(spent) = &reply.usage {
                *usage.get_or_insert_default() += spent;
            }
            let text = reply.content.text().trim().to_owned();
            match serde_json::from_str::<T>(strip_fence(&text)) {
                Ok(answer) => {
                    let update = (self.write)(answer);
                    return Ok(match with_usage(state, usage.as_ref()) {
                        Some(spent) => spent.and(update),
                        None => update,
                    });
                }
                Err(error) if requests < MAX_REQUESTS => {
                    let schema = &self.schema.schema;
                    let error = error.to_string();
                    let error = shortened(&error, MAX_QUOTED_CHARS);
                    let correction = format!(
                        "This is not the requested JSON ({error}). Reply only with JSON that matches this schema: {schema}"
                    );
                    request.messages.extend([Message::ai(text), Message::human(correction)]);
                    requests += 1;
                }
                Err(error) => {
                    let model = model.name().to_owned();
                    return Err(InvalidOutput { model, reply: text, source: error.into() }.into());
                }
            }
        }
    }
}

/// Removes the Markdown fence that models often put around JSON.
fn strip_fence(text: &str) -> &str {
    let inside = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inside.and_then(|text| text.strip_suffix("```")).map_or(text, str::trim)
}

impl<S: HasMessages, T, D> std::fmt::Debug for StructuredOutputNode<S, T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StructuredOutputNode")
            .field("model", &self.source)
            .field("schema", &self.schema.name)
            .finish()
    }
}
