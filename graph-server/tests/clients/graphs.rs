//! The graphs that the suites use.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::messages::{AiMessage, Message, MessagesState, ToolCall};
use superstep::{Context, ContextWith, END, GraphState, Result, Route, START, StateGraph, bail};
use superstep_agent::agent::Agent;
use superstep_agent::tool::Tools;
use superstep_agent::{ChatRequest, ScriptedModel, tool};
use superstep_server::{Served, Server};

/// Returns a server with all graphs, in memory.
pub(crate) fn server() -> Server {
    let steps = StateGraph::<Steps>::new().edge(START, one).edge(one, two).edge(two, END).compile().unwrap();
    let child = steps.as_node("child");
    let parent = StateGraph::<Steps>::new().edge(START, &child).edge(&child, last).edge(last, END);
    let approval = StateGraph::<Order>::new().edge(START, review).edge(review, ship).edge(ship, END);
    let slow = StateGraph::<Ticks>::new().edge(START, tick).compile().unwrap();
    let greet = StateGraph::<Steps>::with_context::<Person>().edge(START, greet).edge(greet, END);
    Server::new()
        .graph("steps", Served::new(steps).with_schemas())
        .graph("parent", parent.compile().unwrap())
        .graph("approval", approval.compile().unwrap())
        .graph("slow", slow)
        .graph("chat", chat())
        .graph_with_context("greet", greet.compile().unwrap(), |request| request.read::<Person>())
}

/// Two nodes that append a line each.
#[derive(GraphState, Clone)]
#[state(schema)]
struct Steps {
    #[state(input)]
    text: String,
    #[state(reducer = append)]
    log: Vec<String>,
    #[state(exclude)]
    secret: String,
}

async fn one(steps: &Steps, cx: &Context) -> StepsUpdate {
    cx.emit(serde_json::json!({ "working on": steps.text })).await;
    Steps::update().log([format!("one {}", steps.text)]).secret("hidden")
}

/// Fails for the text `boom`.
async fn two(steps: &Steps) -> Result<StepsUpdate> {
    if steps.text == "boom" {
        bail!("boom");
    }
    Ok(Steps::update().log([format!("two {}", steps.text)]))
}

async fn last(_: &Steps) -> StepsUpdate {
    Steps::update().log(["last".to_owned()])
}

/// The context of `greet`.
#[derive(Deserialize)]
struct Person {
    name: String,
}

async fn greet(_: &Steps, cx: &ContextWith<Person>) -> StepsUpdate {
    Steps::update().log([format!("hello {}", cx.context().name)])
}

/// An order that a person approves.
#[derive(GraphState, Clone)]
struct Order {
    #[state(input)]
    item: String,
    approved: Option<bool>,
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Approve {
    item: String,
}

impl Question for Approve {
    type Answer = bool;
}

async fn review(order: &Order, cx: &Context) -> OrderUpdate {
    let approved = cx.interrupt(Approve { item: order.item.clone() }).await;
    Order::update().approved(approved).log([format!("approved {approved}")])
}

async fn ship(order: &Order) -> OrderUpdate {
    Order::update().log([format!("shipped {}", order.item)])
}

/// A run that takes its time.
#[derive(GraphState, Clone)]
struct Ticks {
    #[state(input)]
    ticks: u32,
    #[state(reducer = append)]
    done: Vec<u32>,
}

#[derive(Route)]
enum Next {
    #[to(tick)]
    Again,
    #[to(END)]
    Enough,
}

async fn tick(ticks: &Ticks) -> (TicksUpdate, Next) {
    tokio::time::sleep(Duration::from_millis(20)).await;
    let left = ticks.ticks.saturating_sub(1);
    let next = if left == 0 { Next::Enough } else { Next::Again };
    (Ticks::update().ticks(left).done([left]), next)
}

/// Multiplies two numbers.
#[tool]
async fn multiply(left: i64, right: i64) -> i64 {
    left * right
}

/// An agent: it multiplies when it is asked to, and greets otherwise.
fn chat() -> superstep::Graph<MessagesState> {
    let model = ScriptedModel::new([]).fallback(reply);
    Agent::new(Arc::new(model)).tools(Tools::new().with(multiply)).graph().unwrap().compile().unwrap()
}

fn reply(request: &ChatRequest) -> AiMessage {
    match request.messages.last() {
        Some(Message::Tool(result)) => AiMessage::new(format!("It is {}.", result.content.text())),
        Some(message) if message.text().contains("times") => {
            AiMessage::new("").call(ToolCall::new("call_1", "multiply").arg("left", 6).arg("right", 7))
        }
        Some(message) => AiMessage::new(format!("Hello, you said: {}", message.text())),
        None => AiMessage::new("Hello"),
    }
}
