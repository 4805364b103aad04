//! Parameters, results and updates of tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::messages::{AiMessage, InvalidToolCall, Message, MessagesState, ToolCall};
use superstep::{Context, ContextWith, Durability, ErrorKind, GraphState, StateView};
use superstep_agent::agent::Agent;
use superstep_agent::tool::{Fatal, ToolReply, Tools};
use superstep_agent::{ScriptedModel, tool};
use tokio::sync::Barrier;

use crate::loops::{calls, transcript};

#[derive(GraphState, Clone, Debug)]
struct Desk {
    #[state(flatten)]
    chat: MessagesState,
    #[state(input, default = 10)]
    budget: i64,
    #[state(reducer = append)]
    ledger: Vec<String>,
}

#[derive(StateView)]
#[view(of = Desk)]
struct Purse<'a> {
    budget: i64,
    #[view(from = chat.messages)]
    messages: &'a [Message],
}

struct Shop {
    paid: AtomicUsize,
    both: Barrier,
}

/// Buys something.
#[tool]
async fn buy(
    what: String,
    price: i64,
    purse: Purse<'_>,
    shop: &ContextWith<Shop>,
) -> superstep::Result<ToolReply<DeskUpdate>> {
    if price > purse.budget {
        superstep::bail!("{what} costs more than the {} that are left", purse.budget);
    }
    shop.context().paid.fetch_add(1, Ordering::Relaxed);
    let update = Desk::update().ledger([format!("{what} after {} messages", purse.messages.len())]);
    Ok(ToolReply::new("bought").artifact(json!({"price": price})).update(update))
}

/// Returns the remaining budget.
#[tool]
async fn left(desk: &Desk, chat: &MessagesState, cx: &Context) -> String {
    format!("{} after {} messages, in `{}`", desk.budget, chat.messages.len(), cx.node())
}

/// Waits for a second call.
#[tool]
async fn meet(shop: &ContextWith<Shop>, after: u64) -> String {
    shop.context().both.wait().await;
    for _ in 0..after {
        tokio::task::yield_now().await;
    }
    format!("met, {after} polls ago")
}

/// Always fails with a fatal error.
#[tool]
async fn burn() -> superstep::Result<String> {
    Err(Fatal::new("there is no fire").into())
}

/// An error that is its own cause.
#[derive(Debug)]
struct Endless;

impl std::fmt::Display for Endless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("dizzy")
    }
}

impl std::error::Error for Endless {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self)
    }
}

/// Always fails with an error that is its own cause.
#[tool]
async fn spin() -> superstep::Result<String> {
    Err(Endless.into())
}

/// The sort order.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    Up,
    Down,
}

/// The items and their order.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sorting {
    /// The numbers to sort.
    items: Vec<i64>,
    order: Order,
}

/// Sorts numbers.
#[tool]
async fn sort(#[tool(all)] sorting: Sorting) -> serde_json::Value {
    let mut items = sorting.items;
    items.sort_unstable();
    if matches!(sorting.order, Order::Down) {
        items.reverse();
    }
    items.into()
}

fn tools() -> Tools<Desk, Shop> {
    Tools::new().with(buy).with(left).with(meet).with(burn).with(spin).with(sort)
}

fn shop() -> Arc<Shop> {
    Arc::new(Shop { paid: AtomicUsize::new(0), both: Barrier::new(2) })
}

fn agent(replies: impl IntoIterator<Item = AiMessage>) -> superstep::Graph<Desk, Shop> {
    let model = Arc::new(ScriptedModel::new(replies));
    Agent::with_context(model).tools(tools()).graph().unwrap().compile().unwrap()
}

fn hello() -> DeskInput {
    Desk::input().chat(MessagesState::input().messages("hello"))
}

#[tokio::test]
async fn tool_reads_views_state_context_and_writes_an_update() {
    let bread = ToolCall::new("1", "buy").arg("what", "bread").arg("price", 3);
    let house = ToolCall::new("2", "buy").arg("what", "a house").arg("price", 300_000);
    let graph = agent([calls([bread, house, ToolCall::new("3", "left")]), AiMessage::new("done")]);
    let shop = shop();
    let desk = graph.run(hello()).context(Arc::clone(&shop)).await.unwrap().into_state();
    assert_eq!(
        transcript(&desk.chat.messages)[2..5],
        [
            "tool: bought",
            "tool: a house costs more than the 10 that are left",
            "tool: 10 after 2 messages, in `tools`",
        ]
    );
    assert_eq!(desk.ledger, ["bread after 2 messages"]);
    assert_eq!(desk.chat.messages[2].as_tool().unwrap().artifact, Some(json!({"price": 3})));
    assert_eq!(shop.paid.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn concurrent_calls_return_results_in_call_order() {
    let meet = |id: &str, after: u64| ToolCall::new(id, "meet").arg("after", after);
    let graph = agent([calls([meet("1", 20), meet("2", 0)]), AiMessage::new("done")]);
    let desk = graph.run(hello()).context(shop()).await.unwrap().into_state();
    assert_eq!(transcript(&desk.chat.messages)[2..4], ["tool: met, 20 polls ago", "tool: met, 0 polls ago"]);
}

#[tokio::test]
async fn struct_can_take_all_arguments() {
    let specs = tools().specs();
    let spec = specs.iter().find(|spec| spec.name == "sort").unwrap();
    assert_eq!(spec.parameters["properties"]["items"]["description"], "The numbers to sort.");
    assert_eq!(spec.parameters["properties"]["order"]["enum"], json!(["up", "down"]));
    let call = ToolCall::new("1", "sort").arg("items", json!([2, 3, 1])).arg("order", "down");
    let graph = agent([calls([call]), AiMessage::new("done")]);
    let desk = graph.run(hello()).context(shop()).await.unwrap().into_state();
    assert_eq!(desk.chat.messages[2].text(), "[3,2,1]");
}

#[tokio::test]
async fn fatal_error_fails_the_run_and_keeps_finished_calls() {
    let store = MemoryCheckpointer::new();
    let buy = ToolCall::new("1", "buy").arg("what", "bread").arg("price", 3);
    let graph = agent([calls([buy, ToolCall::new("2", "burn")])]);
    let shop = shop();
    let thread = graph.with_checkpointer(store).thread("desk");
    for _ in 0..2 {
        let run = if thread.state().await.unwrap().is_none() {
            thread.run(hello()).durability(Durability::Sync).context(Arc::clone(&shop)).await
        } else {
            thread.resume(()).context(Arc::clone(&shop)).await
        };
        let error = run.unwrap_err();
        let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(first.node, "tools");
        assert!(format!("{error:?}").contains("there is no fire"), "{error:?}");
    }
    assert_eq!(shop.paid.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn error_that_is_its_own_cause_is_told_once() {
    let graph = agent([calls([ToolCall::new("1", "spin")]), AiMessage::new("done")]);
    let desk = graph.run(hello()).context(shop()).await.unwrap().into_state();
    assert_eq!(transcript(&desk.chat.messages)[2], "tool: dizzy … (the causes repeat)");
}

#[tokio::test]
async fn tool_can_be_called_directly() {
    let sorted = sort::call(Sorting { items: vec![2, 1], order: Order::Up }).await;
    assert_eq!(sorted, json!([1, 2]));
}

/// Adds a message of the user.
#[tool]
async fn quote(text: String) -> (String, superstep::messages::MessagesStateUpdate) {
    ("told".to_owned(), MessagesState::update().messages(text))
}

#[tokio::test]
async fn messages_written_by_tools_are_sent_in_order() {
    let quote_of = |id: &str| ToolCall::new(id, "quote").arg("text", format!("says {id}"));
    let model = ScriptedModel::new([calls([quote_of("1"), quote_of("2")]), AiMessage::new("done")]);
    let agent = Agent::<MessagesState>::new(Arc::new(model.clone())).tools(Tools::new().with(quote));
    let graph = agent.graph().unwrap().compile().unwrap();
    let chat = graph.run(MessagesState::input().messages("hello")).await.unwrap().into_state();
    let written = ["tool: told", "human: says 1", "tool: told", "human: says 2", "ai: done"];
    assert_eq!(transcript(&chat.messages)[2..], written);
    let sent = &model.requests()[1].messages;
    tests::endpoint::strict(sent).unwrap();
    assert_eq!(transcript(sent)[2..5], ["tool: told", "tool: told", "human: says 1"]);
    assert_eq!(transcript(sent).last().unwrap(), "human: says 2");
    // `Agent::texts` replaces the note between the messages.
    let model = ScriptedModel::new([calls([quote_of("1"), quote_of("2")]), AiMessage::new("done")]);
    let texts = superstep::messages::sanity::RepairTexts::default().note("Noch etwas:");
    let agent =
        Agent::<MessagesState>::new(Arc::new(model.clone())).tools(Tools::new().with(quote)).texts(texts);
    let graph = agent.graph().unwrap().compile().unwrap();
    graph.run(MessagesState::input().messages("hello")).await.unwrap();
    assert_eq!(transcript(&model.requests()[1].messages)[5], "system: Noch etwas:");
}

/// Names of tools and arguments that could collide with generated code.
mod odd_names {
    #![expect(dead_code, reason = "the names matter, not the items")]

    use superstep_agent::tool;

    struct Option;
    struct String;
    struct Box;
    type Result = ();

    /// Has keywords as names.
    #[tool]
    pub(super) async fn r#match(
        r#type: std::string::String,
        __turn: u8,
        __arguments: u8,
        call: u8,
        spec: u8,
    ) -> u8 {
        let _ = r#type;
        __turn + __arguments + call + spec
    }

    /// Has the name of the generated function.
    #[tool]
    pub(super) async fn call(#[serde(default)] __self: u8) -> u8 {
        __self
    }
}

#[tokio::test]
async fn tools_and_arguments_can_have_any_name() {
    use odd_names::{call, r#match};

    let args = [
        ("type", json!("x")),
        ("__turn", json!(1)),
        ("__arguments", json!(2)),
        ("call", json!(3)),
        ("spec", json!(4)),
    ];
    let first =
        args.into_iter().fold(ToolCall::new("1", "match"), |call, (name, value)| call.arg(name, value));
    let tools = Tools::<MessagesState>::new().with(r#match).with(call);
    let replies = [calls([first, ToolCall::new("2", "call")]), AiMessage::new("done")];
    let agent = Agent::new(Arc::new(ScriptedModel::new(replies))).tools(tools);
    let graph = agent.graph().unwrap().compile().unwrap();
    let chat = graph.run(MessagesState::input().messages("hello")).await.unwrap().into_state();
    assert_eq!(transcript(&chat.messages)[2..4], ["tool: 10", "tool: 0"]);
}

#[tokio::test]
async fn errors_do_not_repeat_long_arguments() {
    let long = || "ü".repeat(1_000_000);
    let calls = AiMessage::new("")
        .call(ToolCall::new("1", "buy").arg("what", "tea").arg("price", long()))
        .call(ToolCall::new("2", "sort").arg("items", json!([])).arg("order", "up").arg(long(), 1))
        .call(ToolCall::new("3", long()))
        .invalid_call(InvalidToolCall::new("4", "buy", long()).error(long()))
        .invalid_call(InvalidToolCall::new("5", "buy", long()));
    let graph = agent([calls, AiMessage::new("done")]);
    let desk = graph.run(hello()).context(shop()).await.unwrap().into_state();
    let results = &transcript(&desk.chat.messages)[2..7];
    for (result, [start, end]) in results.iter().zip([
        ["tool: invalid arguments for `buy` at `price`: invalid type: string \"üü", "ü\", expected i64"],
        ["tool: invalid arguments for `sort` at `", "expected `items` or `order`"],
        ["tool: there is no tool `üü", "`sort`"],
        ["tool: the arguments of `buy` cannot be read: üü", "ü"],
        ["tool: the arguments of `buy` cannot be read: they are not", "a JSON object"],
    ]) {
        assert!(
            result.starts_with(start) && result.ends_with(end),
            "{}",
            result.get(..400).unwrap_or(result)
        );
        assert!(result.chars().count() < 1000, "{} characters", result.chars().count());
    }
    let name = desk.chat.messages[4].as_tool().unwrap().name.as_deref().unwrap();
    assert!(name.chars().count() < 1000);
}

/// An error with a long text.
#[derive(Debug, thiserror::Error)]
#[error("{}", "ü".repeat(1_000_000))]
struct Verbose;

/// An error that is its own cause.
#[derive(Debug)]
struct Circular;

impl std::fmt::Display for Circular {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("round")
    }
}

impl std::error::Error for Circular {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self)
    }
}

/// Fails with a long error.
#[tool]
async fn shout() -> Result<String, Verbose> {
    Err(Verbose)
}

/// Fails with a circular error.
#[tool]
async fn circle() -> Result<String, Circular> {
    Err(Circular)
}

#[tokio::test]
async fn errors_of_tools_are_bounded() {
    let calls = calls([ToolCall::new("1", "shout"), ToolCall::new("2", "circle")]);
    let model = Arc::new(ScriptedModel::new([calls, AiMessage::new("done")]));
    let tools = Tools::<MessagesState>::new().with(shout).with(circle);
    let graph = Agent::new(model).tools(tools).graph().unwrap().compile().unwrap();
    let chat = graph.run(MessagesState::input().messages("hello")).await.unwrap().into_state();
    let results = transcript(&chat.messages);
    assert!((8_000..11_000).contains(&results[2].chars().count()), "{}", results[2].chars().count());
    assert!(results[3].starts_with("tool: round") && results[3].len() < 200, "{}", results[3]);
}

/// Returns a null artifact.
#[tool]
async fn look() -> ToolReply {
    ToolReply::new("nothing").artifact(serde_json::Value::Null)
}

#[tokio::test]
async fn null_artifact_is_stored_as_none() {
    let replies = [calls([ToolCall::new("1", "look")]), AiMessage::new("done")];
    let agent =
        Agent::new(Arc::new(ScriptedModel::new(replies))).tools(Tools::<MessagesState>::new().with(look));
    let thread =
        agent.graph().unwrap().compile().unwrap().with_checkpointer(MemoryCheckpointer::new()).thread("t");
    let outcome = thread.run(MessagesState::input().messages("look")).await.unwrap();
    assert_eq!(outcome.state().messages[2].as_tool().unwrap().artifact, None);
}

#[test]
fn schema_of_tool_without_arguments_is_empty() {
    let specs = Tools::<MessagesState>::new().with(look).specs();
    assert_eq!(
        specs[0].parameters,
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    );
}
