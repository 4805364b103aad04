use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use superstep::messages::sanity::{MessagesSanity, Texts};
use superstep::messages::{Content, HasMessages};
use superstep::{END, GraphState, Route, START, StateGraph, named};

use crate::ChatModel;
use crate::model::request::ChatRequest;
use crate::tool::{BadTools, ToolRequest, Tools, call_tools, tool_node};

use super::chosen::Chosen;
use super::{ANSWER, AnswerNode, MODEL, ModelNode};

/// A model that calls tools until it has an answer.
///
/// [`graph`](Self::graph) makes it a plain graph, over any state with a conversation, which can be drawn, changed, put on
/// threads and run like every other:
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
/// let said: Vec<_> = chat.messages.iter().map(|message| message.text()).collect();
/// assert_eq!(said, ["what is 2 + 3?", "", "5", "It is five."]);
/// # Ok(())
/// # }
/// ```
///
/// # What it does
///
/// | node | what it does |
/// |---|---|
/// | `sanity` | puts in order what a cancelled run has left behind: see [`messages_sanity`](superstep::messages::messages_sanity) |
/// | `model` | asks the model; without steps left for tools, its last message says so |
/// | `tools` | calls the tools that it wants called, each in a task of its own |
/// | `answer` | with [`answer`](Self::answer): asks for the final answer as a type |
pub struct Agent<S: HasMessages, D = ()> {
    model: ModelNode<S, D>,
    chosen: Chosen<D>,
    system: Option<Content>,
    tools: Tools<S, D>,
    texts: Texts,
}

impl<S: HasMessages> Agent<S> {
    /// An agent that asks this model.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self::of(Chosen::Always(model))
    }
}

impl<S: HasMessages, D: Send + Sync + 'static> Agent<S, D> {
    /// An agent that asks the model that the run's context chooses.
    pub fn from_context(choose: impl Fn(&D) -> Arc<dyn ChatModel> + Send + Sync + 'static) -> Self {
        Self::of(Chosen::By(Arc::new(choose)))
    }

    /// An agent that asks this model, in a graph with a context.
    pub fn with_context(model: Arc<dyn ChatModel>) -> Self {
        Self::of(Chosen::Always(model))
    }

    fn of(chosen: Chosen<D>) -> Self {
        let model = ModelNode::of(chosen.clone());
        Self { model, chosen, system: None, tools: Tools::new(), texts: Texts::default() }
    }

    /// What the model is told before the conversation. It is sent each time and is not a part of the state.
    pub fn system(self, text: impl Into<Content>) -> Self {
        let text = text.into();
        Self { model: self.model.system(text.clone()), system: Some(text), ..self }
    }

    /// The tools that the model may have called.
    pub fn tools(self, tools: Tools<S, D>) -> Self {
        Self { model: self.model.tools(&tools), tools, ..self }
    }

    /// How the model is asked: temperature and the like.
    pub fn request(self, request: ChatRequest) -> Self {
        Self { model: self.model.request(request), ..self }
    }

    /// What the last message says when the model wants tools called and there are no steps left for it.
    pub fn out_of_steps(self, text: impl Into<String>) -> Self {
        Self { model: self.model.out_of_steps(text), ..self }
    }

    /// What is said where the conversation had to be put in order.
    pub fn texts(self, texts: Texts) -> Self {
        Self { model: self.model.texts(texts.clone()), texts, ..self }
    }

    /// Ends each run with an answer of a type: when the model wants no more tools, it is asked once more, to sum up as a `T`, which
    /// `write` turns into an update of the state.
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
    /// // A script has a reply for the sum as well.
    /// let model = ScriptedModel::new([AiMessage::new("A fine film."), AiMessage::new(r#"{"stars": 9}"#)]);
    /// let agent = Agent::<Review>::new(Arc::new(model)).answer(|verdict: Verdict| Review::update().verdict(verdict));
    /// let review = agent.graph()?.compile()?.run(Review::input().messages("how was it?")).await?.into_state();
    /// assert_eq!(review.verdict.map(|verdict| verdict.stars), Some(9));
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer<T: JsonSchema + DeserializeOwned + 'static>(
        self,
        write: impl Fn(T) -> <S as GraphState>::Update + Send + Sync + 'static,
    ) -> Answering<S, T, D> {
        Answering { agent: self, write: Arc::new(write) }
    }

    /// The graph, to be given further nodes beside these or compiled as it is. It ends behind the last reply; a graph that goes on
    /// there is put together from the [same parts](crate::agent).
    ///
    /// # Errors
    /// Tools that no model could be offered.
    pub fn graph(self) -> Result<StateGraph<S, D>, BadTools> {
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

impl<S: HasMessages, D> std::fmt::Debug for Agent<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent")
            .field("model", &self.model)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

/// An [`Agent`] that ends with an answer of the type `T`.
pub struct Answering<S: HasMessages, T, D = ()> {
    agent: Agent<S, D>,
    write: Arc<dyn Fn(T) -> S::Update + Send + Sync>,
}

/// The ways out of the model's node, where an answer of a type follows.
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

impl<S, T, D> Answering<S, T, D>
where
    S: HasMessages,
    T: JsonSchema + DeserializeOwned + 'static,
    D: Send + Sync + 'static,
{
    /// The graph, to be given further nodes beside these or compiled as it is. It ends behind the last reply; a graph that goes on
    /// there is put together from the [same parts](crate::agent).
    ///
    /// # Errors
    /// Tools that no model could be offered.
    pub fn graph(self) -> Result<StateGraph<S, D>, BadTools> {
        let Agent { model, chosen, system, tools, texts } = self.agent;
        let answer = named(ANSWER, AnswerNode::<S, T, D>::of(chosen, system, texts.clone(), self.write));
        let (sanity, model) =
            (named("sanity", MessagesSanity::with(texts)), named(MODEL, model.steps_behind(1)));
        let tools = tool_node(tools)?;
        Ok(StateGraph::<S>::with_context::<D>()
            .edge(START, &sanity)
            .edge(&sanity, &model)
            .route(&model, call_tools_or_answer::<S>)
            .edge(&tools, &model)
            .edge(&answer, END))
    }
}

impl<S: HasMessages, T, D> std::fmt::Debug for Answering<S, T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Answering").field(&self.agent.model).finish()
    }
}
