use std::future::poll_fn;
use std::marker::PhantomData;
use std::sync::Arc;

use superstep::messages::sanity::{RepairTexts, in_order};
use superstep::messages::{AiMessage, Content, HasMessages, Message, MessageAssembler, MessagesUpdate};
use superstep::{Context, ContextWith, GraphState, Node, Result};

use crate::model::request::ChatRequest;
use crate::spans;
use crate::tool::Tools;
use crate::{ChatModel, ModelError};

use super::model_source::ModelSource;

/// The name of the node that calls the model in an [`Agent`](super::Agent).
pub const MODEL: &str = "model";

/// A node that asks a model for the next message of the conversation.
///
/// The node repairs the order of the messages before it sends them. This matters if tools have added messages of their own between
/// the results of other calls.
///
/// If the run has a stream of messages, the node streams the reply to it token by token.
///
/// If the model calls tools and the run has no supersteps left for them, the node replaces the reply by a message that says so.
/// The run then ends with a valid history instead of `RecursionLimit`.
pub struct ModelNode<S, D = ()> {
    source: ModelSource<D>,
    system: Option<Content>,
    request: ChatRequest,
    out_of_steps: String,
    texts: RepairTexts,
    /// The number of supersteps that the graph needs after the last reply.
    reserved_steps: u64,
    state: PhantomData<fn(S)>,
}

impl<S: GraphState, D: Send + Sync + 'static> ModelNode<S, D> {
    /// Creates a node that uses this model.
    pub fn new(model: Arc<dyn ChatModel>) -> Self
    where
        S: HasMessages,
    {
        Self::with_source(ModelSource::Fixed(model))
    }

    /// Creates a node that takes its model from the application context of the run.
    pub fn from_context(choose: impl Fn(&D) -> Arc<dyn ChatModel> + Send + Sync + 'static) -> Self
    where
        S: HasMessages,
    {
        Self::with_source(ModelSource::Context(Arc::new(choose)))
    }

    pub(super) fn with_source(source: ModelSource<D>) -> Self {
        Self {
            source,
            system: None,
            request: ChatRequest::default(),
            out_of_steps: "Sorry, I need more steps to answer this.".to_owned(),
            texts: RepairTexts::default(),
            reserved_steps: 0,
            state: PhantomData,
        }
    }

    /// Sets the wording of the messages that repair a damaged conversation before it is sent.
    pub fn texts(self, texts: RepairTexts) -> Self {
        Self { texts, ..self }
    }

    /// Reserves this number of supersteps for the nodes after the last reply.
    pub fn reserve_steps(self, behind: u64) -> Self {
        Self { reserved_steps: behind, ..self }
    }

    /// Sets the system message. It precedes the conversation in every request and is not part of the state.
    pub fn system(self, text: impl Into<Content>) -> Self {
        Self { system: Some(text.into()), ..self }
    }

    /// Offers these tools to the model.
    pub fn tools(mut self, tools: &Tools<S, D>) -> Self {
        self.request.tools = tools.specs();
        self
    }

    /// Sets the options of each request, such as the temperature.
    ///
    /// The messages and tools of `request` are ignored: messages come from the state, tools from [`tools`](Self::tools).
    pub fn request(mut self, request: ChatRequest) -> Self {
        let tools = std::mem::take(&mut self.request.tools);
        self.request = ChatRequest { messages: Vec::new(), tools, ..request };
        self
    }

    /// Sets the text of the last message if the model calls tools and the run has no supersteps left for them.
    pub fn out_of_steps(self, text: impl Into<String>) -> Self {
        Self { out_of_steps: text.into(), ..self }
    }
}

/// One superstep for the tools, and one for the model to read their results.
const STEPS_FOR_TOOLS: u64 = 2;

impl<S: HasMessages, D: Send + Sync + 'static> Node<ContextWith<D>> for ModelNode<S, D> {
    type Reads = S;
    type Output = Result<S::Update>;

    async fn run(&self, state: &S, ctx: &ContextWith<D>) -> Result<S::Update> {
        let mut request = self.request.clone();
        request.messages = conversation(self.system.as_ref(), state, &self.texts);
        let model = self.source.model(ctx.context());
        let reply = async {
            if ctx.wants_tokens() {
                streamed(&*model, &request, state.messages(), ctx).await
            } else {
                model.complete(&request).await
            }
        };
        let mut reply = spans::chat(&*model, &request, ctx.thread(), reply).await?;
        // Some servers reuse ids. A reply with a known id would replace that message instead of being appended.
        if state.messages().iter().any(|message| message.id() == reply.id.as_deref()) {
            reply.id = None;
        }
        if reply.has_calls() && ctx.remaining_steps() < STEPS_FOR_TOOLS.saturating_add(self.reserved_steps) {
            let AiMessage { id, usage, .. } = reply;
            reply = AiMessage::new(self.out_of_steps.as_str());
            (reply.id, reply.usage) = (id, usage);
        }
        Ok(S::update_messages(MessagesUpdate::from_iter([reply])))
    }
}

/// Returns the system message and the repaired conversation.
pub(super) fn conversation<S: HasMessages>(
    system: Option<&Content>,
    state: &S,
    texts: &RepairTexts,
) -> Vec<Message> {
    let system = system.map(|text| Message::system(text.clone()));
    system.into_iter().chain(in_order(state.messages(), texts)).collect()
}

/// Sends the chunks of a reply to the stream of the run, and returns the reply.
///
/// The chunks and the reply have the same id, by which a client recognizes the reply in the state. If the model gives none, or
/// one that the conversation has, they get a new one.
async fn streamed(
    model: &dyn ChatModel,
    request: &ChatRequest,
    known: &[Message],
    cx: &Context,
) -> std::result::Result<AiMessage, ModelError> {
    let mut chunks = model.stream(request);
    let mut reply = MessageAssembler::default();
    let mut id = None;
    while let Some(chunk) = poll_fn(|cx| chunks.as_mut().poll_next(cx)).await {
        let mut chunk = chunk?;
        let id = id.get_or_insert_with(|| {
            let given = chunk.id.take().filter(|id| known.iter().all(|message| message.id() != Some(id)));
            given.filter(|id| !id.is_empty()).unwrap_or_else(new_id)
        });
        chunk.id = Some(id.clone());
        reply.push(&chunk);
        cx.token(chunk).await;
    }
    Ok(reply.finish())
}

/// Creates an id like that of a message without one.
fn new_id() -> String {
    format!("m-{}", ulid::Ulid::generate().to_string().to_ascii_lowercase())
}

impl<S, D> std::fmt::Debug for ModelNode<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelNode").field("model", &self.source).finish_non_exhaustive()
    }
}
