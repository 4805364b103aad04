//! The JSON forms that are read as a message.

use serde_json::{Value, json};
use superstep::messages::{Content, Message, MessageUpdate, MessagesUpdate, Remove, Role};

#[track_caller]
fn check(value: Value, role: Role, text: &str) {
    let message = Message::from_json(value).unwrap();
    assert_eq!((message.role(), message.text().as_ref()), (role, text));
}

#[track_caller]
fn refused(value: Value, expected: &str) {
    let error = Message::from_json(value).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn strings_pairs_and_both_role_vocabularies_are_read() {
    check(json!("hi"), Role::Human, "hi");
    check(json!(["user", "hi"]), Role::Human, "hi");
    check(json!(["assistant", [{"type": "text", "text": "h"}, "i"]]), Role::Ai, "hi");
    for (name, role) in [
        ("user", Role::Human),
        ("human", Role::Human),
        ("assistant", Role::Ai),
        ("ai", Role::Ai),
        ("system", Role::System),
        ("developer", Role::System),
    ] {
        check(json!({"role": name, "content": "hi"}), role, "hi");
        check(json!({"type": name, "content": "hi"}), role, "hi");
        check(json!([name, "hi"]), role, "hi");
        check(json!({"type": "chat", "role": name, "content": "hi"}), role, "hi");
        check(json!({"type": "chat", "data": {"role": name, "content": "hi"}}), role, "hi");
        // An output item of OpenAI's Responses API has the type `message`.
        check(json!({"type": "message", "role": name, "content": "hi"}), role, "hi");
    }
    check(json!({"role": "tool", "tool_call_id": "c", "content": "hi"}), Role::Tool, "hi");
    check(json!({"type": "tool", "tool_call_id": "c", "content": "hi"}), Role::Tool, "hi");
    check(json!({"type": "AIMessageChunk", "content": "hi"}), Role::Ai, "hi");
    check(json!({"role": "user"}), Role::Human, "");
}

#[test]
fn rust_conversions_match_the_json_forms() {
    let update: MessagesUpdate =
        [MessageUpdate::from("hi"), (Role::System, "be brief").into(), Message::ai("x").into()]
            .into_iter()
            .collect();
    let read: MessagesUpdate =
        serde_json::from_value(json!(["hi", ["system", "be brief"], {"type": "ai", "content": "x"}]))
            .unwrap();
    assert_eq!(update, read);
    let one: MessagesUpdate = serde_json::from_value(json!("hi")).unwrap();
    assert_eq!(one, [Message::human("hi")].into_iter().collect());
    // Two strings are two messages. A pair is one message only inside a list.
    let two: MessagesUpdate = serde_json::from_value(json!(["user", "hi"])).unwrap();
    assert_eq!(two, [Message::human("user"), Message::human("hi")].into_iter().collect());
}

#[test]
fn null_fields_are_ignored() {
    let message = json!({
        "type": "ai", "content": null, "id": null, "name": null, "tool_calls": null, "invalid_tool_calls": null,
        "additional_kwargs": null, "response_metadata": null, "usage_metadata": null,
    });
    assert_eq!(Message::from_json(message).unwrap(), Message::ai(""));
    let message = json!({
        "type": "tool", "content": null, "tool_call_id": "c", "artifact": null, "status": null, "additional_kwargs": null,
    });
    assert_eq!(Message::from_json(message).unwrap(), Message::tool("c", ""));
    let message = json!({
        "type": "ai", "tool_calls": [{"name": "n", "args": null, "id": null}],
        "invalid_tool_calls": [{"name": null, "args": null, "id": "c", "error": null}],
        "usage_metadata": {"input_tokens": null, "output_tokens": 1, "total_tokens": 1},
    });
    let message = Message::from_json(message).unwrap();
    assert_eq!(message.as_ai().unwrap().calls().collect::<Vec<_>>(), [("", "n"), ("c", "")]);
}

#[test]
fn unknown_fields_and_blocks_survive() {
    let message = json!({
        "type": "human", "content": [{"type": "hologram", "data": {"x": null}}], "mood": null, "weather": {"a": []},
        "lc": true,
    });
    let read = Message::from_json(message.clone()).unwrap();
    assert!(matches!(read.content(), Content::Blocks(blocks) if blocks.len() == 1));
    assert_eq!(serde_json::to_value(read).unwrap(), message);
}

#[test]
fn unknown_role_error_lists_the_known_roles() {
    let known = "use `human` (`user`), `ai` (`assistant`), `tool` or `system` (`developer`)";
    for value in [
        json!({"role": "robot", "content": ""}),
        json!({"type": "robot", "content": ""}),
        json!(["robot", ""]),
        json!({"type": "chat", "role": "robot"}),
        json!({"type": "chat", "content": ""}),
    ] {
        refused(value, known);
    }
    refused(json!({"role": "function", "name": "f", "content": "1"}), "unknown role `function`");
}

#[test]
fn invalid_messages_are_refused_with_a_reason() {
    refused(
        json!(3),
        "expected a message (an object, a string, or a pair of role and content), found a number",
    );
    refused(json!(null), "found null");
    refused(json!(["user", "a", "b"]), "found a list");
    refused(json!([3, "a"]), "found a list");
    refused(json!({"content": "hi"}), "expected a message, but the object has neither `type` nor `role`");
    refused(json!({"role": "tool", "content": "hi"}), "invalid `tool` message: missing field `tool_call_id`");
    refused(json!({"role": "user", "content": 3}), "the content of a message: a string or a list of blocks");
    refused(json!({"role": "user", "content": [3]}), "expected a content block or a string, found `3`");
    refused(json!({"type": "ai", "tool_calls": [{"args": {}}]}), "missing field `name`");
}

#[test]
fn envelopes_without_a_message_are_refused() {
    let envelope = |kind: &str, class: &str| json!({"lc": 1, "type": kind, "id": ["langchain", class], "kwargs": {"content": "x"}});
    check(envelope("constructor", "HumanMessage"), Role::Human, "x");
    check(envelope("constructor", "AIMessageChunk"), Role::Ai, "x");
    refused(envelope("constructor", "ChatOpenAI"), "the envelope of `ChatOpenAI` contains no message");
    refused(
        envelope("not_implemented", "HumanMessage"),
        "an envelope of the type `not_implemented` contains no message",
    );
    refused(
        json!({"lc": 1, "type": "secret", "id": ["KEY"]}),
        "an envelope of the type `secret` contains no message",
    );
    refused(
        json!({"lc": 1, "type": "constructor", "id": "HumanMessage"}),
        "the envelope of `` contains no message",
    );
    refused(
        json!({"lc": 1, "type": "constructor", "id": ["HumanMessage"], "kwargs": []}),
        "contains no message",
    );
}

#[test]
fn removals_are_accepted_only_in_updates() {
    let envelope = json!({"lc": 1, "type": "constructor", "id": ["RemoveMessage"], "kwargs": {"id": "a", "content": ""}});
    for removal in
        [json!({"type": "remove", "id": "a"}), json!({"type": "remove", "data": {"id": "a"}}), envelope]
    {
        refused(removal.clone(), "a removal is not a message: only an update of messages can contain one");
        let update: MessageUpdate = serde_json::from_value(removal).unwrap();
        assert_eq!(update, Remove::id("a").into());
    }
    let all: MessagesUpdate =
        serde_json::from_value(json!([{"type": "remove", "id": "__remove_all__"}, "again"])).unwrap();
    assert_eq!(all, [MessageUpdate::from(Remove::all()), "again".into()].into_iter().collect());
    let error = serde_json::from_value::<MessagesUpdate>(json!({"type": "remove"})).unwrap_err();
    assert!(error.to_string().contains("a removal needs the `id` of the message"), "{error}");
}

#[test]
fn extra_data_field_is_kept_beside_the_content() {
    let message =
        json!({"type": "ai", "content": "noon", "tool_calls": [], "id": "a", "data": {"zone": "CET"}});
    let read = Message::from_json(message.clone()).unwrap();
    assert_eq!(read.text(), "noon");
    assert_eq!(serde_json::to_value(&read).unwrap(), message);
    let removal = json!({"type": "remove", "id": "a", "data": {"why": "old"}});
    assert_eq!(serde_json::from_value::<MessageUpdate>(removal).unwrap(), Remove::id("a").into());
}
