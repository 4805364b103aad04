use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use superstep::messages::sanity::{MessagesSanity, RepairTexts};
use superstep::messages::{Content, HasMessages};
use superstep::{END, GraphState, Route, START, StateGraph, named};

use crate::ChatModel;
use crate::model::request::ChatRequest;
use crate::tool::{InvalidTools, ToolRequest, Tools, call_tools, tool_node};

use super::model_source::ModelSource;
use super::{ANSWER, MODEL, ModelNode, StructuredOutputNode};

/// An agent: a model that calls tools until it has an answer.
///
/// [`graph`](Self::graph) turns it into an ordinary [`StateGraph`] over any state with a conversation. The graph can be drawn,
/// extended, run on threads and used like any other graph:
///
/// ```
/// use std::sync::Arc;
///
/// use superstep_agent::agent::Agent;
/// use superstep_agent::tool::Tools;
/// use superstep_agent::{ScriptedModel, tool};
/// use superstep::messages::{AiMessage, MessagesState, ToolCall};
///
/// /// Adds two numbers.
/// #[tool]
/// async fn add(a: f64, b: f64) -> f64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     AiMessage::new("").call(ToolCall::new("call_1", "add").arg("a", 2).arg("b", 3)),
///     AiMessage::new("It is five."),
/// ]);
/// let graph = Agent::<MessagesState>::new(Arc::new(model))
///     .system("You are good at sums.")
///     .tools(Tools::new().with(add))
///     .graph()?
///     .compile()?;
///
/// let chat = graph.run(MessagesState::input().messages("what is 2 + 3?")).await?.into_state();
/// let conversation: Vec<_> = chat.messages.iter().map(|message| message.text()).collect();
/// assert_eq!(conversation, ["what is 2 + 3?", "", "5", "It is five."]);
/// # Ok(())
/// # }
/// ```
///
/// # Nodes
///
/// | node | job |
/// |---|---|
/// | `sanity` | repairs the history that a cancelled run left: see [`messages_sanity`](superstep::messages::messages_sanity) |
/// | `model` | calls the model; if no supersteps are left for its tool calls, the last message says so |
/// | `tools` | runs each tool call of the model in its own task |
/// | `answer` | with [`structured_output`](Self::structured_output): asks for the final answer as a Rust type |
#[must_use = "an agent does nothing until it is a graph"]
pub struct Agent<S: GraphState, D = ()> {
    model: ModelNode<S, D>,
    source: ModelSource<D>,
    system: Option<Content>,
    /// The options of each request, for the final answer.
    request: ChatRequest,
    tools: Tools<S, D>,
    texts: RepairTexts,
    /// Makes the graph. The constructors know that the state has a conversation, so that rustc reports there that it has none,
    /// and only there.
    assemble: fn(Self) -> Result<StateGraph<S, D>, InvalidTools>,
}

impl<S: GraphState> Agent<S> {
    /// Creates an agent that uses this model.
    pub fn new(model: Arc<dyn ChatModel>) -> Self
    where
        S: HasMessages,
    {
        Self::with_source(ModelSource::Fixed(model))
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Agent<S, D> {
    /// Creates an agent that takes its model from the application context of the run.
    pub fn from_context(choose: impl Fn(&D) -> Arc<dyn ChatModel> + Send + Sync + 'static) -> Self
    where
        S: HasMessages,
    {
        Self::with_source(ModelSource::Context(Arc::new(choose)))
    }

    /// Creates an agent that uses this model, in a graph with an application context.
    pub fn with_context(model: Arc<dyn ChatModel>) -> Self
    where
        S: HasMessages,
    {
        Self::with_source(ModelSource::Fixed(model))
    }

    fn with_source(source: ModelSource<D>) -> Self
    where
        S: HasMessages,
    {
        let model = ModelNode::with_source(source.clone());
        let (request, texts, assemble) = (ChatRequest::default(), RepairTexts::default(), Self::assemble);
        Self { model, source, system: None, request, tools: Tools::new(), texts, assemble }
    }

    /// Sets the system message. It precedes the conversation in every request and is not part of the state.
    pub fn system(self, text: impl Into<Content>) -> Self {
        let text = text.into();
        Self { model: self.model.system(text.clone()), system: Some(text), ..self }
    }

    /// Sets the tools that the model may call.
    pub fn tools(self, tools: Tools<S, D>) -> Self {
        Self { model: self.model.tools(&tools), tools, ..self }
    }

    /// Sets the options of each request, such as the temperature. Its messages and tools are ignored.
    ///
    /// With [`structured_output`](Self::structured_output), the options also apply to the request for the final answer, except
    /// those about tools and the schema of the reply.
    pub fn request(self, request: ChatRequest) -> Self {
        Self { model: self.model.request(request.clone()), request, ..self }
    }

    /// Sets the text of the last message if the model calls tools and the run has no supersteps left for them.
    pub fn out_of_steps(self, text: impl Into<String>) -> Self {
        Self { model: self.model.out_of_steps(text), ..self }
    }

    /// Sets the wording of the messages that repair a damaged conversation.
    pub fn texts(self, texts: RepairTexts) -> Self {
        Self { model: self.model.texts(texts.clone()), texts, ..self }
    }

    /// Ends each run with an answer of type `T` (structured output).
    ///
    /// When the model calls no more tools, it gets one more request: to summarize the conversation as a `T`. `write` turns the
    /// `T` into an update of the state. The token usage of this request is added to the usage of the last message.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use superstep_agent::agent::Agent;
    /// use superstep_agent::{ScriptedModel, schemars};
    /// use superstep::GraphState;
    /// use superstep::messages::{AiMessage, Message};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Clone, Serialize, Deserialize, schemars::JsonSchema)]
    /// struct Verdict {
    ///     stars: u8,
    /// }
    ///
    /// #[derive(GraphState, Clone)]
    /// struct Review {
    ///     #[state(input, reducer = add_messages)]
    ///     messages: Vec<Message>,
    ///     verdict: Option<Verdict>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // The second reply of the script is the summary.
    /// let model = ScriptedModel::new([AiMessage::new("A fine film."), AiMessage::new(r#"{"stars": 9}"#)]);
    /// let agent = Agent::<Review>::new(Arc::new(model)).structured_output(|verdict: Verdict| Review::update().verdict(verdict));
    /// let review = agent.graph()?.compile()?.run(Review::input().messages("how was it?")).await?.into_state();
    /// assert_eq!(review.verdict.map(|verdict| verdict.stars), Some(9));
    /// # Ok(())
    /// # }
    /// ```
    pub fn structured_output<T: JsonSchema + DeserializeOwned + 'static>(
        self,
        write: impl Fn(T) -> <S as GraphState>::Update + Send + Sync + 'static,
    ) -> StructuredAgent<S, T, D>
    where
        S: HasMessages,
    {
        StructuredAgent { agent: self, write: Arc::new(write) }
    }

    /// Builds the graph, which can be extended or compiled as it is.
    ///
    /// The graph ends after the last reply. To continue there, build a graph from the [same parts](crate::agent).
    ///
    /// # Errors
    /// [`InvalidTools`], if two tools have the same name or a tool has a name that models do not accept.
    pub fn graph(self) -> Result<StateGraph<S, D>, InvalidTools> {
        (self.assemble)(self)
    }

    fn assemble(self) -> Result<StateGraph<S, D>, InvalidTools>
    where
        S: HasMessages,
    {
        let Self { model, tools, texts, .. } = self;
        let (sanity, model) = (named("sanity", MessagesSanity::with(texts)), named(MODEL, model));
        let tools = tool_node(tools)?;
        Ok(StateGraph::<S>::with_context::<D>()
            .edge(START, &sanity)
            .edge(&sanity, &model)
            .route(&model, call_tools::<S>)
            .edge(&tools, &model))
    }
}

impl<S: GraphState, D> std::fmt::Debug for Agent<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent")
            .field("model", &self.model)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

/// An [`Agent`] that ends with an answer of type `T`.
pub struct StructuredAgent<S: HasMessages, T, D = ()> {
    agent: Agent<S, D>,
    write: Arc<dyn Fn(T) -> S::Update + Send + Sync>,
}

/// The route after the model of an agent that ends with an answer of a type.
#[derive(Route)]
enum ToolOrAnswer {
    #[to("tools")]
    Call(ToolRequest),
    #[to("answer")]
    Answer,
}

fn call_tools_or_answer<S: HasMessages>(state: &S) -> Vec<ToolOrAnswer> {
    let last = state.messages().last().and_then(|message| message.as_ai());
    let calls: Vec<_> = last.into_iter().flat_map(ToolRequest::of).map(ToolOrAnswer::Call).collect();
    if calls.is_empty() { vec![ToolOrAnswer::Answer] } else { calls }
}

impl<S, T, D> StructuredAgent<S, T, D>
where
    S: HasMessages,
    T: JsonSchema + DeserializeOwned + 'static,
    D: Send + Sync + 'static,
{
    /// Builds the graph, which can be extended or compiled as it is.
    ///
    /// The graph ends after the last reply. To continue there, build a graph from the [same parts](crate::agent).
    ///
    /// # Errors
    /// [`InvalidTools`], if two tools have the same name or a tool has a name that models do not accept.
    pub fn graph(self) -> Result<StateGraph<S, D>, InvalidTools> {
        let Agent { model, source, system, request, tools, texts, .. } = self.agent;
        let answer = StructuredOutputNode::<S, T, D>::with_source(source, self.write);
        let answer = answer.request(request).texts(texts.clone());
        let answer = named(ANSWER, if let Some(text) = system { answer.system(text) } else { answer });
        let (sanity, model) =
            (named("sanity", MessagesSanity::with(texts)), named(MODEL, model.reserve_steps(1)));
        let tools = tool_node(tools)?;
        Ok(StateGraph::<S>::with_context::<D>()
            .edge(START, &sanity)
            .edge(&sanity, &model)
            .route(&model, call_tools_or_answer::<S>)
            .edge(&tools, &model)
            .edge(&answer, END))
    }
}

impl<S: HasMessages, T, D> std::fmt::Debug for StructuredAgent<S, T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("StructuredAgent").field(&self.agent.model).finish()
    }
}
