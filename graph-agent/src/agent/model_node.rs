use std::future::poll_fn;
use std::marker::PhantomData;
use std::sync::Arc;

use superstep::messages::sanity::{Texts, in_order};
use superstep::messages::{AiMessage, Content, HasMessages, Message, MessageAssembler, MessagesUpdate};
use superstep::{Context, ContextWith, Node, Result};

use crate::model::request::ChatRequest;
use crate::spans;
use crate::tool::Tools;
use crate::{ChatModel, ModelError};

use super::chosen::Chosen;

/// The name of the node that asks the model, in an [`Agent`](super::Agent).
pub const MODEL: &str = "model";

/// A node that asks a model for the next message of the conversation.
///
/// What is sent is in order, also where tools have written messages of their own between each other's answers.
///
/// While somebody listens to the run's messages, the reply is streamed to them as it is written.
///
/// When the model wants tools called and the run has no steps left for that, the reply is replaced by one that says so: the
/// run then ends with a valid history instead of with `RecursionLimit`.
pub struct ModelNode<S, D = ()> {
    model: Chosen<D>,
    system: Option<Content>,
    request: ChatRequest,
    out_of_steps: String,
    texts: Texts,
    /// So many supersteps follow the last reply.
    behind: u64,
    state: PhantomData<fn(S)>,
}

impl<S: HasMessages, D: Send + Sync + 'static> ModelNode<S, D> {
    /// A node that asks this model.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self::of(Chosen::Always(model))
    }

    /// A node that asks the model that the run's context chooses.
    pub fn from_context(choose: impl Fn(&D) -> Arc<dyn ChatModel> + Send + Sync + 'static) -> Self {
        Self::of(Chosen::By(Arc::new(choose)))
    }

    pub(super) fn of(model: Chosen<D>) -> Self {
        Self {
            model,
            system: None,
            request: ChatRequest::default(),
            out_of_steps: "Sorry, I need more steps to answer this.".to_owned(),
            texts: Texts::default(),
            behind: 0,
            state: PhantomData,
        }
    }

    /// What is said where the conversation has to be put in order before it is sent.
    pub fn texts(self, texts: Texts) -> Self {
        Self { texts, ..self }
    }

    /// Leaves so many supersteps for what follows the last reply.
    pub fn steps_behind(self, behind: u64) -> Self {
        Self { behind, ..self }
    }

    /// What the model is told before the conversation. It is sent each time and is not a part of the state.
    pub fn system(self, text: impl Into<Content>) -> Self {
        Self { system: Some(text.into()), ..self }
    }

    /// Offers these tools.
    pub fn tools(mut self, tools: &Tools<S, D>) -> Self {
        self.request.tools = tools.specs();
        self
    }

    /// How it is asked: temperature and the like. Messages are the state's, and tools are given with [`tools`](Self::tools).
    pub fn request(mut self, request: ChatRequest) -> Self {
        let tools = std::mem::take(&mut self.request.tools);
        self.request = ChatRequest { messages: Vec::new(), tools, ..request };
        self
    }

    /// What the last message says when the model wants tools called and there are no steps left for it.
    pub fn out_of_steps(self, text: impl Into<String>) -> Self {
        Self { out_of_steps: text.into(), ..self }
    }
}

/// A superstep for the tools, and one for the model to read what came of them.
const STEPS_FOR_TOOLS: u64 = 2;

impl<S: HasMessages, D: Send + Sync + 'static> Node<ContextWith<D>> for ModelNode<S, D> {
    type Reads = S;
    type Output = Result<S::Update>;

    async fn run(&self, state: &S, ctx: &ContextWith<D>) -> Result<S::Update> {
        let mut request = self.request.clone();
        request.messages = asked(self.system.as_ref(), state, &self.texts);
        let model = self.model.model(ctx.context());
        let reply = async {
            if ctx.wants_tokens() {
                streamed(&*model, &request, ctx).await
            } else {
                model.complete(&request).await
            }
        };
        let mut reply = spans::chat(&*model, &request, ctx.thread(), reply).await?;
        // Some servers give an id twice, and a reply is never meant for the place of another message.
        if state.messages().iter().any(|message| message.id() == reply.id.as_deref()) {
            reply.id = None;
        }
        if reply.has_calls() && ctx.remaining_steps() < STEPS_FOR_TOOLS.saturating_add(self.behind) {
            let AiMessage { id, usage, .. } = reply;
            reply = AiMessage::new(self.out_of_steps.as_str());
            (reply.id, reply.usage) = (id, usage);
        }
        Ok(S::update_messages(MessagesUpdate::from_iter([reply])))
    }
}

/// The conversation as a model is sent it: in order, also where tools have written messages between each other's answers.
pub(super) fn asked<S: HasMessages>(system: Option<&Content>, state: &S, texts: &Texts) -> Vec<Message> {
    let system = system.map(|text| Message::system(text.clone()));
    system.into_iter().chain(in_order(state.messages(), texts)).collect()
}

async fn streamed(
    model: &dyn ChatModel,
    request: &ChatRequest,
    cx: &Context,
) -> std::result::Result<AiMessage, ModelError> {
    let mut chunks = model.stream(request);
    let mut reply = MessageAssembler::default();
    while let Some(chunk) = poll_fn(|cx| chunks.as_mut().poll_next(cx)).await {
        let chunk = chunk?;
        reply.push(&chunk);
        cx.token(chunk).await;
    }
    Ok(reply.finish())
}

impl<S, D> std::fmt::Debug for ModelNode<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelNode").field("model", &self.model).finish_non_exhaustive()
    }
}
