//! Spans of model calls and tools, which follow OpenTelemetry's conventions and contain no message content.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::interrupt::Question;
use superstep::messages::{AiMessage, MessagesState, ToolCall, Usage};
use superstep::{Context, NodeError};
use superstep_agent::agent::{Agent, InvalidOutput};
use superstep_agent::tool::{Fatal, Tools, tool_node};
use superstep_agent::{ChatRequest, ModelError, ScriptedModel, tool};
use tests::spans::Recorded;

use crate::loops::calls;

const SECRET: &str = "hunter2";

/// Looks a password up.
#[tool]
async fn look_up(whose: String) -> superstep::Result<String> {
    if whose == "nobody" {
        Err(superstep::NodeError::msg(format!("{SECRET} is nobody's")))
    } else {
        Ok(SECRET.to_owned())
    }
}

#[derive(Serialize, Deserialize, Clone, Debug)]
struct May(String);

impl Question for May {
    type Answer = bool;
}

/// Asks before it does anything.
#[tool]
async fn ask(cx: &Context) -> bool {
    cx.interrupt(May(SECRET.to_owned())).await
}

fn reply(text: &str) -> AiMessage {
    let mut usage = Usage::new(12, 5);
    usage.extra.insert("input_token_details".to_owned(), json!({"cache_read": 7}));
    let mut reply = AiMessage::new(text).usage(usage);
    for (key, value) in [("id", "chatcmpl-1"), ("model_name", "m-2"), ("finish_reason", "stop")] {
        reply.response_metadata.insert(key.to_owned(), value.into());
    }
    reply
}

fn agent(model: ScriptedModel) -> Agent<MessagesState> {
    Agent::new(Arc::new(model)).tools(Tools::new().with(look_up).with(ask))
}

/// Returns the `gen_ai` spans. Panics if any span contains the secret.
fn gen_ai_spans(recorded: &Recorded) -> String {
    let whole = recorded.whole();
    assert!(!whole.contains(SECRET), "{whole}");
    let ours = |line: &&str| line.contains("gen_ai.operation.name") || line.contains("(open)");
    whole.lines().filter(ours).map(|line| format!("{}\n", line.trim_start())).collect()
}

#[tokio::test]
async fn spans_record_token_usage_and_tool_names() {
    let recorded = Recorded::here();
    let model = ScriptedModel::new([
        calls([
            ToolCall::new("call_1", "look_up").arg("whose", SECRET),
            ToolCall::new("call_2", "no_such_tool"),
        ]),
        reply(SECRET),
    ]);
    let request = ChatRequest::default().temperature(0.5).max_tokens(99);
    let graph = agent(model).request(request).graph().unwrap().name("helper").compile().unwrap();
    let graph = graph.with_checkpointer(MemoryCheckpointer::new());
    let run = graph.thread("ann").run(MessagesState::input().messages(SECRET)).run_id("r");
    run.await.unwrap();
    let places = recorded.tree(|field| matches!(field, "graph.node" | "gen_ai.tool.name"));
    expect_test::expect![[r#"
        run
          superstep
            node graph.node=sanity
          superstep
            node graph.node=model
              chat
          superstep
            node graph.node=tools
              execute_tool gen_ai.tool.name=look_up
            node graph.node=tools
          superstep
            node graph.node=model
              chat
    "#]]
    .assert_eq(&places);
    expect_test::expect![[r#"
        run otel.name=invoke_agent helper otel.kind=internal gen_ai.operation.name=invoke_agent gen_ai.agent.name=helper gen_ai.conversation.id=ann graph.run.id=r graph.run.begin=input graph.supersteps=4 graph.outcome=done
        chat otel.name=chat scripted otel.kind=client gen_ai.operation.name=chat gen_ai.request.model=scripted gen_ai.request.temperature=0.5 gen_ai.request.max_tokens=99 gen_ai.conversation.id=ann
        execute_tool otel.name=execute_tool look_up otel.kind=internal gen_ai.operation.name=execute_tool gen_ai.tool.name=look_up gen_ai.tool.call.id=call_1 gen_ai.tool.type=function gen_ai.tool.description=Looks a password up. gen_ai.conversation.id=ann
        chat otel.name=chat scripted otel.kind=client gen_ai.operation.name=chat gen_ai.request.model=scripted gen_ai.request.temperature=0.5 gen_ai.request.max_tokens=99 gen_ai.conversation.id=ann gen_ai.response.id=chatcmpl-1 gen_ai.response.model=m-2 gen_ai.response.finish_reasons=["stop"] gen_ai.usage.input_tokens=12 gen_ai.usage.output_tokens=5 gen_ai.usage.cache_read.input_tokens=7
    "#]].assert_eq(&gen_ai_spans(&recorded));
}

#[tokio::test]
async fn streamed_reply_records_the_same_spans() {
    let awaited = {
        let recorded = Recorded::here();
        let graph = agent(ScriptedModel::new([reply(SECRET)])).graph().unwrap().compile().unwrap();
        graph.run(MessagesState::input().messages(SECRET)).await.unwrap();
        gen_ai_spans(&recorded)
    };
    let recorded = Recorded::here();
    let graph = agent(ScriptedModel::new([reply(SECRET)])).graph().unwrap().compile().unwrap();
    graph.stream(MessagesState::input().messages(SECRET)).for_each(|_| ()).await.unwrap();
    assert_eq!(gen_ai_spans(&recorded), awaited);
}

#[tokio::test]
async fn spans_record_the_kind_of_error() {
    let recorded = Recorded::here();
    let refused = ModelError::Refused {
        model: "m".to_owned(),
        status: 429,
        message: SECRET.to_owned(),
        retry_after: None,
    };
    let model = ScriptedModel::new([calls([ToolCall::new("call_1", "look_up").arg("whose", "nobody")])])
        .fail(refused);
    let graph = agent(model).graph().unwrap().compile().unwrap();
    graph.run(MessagesState::input().messages(SECRET)).await.unwrap_err();
    expect_test::expect![[r#"
        run otel.name=invoke_agent MessagesState otel.kind=internal gen_ai.operation.name=invoke_agent gen_ai.agent.name=MessagesState graph.run.begin=input graph.supersteps=3 graph.outcome=failed error.type=Node otel.status_code=ERROR
        chat otel.name=chat scripted otel.kind=client gen_ai.operation.name=chat gen_ai.request.model=scripted
        execute_tool otel.name=execute_tool look_up otel.kind=internal gen_ai.operation.name=execute_tool gen_ai.tool.name=look_up gen_ai.tool.call.id=call_1 gen_ai.tool.type=function gen_ai.tool.description=Looks a password up. error.type=superstep::NodeError otel.status_code=ERROR
        chat otel.name=chat scripted otel.kind=client gen_ai.operation.name=chat gen_ai.request.model=scripted error.type=429 otel.status_code=ERROR
    "#]].assert_eq(&gen_ai_spans(&recorded));
}

#[test]
fn agent_errors_have_public_type_names() {
    let refused = ModelError::Refused {
        model: "m".to_owned(),
        status: 429,
        message: SECRET.to_owned(),
        retry_after: None,
    };
    assert_eq!(NodeError::from(refused).type_name(), "superstep_agent::ModelError");
    let none = InvalidOutput::new("m", SECRET, SECRET);
    assert_eq!(NodeError::from(none).type_name(), "superstep_agent::agent::InvalidOutput");
    let fatal = Fatal::new(SECRET);
    assert_eq!(NodeError::from(fatal).type_name(), "superstep_agent::tool::Fatal");
    let twice = tool_node(Tools::<MessagesState>::new().with(look_up).with(look_up)).unwrap_err();
    assert_eq!(NodeError::from(twice).type_name(), "superstep_agent::tool::InvalidTools");
}

#[tokio::test]
async fn tool_interrupt_is_not_recorded_as_failure() {
    let recorded = Recorded::here();
    let model = ScriptedModel::new([calls([ToolCall::new("call_1", "ask")])]);
    let graph = agent(model).graph().unwrap().compile().unwrap();
    graph.run(MessagesState::input().messages(SECRET)).await.unwrap();
    expect_test::expect![[r#"
        run otel.name=invoke_agent MessagesState otel.kind=internal gen_ai.operation.name=invoke_agent gen_ai.agent.name=MessagesState graph.run.begin=input graph.supersteps=2 graph.outcome=interrupted
        chat otel.name=chat scripted otel.kind=client gen_ai.operation.name=chat gen_ai.request.model=scripted
        execute_tool otel.name=execute_tool ask otel.kind=internal gen_ai.operation.name=execute_tool gen_ai.tool.name=ask gen_ai.tool.call.id=call_1 gen_ai.tool.type=function gen_ai.tool.description=Asks before it does anything.
    "#]].assert_eq(&gen_ai_spans(&recorded));
}
