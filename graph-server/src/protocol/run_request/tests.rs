use serde_json::json;

use super::*;
use crate::protocol::read_body;

fn read(body: Value) -> RunRequest {
    read_body(body).unwrap()
}

#[track_caller]
fn refuse(body: Value, expected: &str) {
    assert_eq!(read_body::<RunRequest>(body).unwrap_err().to_string(), expected);
}

#[test]
fn absent_and_null_fields_have_the_defaults_of_the_protocol() {
    for body in [
        json!({ "assistant_id": "agent" }),
        json!({ "assistant_id": "agent", "input": null, "stream_mode": null, "command": null, "unknown": 1,
            "feedback_keys": ["a"], "langsmith_tracer": {}, "webhook": null, "config": { "configurable": {} } }),
    ] {
        let request = read(body);
        assert_eq!(request.stream_mode, [StreamMode::Values]);
        assert_eq!((request.input, request.command, request.context), (None, None, Object::new()));
        assert_eq!(request.multitask_strategy, MultitaskStrategy::Enqueue);
        assert_eq!(request.on_disconnect, OnDisconnect::Continue);
        assert_eq!(request.on_completion, OnCompletion::Delete);
        assert_eq!(request.if_not_exists, IfNotExists::Reject);
        assert_eq!(request.durability, DurabilityName::Async);
        assert_eq!(request.interrupt_before, Nodes::Named(Vec::new()));
    }
}

#[test]
fn lists_may_be_single_values() {
    let request = read(json!({
        "assistant_id": "agent", "stream_mode": "messages-tuple", "interrupt_before": "*", "interrupt_after": ["a"],
        "command": { "goto": "a" },
    }));
    assert_eq!(request.stream_mode, [StreamMode::MessagesTuple]);
    assert_eq!(request.interrupt_before, Nodes::All);
    assert_eq!(request.interrupt_after, Nodes::Named(vec!["a".to_owned()]));
    let goto = |node: &str, packet| Goto { node: node.to_owned(), packet };
    assert_eq!(request.command.unwrap().goto, [goto("a", None)]);
    let both = json!({ "goto": ["a", { "node": "b", "input": { "n": 1 } }] });
    let request = read(json!({ "assistant_id": "agent", "command": both }));
    assert_eq!(request.command.unwrap().goto, [goto("a", None), goto("b", Some(json!({ "n": 1 })))]);
}

#[test]
fn lifecycle_is_a_mode_of_threads_only() {
    let expected = "`stream_mode`: `lifecycle` is not a mode of a run: read it in the stream of the thread";
    for modes in [json!("lifecycle"), json!(["values", "lifecycle"])] {
        refuse(json!({ "assistant_id": "agent", "stream_mode": modes }), expected);
    }
    let request = read(json!({ "assistant_id": "agent", "stream_mode": ["tools"] }));
    assert_eq!(request.stream_mode, [StreamMode::Tools]);
}

#[test]
fn checkpoint_has_three_places() {
    for body in [
        json!({ "assistant_id": "agent", "checkpoint_id": "c" }),
        json!({ "assistant_id": "agent", "checkpoint": { "checkpoint_id": "c", "checkpoint_ns": "" } }),
        json!({ "assistant_id": "agent", "config": { "configurable": { "checkpoint_id": "c", "thread_id": "t" } } }),
    ] {
        let request = read(body);
        assert_eq!(request.checkpoint.unwrap().checkpoint_id.as_deref(), Some("c"));
        assert_eq!(request.context, Object::new());
    }
}

#[test]
fn context_and_configurable_are_the_same() {
    let context = json!({ "user": "ann" });
    for body in [
        json!({ "assistant_id": "agent", "context": context }),
        json!({ "assistant_id": "agent", "config": { "configurable": context } }),
        json!({ "assistant_id": "agent", "config": { "configurable": context }, "context": context }),
    ] {
        assert_eq!(Value::from(read(body).context), context);
    }
    refuse(
        json!({ "assistant_id": "agent", "config": { "configurable": { "user": "bob" } }, "context": context }),
        "`context`: `config.configurable` is given too: they are the same, send one of them",
    );
}

#[test]
fn empty_input_beside_a_command_is_no_input() {
    let request = read(json!({ "assistant_id": "agent", "input": {}, "command": { "resume": 1 } }));
    assert_eq!((request.input, request.command.unwrap().resume), (None, Some(json!(1))));
    for command in [json!(null), json!({}), json!({ "resume": null })] {
        assert_eq!(
            read(json!({ "assistant_id": "agent", "input": {}, "command": command })).input,
            Some(json!({}))
        );
    }
}

#[test]
fn every_problem_is_reported() {
    refuse(
        json!({
            "stream_mode": ["values", "valves"], "multitask_strategy": "wait", "config": { "recursion_limit": 0 },
            "command": { "goto": [{ "input": 1 }] }, "webhook": 7, "metadata": [],
        }),
        "`assistant_id`: required; `config.recursion_limit`: expected a positive integer; \
         `command.goto[0].node`: required; `metadata`: expected an object, found an array; \
         `stream_mode[1]`: expected one of `values`, `updates`, `messages-tuple`, `messages`, `custom`, `tasks`, \
         `checkpoints`, `debug`, `events`, `tools`; `multitask_strategy`: expected one of `reject`, `interrupt`, `rollback`, \
         `enqueue`; `webhook`: expected a string, found a number",
    );
    refuse(
        json!({ "assistant_id": "agent", "input": { "n": 1 }, "command": { "resume": 1 } }),
        "`command`: `input` is given too: send one of them",
    );
}
