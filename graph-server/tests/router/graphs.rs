//! The graphs of the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::messages::{AiMessage, Message, MessageChunk, MessagesState, MessagesStateUpdate, ToolCall};
use superstep::{Context, ContextWith, END, Graph, GraphState, Result, Route, START, StateGraph, bail};
use superstep_agent::agent::Agent;
use superstep_agent::tool::Tools;
use superstep_agent::{ChatRequest, ScriptedModel, tool};
use tokio::sync::Semaphore;

/// A state with a log and a question.
#[derive(GraphState, Clone)]
#[state(schema)]
pub(crate) struct Order {
    #[state(input)]
    pub(crate) item: String,
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
    #[state(exclude)]
    pub(crate) card: String,
    pub(crate) approved: Option<bool>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Approve {
    pub(crate) item: String,
}

impl Question for Approve {
    type Answer = bool;
}

async fn look_up(order: &Order, cx: &Context) -> OrderUpdate {
    cx.emit(serde_json::json!({ "looking_up": order.item })).await;
    Order::update().log([format!("found {}", order.item)]).card("4111-secret")
}

async fn ask(order: &Order, cx: &Context) -> OrderUpdate {
    let approved = cx.interrupt(Approve { item: order.item.clone() }).await;
    Order::update().approved(approved).log([format!("approved: {approved}")])
}

async fn ship(order: &Order) -> OrderUpdate {
    Order::update().log([format!("shipped {}", order.item)])
}

/// look_up → ask → ship.
pub(crate) fn order() -> Graph<Order> {
    StateGraph::<Order>::new()
        .edge(START, look_up)
        .edge(look_up, ask)
        .edge(ask, ship)
        .edge(ship, END)
        .compile()
        .expect("the graph of orders")
}

/// A graph whose node waits until a test lets it pass.
#[derive(GraphState, Clone)]
pub(crate) struct Slow {
    #[state(input)]
    pub(crate) name: String,
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
}

/// Lets nodes pass, and counts those that have begun.
#[derive(Clone)]
pub(crate) struct Gate {
    pass: Arc<Semaphore>,
    pub(crate) begun: Arc<AtomicUsize>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self { pass: Arc::new(Semaphore::new(0)), begun: Arc::default() }
    }

    pub(crate) fn open(&self, passes: usize) {
        self.pass.add_permits(passes);
    }

    /// Waits until `count` nodes have begun.
    pub(crate) async fn begun(&self, count: usize) {
        while self.begun.load(Ordering::SeqCst) < count {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

async fn begin(slow: &Slow) -> SlowUpdate {
    Slow::update().log([format!("{} begins", slow.name)])
}

async fn work(slow: &Slow, cx: &ContextWith<Gate>) -> SlowUpdate {
    cx.context().begun.fetch_add(1, Ordering::SeqCst);
    if let Ok(pass) = cx.context().pass.acquire().await {
        pass.forget();
    }
    Slow::update().log([format!("{} done", slow.name)])
}

/// begin → work, which waits at the gate.
pub(crate) fn slow() -> Graph<Slow, Gate> {
    StateGraph::<Slow>::with_context::<Gate>()
        .edge(START, begin)
        .edge(begin, work)
        .edge(work, END)
        .compile()
        .expect("the graph that waits")
}

#[derive(Debug, thiserror::Error)]
#[error("boom")]
struct BoomError;

#[derive(GraphState, Clone)]
pub(crate) struct Fragile {
    #[state(input)]
    pub(crate) text: String,
}

#[derive(Route)]
enum Fate {
    #[to(END)]
    Survive,
}

async fn fragile(state: &Fragile) -> Result<Fate> {
    if state.text == "boom" {
        return Err(BoomError.into());
    }
    Ok(Fate::Survive)
}

/// Fails if the text is `boom`.
pub(crate) fn failing() -> Graph<Fragile> {
    StateGraph::<Fragile>::new().edge(START, fragile).node(fragile).compile().expect("the graph that fails")
}

async fn reply(_: &MessagesState, cx: &Context) -> MessagesStateUpdate {
    for word in ["Good ", "morning."] {
        cx.token(MessageChunk::text(word).id("reply-1")).await;
    }
    let mut message = AiMessage::new("Good morning.");
    message.id = Some("reply-1".to_owned());
    MessagesState::update().messages(message)
}

async fn sign(_: &MessagesState) -> MessagesStateUpdate {
    let mut message = AiMessage::new("Yours");
    message.id = Some("signature".to_owned());
    MessagesState::update().messages(message)
}

/// A reply that is streamed, and one that is not.
pub(crate) fn chat() -> Graph<MessagesState> {
    StateGraph::<MessagesState>::new()
        .edge(START, reply)
        .edge(reply, sign)
        .edge(sign, END)
        .compile()
        .expect("the chat")
}

/// The graph of orders as a subgraph.
pub(crate) fn nested() -> Graph<Order> {
    let inner = order().as_node("inner");
    StateGraph::<Order>::new().edge(START, &inner).edge(&inner, END).compile().expect("the nested graph")
}

/// A state with a call of a subgraph for each city.
#[derive(GraphState, Clone)]
pub(crate) struct Trip {
    #[state(input)]
    cities: Vec<String>,
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct City(String);

#[derive(Route)]
enum Visit {
    #[to("visit")]
    Visit(City),
}

async fn plan(trip: &Trip) -> Vec<Visit> {
    trip.cities.iter().map(|city| Visit::Visit(City(city.clone()))).collect()
}

/// Calls a subgraph for each city at the same time. Each call makes another one.
pub(crate) fn trip(stored: bool) -> Graph<Trip> {
    let shop = StateGraph::<Order>::new().edge(START, look_up).edge(look_up, END).compile();
    let shop = shop.expect("the graph that shops").as_node("shop");
    let visit = StateGraph::<Order>::new().edge(START, &shop).edge(&shop, END).compile();
    let visit = visit.expect("the graph that visits").as_node("visit");
    let visit = if stored { visit } else { visit.unstored() };
    let visit = visit.mapped_packet(
        |_: &Trip, city: &City| Order::input(city.0.clone()),
        |done| Trip::update().log(done.state.log.clone()),
    );
    StateGraph::<Trip>::new().edge(START, plan).edge(&visit, END).compile().expect("the trip")
}

/// The context of [`greeting`].
#[derive(Deserialize)]
pub(crate) struct Tenant {
    tenant: String,
}

async fn greet(_: &Fragile, cx: &ContextWith<Tenant>) -> FragileUpdate {
    Fragile::update().text(format!("hello, {}", cx.context().tenant))
}

/// Greets the tenant of the context.
pub(crate) fn greeting() -> Graph<Fragile, Tenant> {
    StateGraph::<Fragile>::with_context::<Tenant>()
        .edge(START, greet)
        .edge(greet, END)
        .compile()
        .expect("the greeting")
}

/// Halves an even number.
#[tool]
async fn halve(number: i64) -> Result<i64> {
    if number % 2 != 0 {
        bail!("{number} is odd");
    }
    Ok(number / 2)
}

/// An agent that calls a tool twice, once with a wrong number.
pub(crate) fn agent() -> Graph<MessagesState> {
    let model = ScriptedModel::new([]).fallback(|request: &ChatRequest| match request.messages.last() {
        Some(Message::Tool(_)) => AiMessage::new("Done."),
        _ => AiMessage::new("")
            .call(ToolCall::new("good", "halve").arg("number", 84))
            .call(ToolCall::new("bad", "halve").arg("number", 7)),
    });
    let agent = Agent::new(Arc::new(model)).tools(Tools::new().with(halve)).graph();
    agent.expect("the agent").compile().expect("the graph of the agent")
}

/// A state that a node makes deeper than any request.
#[derive(GraphState, Clone)]
pub(crate) struct Deep {
    #[state(input)]
    depth: u32,
    value: serde_json::Value,
}

async fn dig(deep: &Deep) -> DeepUpdate {
    let bottom = serde_json::json!("bottom");
    Deep::update().value((0..deep.depth).fold(bottom, |inner, _| serde_json::json!([inner])))
}

/// Nests a value as deep as the input says.
pub(crate) fn deep() -> Graph<Deep> {
    StateGraph::<Deep>::new().edge(START, dig).edge(dig, END).compile().expect("the graph that digs")
}

/// A state with JSON of another service.
#[derive(GraphState, Clone)]
pub(crate) struct Raw {
    #[state(input)]
    name: String,
    answer: Option<Box<serde_json::value::RawValue>>,
}

async fn pass_on(raw: &Raw, cx: &Context) -> Result<RawUpdate> {
    let json = format!("{{\n\n\"event: forged\":\r\n\r\n{:?}}}", raw.name);
    let json = serde_json::value::RawValue::from_string(json)?;
    cx.emit(json.clone()).await;
    Ok(Raw::update().answer(json))
}

/// Passes on JSON with line breaks.
pub(crate) fn raw() -> Graph<Raw> {
    StateGraph::<Raw>::new()
        .edge(START, pass_on)
        .edge(pass_on, END)
        .compile()
        .expect("the graph that passes on")
}

/// A state with secrets in its input.
#[derive(GraphState, Clone)]
pub(crate) struct Secret {
    #[state(input)]
    name: String,
    #[state(input, exclude)]
    password: String,
    #[state(untracked)]
    pin: String,
}

async fn log_in(secret: &Secret) -> Result<Fate> {
    if secret.password.is_empty() && secret.pin.is_empty() {
        bail!("no password");
    }
    Ok(Fate::Survive)
}

/// Uses a password.
pub(crate) fn secret() -> Graph<Secret> {
    StateGraph::<Secret>::new().edge(START, log_in).node(log_in).compile().expect("the graph with a password")
}
