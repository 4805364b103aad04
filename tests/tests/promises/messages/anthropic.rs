//! Requests in Anthropic's format.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use superstep::messages::{
    AiMessage, AnthropicPrompt, InvalidToolCall, Message, Role, ToolCall, ToolMessage,
};

fn read(value: Value) -> Message {
    Message::from_json(value).unwrap()
}

fn texts(blocks: &[Value]) -> String {
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

/// Checks the rules of the endpoint, and that the request loses nothing of the history.
pub(super) fn check_accepted(prompt: &AnthropicPrompt, history: &[Message], name: &str) {
    let mut called: BTreeSet<String> = BTreeSet::new();
    let (mut all_called, mut all_answered, mut sent) = (0, 0, texts(&prompt.system));
    for (at, turn) in prompt.messages.iter().enumerate() {
        assert_eq!(turn["role"], if at % 2 == 0 { "user" } else { "assistant" }, "{name}: {turn}");
        let content = turn["content"].as_array().unwrap();
        assert!(!content.is_empty(), "{name}: {turn}");
        let of = |kind: &str| content.iter().filter(|block| block["type"] == kind).collect::<Vec<_>>();
        assert!(
            of("text").iter().all(|block| !block["text"].as_str().unwrap().trim().is_empty()),
            "{name}: {turn}"
        );
        let results = of("tool_result");
        assert!(
            content.iter().take(results.len()).all(|block| block["type"] == "tool_result"),
            "{name}: {turn}"
        );
        all_answered += results.len();
        for result in results {
            assert!(called.remove(result["tool_use_id"].as_str().unwrap()), "{name}: {result}");
            sent.push_str(&texts(result["content"].as_array().unwrap_or(&Vec::new())));
        }
        called.clear();
        for call in of("tool_use") {
            let id = call["id"].as_str().unwrap();
            assert!(call["input"].is_object() && turn["role"] == "assistant", "{name}: {call}");
            assert!(
                !id.is_empty()
                    && id.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"_-".contains(&letter))
            );
            assert!(called.insert(id.to_owned()), "{name}: {call}");
            all_called += 1;
        }
        assert!(of("thinking").iter().all(|block| block["signature"].is_string()), "{name}: {turn}");
        sent.push_str(&texts(content));
    }
    let calls: usize = history.iter().filter_map(Message::as_ai).map(|message| message.calls().count()).sum();
    assert_eq!(all_called, calls, "{name}");
    assert!(all_answered <= history.iter().filter(|message| message.role() == Role::Tool).count(), "{name}");
    let mut answers = BTreeSet::new();
    for message in history {
        // The endpoint refuses a second answer to a call.
        if message.as_tool().is_some_and(|answer| !answers.insert(&answer.tool_call_id)) {
            continue;
        }
        for text in message.content().blocks().iter().filter_map(|block| block.text()) {
            assert!(text.trim().is_empty() || sent.contains(text), "{name}: {text}");
        }
        assert!(
            message.content().blocks().len() > 1 || sent.contains(message.text().trim()),
            "{name}: {message:?}"
        );
    }
}

fn turns(history: &[Message]) -> Value {
    Value::Array(AnthropicPrompt::of(history).messages)
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn later_system_messages_join_the_user_turn() {
    let prompt = AnthropicPrompt::of(&[
        Message::system("a"),
        Message::system(" "),
        Message::system("b"),
        Message::human("c"),
        Message::system("d"),
        Message::ai("e"),
    ]);
    assert_eq!(prompt.system, [text("a"), text("b")]);
    let expected = json!([
        {"role": "user", "content": [text("c"), text("d")]},
        {"role": "assistant", "content": [text("e")]},
    ]);
    assert_eq!(Value::Array(prompt.messages), expected);
}

#[test]
fn first_turn_belongs_to_the_user() {
    let begin = json!({"role": "user", "content": [text("Begin.")]});
    assert_eq!(turns(&[Message::system("a")]), json!([begin]));
    let expected = json!([begin, {"role": "assistant", "content": [text("Hello!")]}]);
    assert_eq!(turns(&[Message::human(""), Message::ai("Hello!"), Message::ai("")]), expected);
}

#[test]
fn tool_results_open_the_turn_after_their_calls() {
    let call = |id: &str| ToolCall::new(id, "clock");
    let history = [
        Message::human("when?"),
        AiMessage::new("I look.").call(call("a")).call(call("b")).into(),
        Message::tool("b", "12"),
        Message::human("well?"),
        ToolMessage::error("a", "no clock").into(),
        Message::ai("Noon."),
        Message::tool("b", "12 again"),
        Message::tool("nobody", "a text"),
    ];
    let tool_use = |id: &str| json!({"type": "tool_use", "id": id, "name": "clock", "input": {}});
    let expected = json!([
        {"role": "user", "content": [text("when?")]},
        {"role": "assistant", "content": [text("I look."), tool_use("a"), tool_use("b")]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "b", "content": [text("12")]},
            {"type": "tool_result", "tool_use_id": "a", "content": [text("no clock")], "is_error": true},
            text("well?"),
        ]},
        {"role": "assistant", "content": [text("Noon.")]},
        {"role": "user", "content": [text("a text")]},
    ]);
    assert_eq!(turns(&history), expected);
}

#[test]
fn only_signed_thinking_is_sent_and_comes_first() {
    let history = |content: Value| [Message::human("?"), read(json!({"type": "ai", "content": content}))];
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let sent = turns(&history(json!([
        text("Noon."), {"type": "thinking", "thinking": "no signature"}, {"type": "thinking", "thinking": "hm", "signature": "s"},
    ])));
    assert_eq!(sent[1]["content"], json!([thought, text("Noon.")]));
    // Content that starts with a signed block is sent unchanged.
    let content = json!([thought, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, thought, text("a")]);
    assert_eq!(turns(&history(content.clone()))[1]["content"], content);
    // LangChain's form of a thinking block.
    let sent =
        turns(&history(json!([{"type": "reasoning", "reasoning": "hm", "extras": {"signature": "s"}}])));
    assert_eq!(sent[1]["content"], json!([thought]));
}

#[test]
fn content_calls_keep_their_position_and_match_the_message() {
    let content = json!([
        {"type": "tool_use", "id": "a", "name": "add", "input": {}, "partial_json": "{\"n\": 1}", "index": 0},
        text("and"), {"type": "tool_use", "id": "gone", "name": "add", "input": {}},
    ]);
    let message = read(json!({
        "type": "ai", "content": content,
        "tool_calls": [{"name": "add", "args": {"n": 1}, "id": "a"}, {"name": "add", "args": {"n": 2}, "id": "b"}],
    }));
    let tool_use = |id: &str, n: u8| json!({"type": "tool_use", "id": id, "name": "add", "input": {"n": n}});
    let sent = turns(&[Message::human("?"), message]);
    assert_eq!(sent[1]["content"], json!([tool_use("a", 1), text("and"), tool_use("b", 2)]));
}

#[test]
fn invalid_calls_become_objects_with_valid_ids() {
    let message = AiMessage::new("")
        .call(ToolCall::new("functions.open:0", "open"))
        .invalid_call(InvalidToolCall::new("x@y", "save", "{\"text\": \"It was"));
    let history = [
        Message::human("?"),
        message.into(),
        Message::tool("x@y", ""),
        Message::tool("functions.open:0", "opened"),
    ];
    check_accepted(&AnthropicPrompt::of(&history), &history, "odd ids");
    let sent = turns(&history);
    assert_eq!(sent[1]["content"][1]["input"], json!({"invalid_arguments": "{\"text\": \"It was"}));
    assert_eq!(sent[2]["content"][0]["tool_use_id"], sent[1]["content"][1]["id"]);
    assert!(sent[2]["content"][0].get("content").is_none(), "empty text is omitted");
    assert_eq!(sent[2]["content"][1]["tool_use_id"], sent[1]["content"][0]["id"]);
}

#[test]
fn images_have_a_source_and_foreign_blocks_are_omitted() {
    let content = json!([
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}, "cache_control": {"type": "ephemeral"}},
        {"type": "image", "url": "https://a.example/b.png", "id": "x"}, {"type": "input_audio", "input_audio": {}},
        {"type": "document", "source": {"type": "text", "data": "d"}}, {"type": "refusal", "refusal": "no"},
        {"type": "text", "text": "a", "index": 1, "citations": null, "cache_control": {"type": "ephemeral"}},
    ]);
    let sent = turns(&[read(json!({"type": "human", "content": content}))]);
    let expected = json!([
        {
            "type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="},
            "cache_control": {"type": "ephemeral"},
        },
        {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}},
        {"type": "document", "source": {"type": "text", "data": "d"}},
        text("no"),
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
    ]);
    assert_eq!(sent[0]["content"], expected);
    let refused = json!({"role": "assistant", "content": null, "refusal": "I cannot."});
    assert_eq!(turns(&[Message::human("?"), read(refused)])[1]["content"], json!([text("I cannot.")]));
}

/// Generates messages of every role, including blank ones and answers to unknown calls.
fn message() -> impl Strategy<Value = Message> {
    let text = "[a-c ]{0,3}";
    prop_oneof![
        text.prop_map(Message::human),
        text.prop_map(Message::system),
        (text, 0..6_u8).prop_map(|(text, id)| Message::tool(id.to_string(), text)),
        text.prop_map(Message::ai),
    ]
}

proptest! {
    #[test]
    fn any_history_makes_an_acceptable_request(history in vec((message(), 0..3_usize), 0..12)) {
        // Every call gets a unique id, as from a provider.
        let mut next = 0..;
        let history: Vec<_> = history
            .into_iter()
            .map(|(message, calls)| match message {
                Message::Ai(mut message) => {
                    for id in next.by_ref().take(calls) {
                        message.tool_calls.push(ToolCall::new(id.to_string(), "n"));
                    }
                    message.into()
                }
                message => message,
            })
            .collect();
        let prompt = AnthropicPrompt::of(&history);
        check_accepted(&prompt, &history, "random");
    }
}

#[test]
fn invalid_tool_names_are_sanitized() {
    let long = "x".repeat(200);
    for (name, sent) in [("", "unknown"), ("a.b c", "a_b_c"), ("größe", "gr__e"), (&*long, &long[..128])] {
        let call = AiMessage::new("").call(ToolCall::new("1", name));
        let history = [Message::human("?"), call.into(), Message::tool("1", "there is no such tool")];
        assert_eq!(turns(&history)[1]["content"][0]["name"], sent);
    }
}
