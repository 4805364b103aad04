//! The loop of model and tools.

use std::collections::BTreeSet;
use std::sync::Arc;

use superstep::checkpoint::MemoryCheckpointer;
use superstep::messages::{AiMessage, Message, MessagesState, Role, ToolCall};
use superstep::{EventKind, Graph, StreamMode};
use superstep_agent::agent::Agent;
use superstep_agent::tool::{Tools, tool_node};
use superstep_agent::{ChatModel, ScriptedModel, tool};

/// Adds two numbers.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Divides one number by another.
#[tool]
async fn divide(a: i64, b: i64) -> superstep::Result<i64> {
    a.checked_div(b).ok_or_else(|| superstep::NodeError::msg("nothing can be divided by 0"))
}

fn tools() -> Tools<MessagesState> {
    Tools::new().with(add).with(divide)
}

pub(crate) fn calls(calls: impl IntoIterator<Item = ToolCall>) -> AiMessage {
    calls.into_iter().fold(AiMessage::new(""), AiMessage::call)
}

fn sum(id: &str, a: i64, b: i64) -> ToolCall {
    ToolCall::new(id, "add").arg("a", a).arg("b", b)
}

fn graph(model: &ScriptedModel) -> Graph<MessagesState> {
    let model: Arc<dyn ChatModel> = Arc::new(model.clone());
    Agent::new(model).system("You are good at sums.").tools(tools()).graph().unwrap().compile().unwrap()
}

pub(crate) fn transcript(messages: &[Message]) -> Vec<String> {
    let one = |message: &Message| format!("{}: {}", message.role(), message.text());
    messages.iter().map(one).collect()
}

#[tokio::test]
async fn agent_loops_until_the_model_calls_no_tool() {
    let model = ScriptedModel::new([
        calls([sum("1", 1, 2)]),
        calls([sum("2", 3, 4), sum("3", 5, 6)]),
        AiMessage::new("3, 7 and 11."),
    ]);
    let chat = graph(&model).run(MessagesState::input().messages("sums?")).await.unwrap().into_state();
    assert_eq!(
        transcript(&chat.messages),
        ["human: sums?", "ai: ", "tool: 3", "ai: ", "tool: 7", "tool: 11", "ai: 3, 7 and 11."]
    );
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    // Each request contains the system prompt, the whole conversation and the tools.
    assert_eq!(
        transcript(&requests[1].messages),
        ["system: You are good at sums.", "human: sums?", "ai: ", "tool: 3"]
    );
    assert_eq!(requests[1].tools.len(), 2);
    assert_eq!(requests[1].tools[0].parameters["required"], serde_json::json!(["a", "b"]));
    assert_eq!(requests[1].tools[0].parameters["additionalProperties"], false);
}

#[tokio::test]
async fn model_receives_errors_that_it_can_correct() {
    let model = ScriptedModel::new([
        calls([
            ToolCall::new("1", "multiply"),
            ToolCall::new("2", "add").arg("a", 1).arg("b", "two"),
            ToolCall::new("3", "add").arg("a", 1),
            sum("4", 1, 1).arg("c", 1),
            ToolCall::new("5", "divide").arg("a", 1).arg("b", 0),
        ])
        .invalid_call(
            superstep::messages::InvalidToolCall::new("6", "add", "{\"a\": 1").error("it is cut off"),
        ),
        AiMessage::new("I give up."),
    ]);
    let chat = graph(&model).run(MessagesState::input().messages("sums?")).await.unwrap().into_state();
    let results: Vec<_> = chat.messages[2..8].iter().map(|message| message.as_tool().unwrap()).collect();
    assert!(
        results.iter().all(|message| message.status == superstep::messages::ToolStatus::Error),
        "{results:#?}"
    );
    let texts: Vec<_> = results.iter().map(|message| message.content.text().into_owned()).collect();
    let expected = [
        "there is no tool `multiply`; available tools: `add`, `divide`",
        "invalid arguments for `add` at `b`: invalid type: string \"two\", expected i64",
        "invalid arguments for `add` at `.`: missing field `b`",
        "invalid arguments for `add` at `c`: unknown field `c`, expected `a` or `b`",
        "nothing can be divided by 0",
        "the arguments of `add` cannot be read: it is cut off",
    ];
    assert_eq!(texts, expected);
    let ids: Vec<_> = results.iter().map(|message| message.tool_call_id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(chat.messages[8].text(), "I give up.");
}

#[tokio::test]
async fn last_message_explains_exhausted_recursion_limit() {
    for (limit, ends) in [(3, false), (4, true), (5, true)] {
        let model = ScriptedModel::new([calls([sum("1", 1, 2)]), AiMessage::new("3.")]);
        let graph = graph(&model);
        let outcome =
            graph.run(MessagesState::input().messages("sum?")).recursion_limit(limit).await.unwrap();
        let last = outcome.state().messages.last().unwrap();
        assert_eq!(last.role(), Role::Ai);
        assert!(!last.as_ai().unwrap().has_calls());
        assert_eq!(last.text() == "3.", ends, "{limit}: {last:?}");
    }
}

#[tokio::test]
async fn streamed_chunks_have_the_id_of_their_reply() {
    let reply = |id: &str, text: &str| {
        let mut reply = AiMessage::new(text);
        reply.id = Some(id.to_owned());
        reply
    };
    let model =
        ScriptedModel::new([reply("m1", "").call(sum("1", 1, 2)), reply("m2", "It is three, as always.")]);
    let graph = graph(&model);
    let mut stream =
        graph.run(MessagesState::input().messages("sum?")).events([StreamMode::Messages]).stream();
    let (mut text, mut pieces) = (String::new(), 0);
    let outcome = loop {
        match stream.next().await.unwrap().unwrap().kind {
            EventKind::Message { node, chunk, .. } => {
                assert_eq!(&*node, "model");
                if chunk.id.as_deref() == Some("m2") {
                    pieces += 1;
                    text.push_str(&chunk.text);
                }
            }
            EventKind::Done(outcome) => break outcome,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(text, "It is three, as always.");
    assert!(pieces > 1);
    let last = outcome.state().messages.last().unwrap();
    assert_eq!((last.id(), last.text().as_ref()), (Some("m2"), "It is three, as always."));
}

#[tokio::test]
async fn streamed_reply_without_an_id_gets_one() {
    let reply = |id: Option<&str>| {
        let mut reply = AiMessage::new("It is three, as always.");
        reply.id = id.map(str::to_owned);
        reply
    };
    // The third reply has the id of the second.
    let model = ScriptedModel::new([reply(None), reply(Some("m2")), reply(Some("m2"))]);
    let thread = graph(&model).with_checkpointer(MemoryCheckpointer::new()).thread("ann");
    let mut seen = Vec::new();
    for _ in 0..3 {
        let input = MessagesState::input().messages("sum?");
        let mut stream = thread.run(input).events([StreamMode::Messages]).stream();
        let mut ids = BTreeSet::new();
        let outcome = loop {
            match stream.next().await.unwrap().unwrap().kind {
                EventKind::Message { chunk, .. } => ids.insert(chunk.id.unwrap()),
                EventKind::Done(outcome) => break outcome,
                other => panic!("{other:?}"),
            };
        };
        let last = outcome.state().messages.last().unwrap().id().unwrap().to_owned();
        assert_eq!(ids.into_iter().collect::<Vec<_>>(), std::slice::from_ref(&last));
        assert!(!seen.contains(&last));
        seen.push(last);
    }
    assert_eq!(seen[1], "m2");
}

#[tokio::test]
async fn conversation_continues_on_a_thread() {
    let model = ScriptedModel::new([
        AiMessage::new("Hello Ann."),
        calls([sum("1", 2, 2)]),
        AiMessage::new("4, Ann."),
    ]);
    let store = MemoryCheckpointer::new();
    let thread = || graph(&model).with_checkpointer(store.clone()).thread("ann");
    thread().run(MessagesState::input().messages("I am Ann")).await.unwrap();
    thread().run(MessagesState::input().messages("2 + 2?")).await.unwrap();
    let chat = thread().state().await.unwrap().unwrap().state.unwrap();
    assert_eq!(
        transcript(&chat.messages),
        ["human: I am Ann", "ai: Hello Ann.", "human: 2 + 2?", "ai: ", "tool: 4", "ai: 4, Ann."]
    );
    let mut ids: Vec<_> = chat.messages.iter().map(|message| message.id().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

#[tokio::test]
async fn repeated_message_id_replaces_no_message() {
    let reply = |mut reply: AiMessage| {
        reply.id = Some("chatcmpl-7".to_owned());
        reply
    };
    let model = ScriptedModel::new([
        reply(calls([sum("1", 1, 2)])),
        reply(calls([sum("1", 3, 4)])),
        reply(AiMessage::new("3 and 7.")),
    ]);
    let chat = graph(&model).run(MessagesState::input().messages("sums?")).await.unwrap().into_state();
    assert_eq!(
        transcript(&chat.messages),
        ["human: sums?", "ai: ", "tool: 3", "ai: ", "tool: 7", "ai: 3 and 7."]
    );
}

#[test]
fn invalid_tools_are_reported_together() {
    /// Has an invalid name.
    #[tool(name = "add numbers")]
    async fn odd() {}

    let tools = Tools::<MessagesState>::new().with(add).with(odd).with(add);
    let error = tool_node(tools).unwrap_err();
    assert_eq!(
        error.problems(),
        [
            "`add numbers` is not a valid tool name: use 1 to 64 ASCII letters, digits, `_` or `-`",
            "two tools have the name `add`",
        ]
    );
}
