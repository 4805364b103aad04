use serde_json::json;
use superstep::messages::{AiMessage, MessageAssembler};

use super::*;

fn assembled(chunks: impl IntoIterator<Item = Value>) -> AiMessage {
    let (mut reader, mut whole) = (DeltaReader::default(), MessageAssembler::default());
    for chunk in chunks {
        let Value::Object(chunk) = chunk else { panic!("{chunk}") };
        if let Some(chunk) = reader.read(chunk) {
            whole.push(&chunk);
        }
    }
    whole.finish()
}

fn delta(delta: Value) -> Value {
    json!({"id": "1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn calls(calls: Value) -> Value {
    delta(json!({"tool_calls": calls}))
}

/// Returns the id, name and arguments of each call.
fn assembled_calls(chunks: impl IntoIterator<Item = Value>) -> Vec<String> {
    let calls = assembled(chunks).tool_calls;
    calls
        .iter()
        .map(|call| format!("{} {} {}", call.id, call.name, Value::Object(call.args.clone())))
        .collect()
}

#[test]
fn repeated_metadata_is_read_once() {
    let mut reader = DeltaReader::default();
    let mut read = |chunk: Value| {
        let Value::Object(chunk) = chunk else { panic!("{chunk}") };
        reader.read(chunk).map(|chunk| serde_json::to_value(chunk).unwrap())
    };
    let first = read(delta(json!({"role": "assistant", "content": "", "refusal": null})));
    assert_eq!(first, Some(json!({"response_metadata": {"id": "1", "model_name": "m"}})));
    assert_eq!(read(delta(json!({"content": "a"}))), Some(json!({"content": "a"})));
    assert_eq!(read(delta(json!({}))), None);
    let stop =
        json!({"id": "1", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    assert_eq!(read(stop), Some(json!({"response_metadata": {"finish_reason": "stop"}})));
    let usage = json!({"id": "1", "choices": [], "usage": {"prompt_tokens": 2, "completion_tokens": 1}});
    let usage = read(usage).unwrap();
    assert_eq!(usage["usage_metadata"], json!({"input_tokens": 2, "output_tokens": 1, "total_tokens": 3}));
    reader.finish(false).unwrap();
}

#[test]
fn reasoning_refusals_and_other_choices_are_separated() {
    let reply = assembled([
        delta(json!({"reasoning_content": "Is "})),
        delta(json!({"reasoning": "it?", "reasoning_content": null})),
        json!({"choices": [{"index": 1, "delta": {"content": "another"}}]}),
        delta(json!({"refusal": "I must "})),
        delta(json!({"refusal": "not."})),
        delta(json!({"content": [{"type": "text", "text": "Sorry."}]})),
    ]);
    assert_eq!(reply.additional_kwargs["refusal"], "I must not.");
    assert_eq!(
        serde_json::to_value(&reply.content).unwrap(),
        json!([{"type": "reasoning", "reasoning": "Is it?"}, {"type": "text", "text": "Sorry."}])
    );
}

#[test]
fn logprobs_of_every_token_are_kept() {
    let token = |token: &str| json!({"choices": [{"index": 0, "delta": {"content": token}, "logprobs": {"content": [{"token": token}]}}]});
    let reply = assembled([token("ha"), token("ha"), token("!")]);
    assert_eq!(
        reply.response_metadata["logprobs"],
        json!({"content": [{"token": "ha"}, {"token": "ha"}, {"token": "!"}]})
    );
}

#[test]
fn interleaved_chunks_reach_their_calls() {
    let begin = |index: u64, id: &str| json!({"index": index, "id": id, "type": "function", "function": {"name": "add", "arguments": ""}});
    let more = |index: u64, args: &str| json!({"index": index, "function": {"arguments": args}});
    let expected = [r#"a add {"x":1}"#, r#"b add {"x":2}"#];
    assert_eq!(
        assembled_calls([
            calls(json!([begin(0, "a"), begin(1, "b")])),
            calls(json!([more(1, "{\"x\":")])),
            calls(json!([more(0, "{\"x\""), more(1, " 2}")])),
            calls(json!([more(0, ": 1}")])),
        ]),
        expected
    );
}

#[test]
fn calls_are_ordered_by_number() {
    let call = |index: u64, id: &str| json!({"index": index, "id": id, "function": {"name": "add", "arguments": "{}"}});
    assert_eq!(
        assembled_calls([calls(json!([call(1, "b")])), calls(json!([call(0, "a")]))]),
        ["a add {}", "b add {}"]
    );
}

#[test]
fn late_ids_and_names_are_assigned_and_numbers_are_unique() {
    let mut reader = DeltaReader::default();
    let mut read = |call: Value| {
        let Value::Object(chunk) = calls(json!([call])) else { unreachable!() };
        reader.read(chunk).unwrap().calls.remove(0)
    };
    let first = read(json!({"index": 0, "function": {"name": "add"}}));
    assert_eq!((first.index, first.id, first.name.as_deref()), (0, None, Some("add")));
    let more = read(json!({"index": 0, "id": "a", "function": {"arguments": "{}"}}));
    assert_eq!((more.index, more.id.as_deref(), more.name), (0, Some("a"), None));
    let other = read(json!({"index": 0, "id": "b", "function": {"name": "add"}}));
    assert_eq!((other.index, other.id.as_deref()), (1, Some("b")));
    let unnamed = read(json!({"index": 7, "id": "d"}));
    assert_eq!((unnamed.index, unnamed.name), (7, None));
    let named = read(json!({"index": 7, "id": "d", "function": {"name": "add"}}));
    assert_eq!((named.index, named.id, named.name.as_deref()), (7, None, Some("add")));
    let more = read(json!({"index": 0, "id": "c", "function": {"arguments": "{}"}}));
    assert_eq!((more.index, more.id), (1, None));
}

#[test]
fn calls_without_distinct_numbers_are_separated() {
    let call = |index: Value, id: &str, args: &str| json!({"index": index, "id": id, "function": {"name": "add", "arguments": args}});
    let expected = [r#"a add {"x":1}"#, r#"b add {"x":2}"#];
    for index in [json!(0), Value::Null] {
        let [a, b] =
            [("a", "{\"x\": 1}"), ("b", "{\"x\": 2}")].map(|(id, args)| call(index.clone(), id, args));
        assert_eq!(assembled_calls([calls(json!([a.clone(), b.clone()]))]), expected, "at once");
        assert_eq!(assembled_calls([calls(json!([a])), calls(json!([b]))]), expected, "one by one");
    }
    let object = json!({"index": 0, "id": "a", "function": {"name": "add", "arguments": {"x": 1}}});
    assert_eq!(assembled_calls([calls(json!([object]))]), [r#"a add {"x":1}"#], "arguments as an object");
}

#[test]
fn call_stays_one_when_chunks_repeat_or_change_its_id() {
    let chunk = |id: &str, name: Value, args: &str| {
        calls(json!([{"index": 0, "id": id, "function": {"name": name, "arguments": args}}]))
    };
    let expected = [r#"a add {"x":1}"#];
    assert_eq!(
        assembled_calls([chunk("a", "add".into(), "{\"x\":"), chunk("a", "add".into(), "1}")]),
        expected
    );
    assert_eq!(
        assembled_calls([chunk("a", "add".into(), "{\"x\":"), chunk("b", Value::Null, "1}")]),
        expected
    );
    assert_eq!(assembled_calls([chunk("a", "add".into(), "{\"x\":"), chunk("", "".into(), "1}")]), expected);
}

#[test]
fn reply_is_complete_only_with_a_finish_reason() {
    let finish = |chunks: &[Value]| {
        let mut reader = DeltaReader::default();
        for chunk in chunks {
            reader.read(chunk.as_object().unwrap().clone());
        }
        reader.finish(false).map_err(|reason| reason.to_string())
    };
    assert_eq!(finish(&[]).unwrap_err(), "the stream has no chunks");
    assert_eq!(
        finish(&[delta(json!({"content": "a"}))]).unwrap_err(),
        "the reply is cut off: it ends before its finish reason"
    );
    finish(&[json!({"choices": [{"delta": {}, "finish_reason": "length"}]})]).unwrap();
}

/// Checks that a streamed reply equals the complete one.
fn same(message: Value, deltas: impl IntoIterator<Item = Value>) -> AiMessage {
    let whole = json!({"id": "1", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": null}]});
    let Value::Object(whole) = whole else { unreachable!() };
    let streamed = assembled(deltas.into_iter().map(delta));
    assert_eq!(streamed, super::super::reply::read(whole).unwrap());
    streamed
}

#[test]
fn other_fields_of_calls_are_kept() {
    let signature = json!({"google": {"thought_signature": "c2ln"}});
    let call = |args: &str| json!({"id": "a", "type": "function", "extra_content": signature, "function": {"name": "add", "arguments": args, "strict": true}});
    let mut first = call("");
    first["index"] = 0.into();
    let more = json!({"index": 0, "type": null, "function": {"arguments": "{}"}});
    // Some servers also send the number of a call in a complete reply.
    let mut whole = call("{}");
    whole["index"] = 0.into();
    whole["custom"] = Value::Null;
    let reply = same(
        json!({"content": null, "tool_calls": [whole]}),
        [json!({"role": "assistant", "tool_calls": [first]}), json!({"tool_calls": [more]})],
    );
    assert_eq!(reply.tool_calls[0].extra["extra_content"], signature);
    let sent = superstep::messages::Message::from(reply).to_openai();
    assert_eq!(sent["tool_calls"][0], call("{}"));
}

#[test]
fn calls_of_custom_tools_are_kept() {
    let call = |input: &str| json!({"id": "a", "type": "custom", "custom": {"name": "sql", "input": input}});
    let mut first = call("{\"a\"");
    first["index"] = 0.into();
    let more = json!({"index": 0, "custom": {"input": ": 1}"}});
    let reply = same(
        json!({"content": null, "tool_calls": [call("{\"a\": 1}")]}),
        [json!({"tool_calls": [first]}), json!({"tool_calls": [more]})],
    );
    assert_eq!(reply.invalid_tool_calls[0].args, "{\"a\": 1}");
}

#[test]
fn content_in_parts_is_a_list_of_blocks() {
    let thinking =
        |text: &str| json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]});
    let part = |part: Value| json!({"content": [part]});
    let reply = same(
        json!({"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Is "}, {"type": "text", "text": "it?"}], "signature": "c2ln"},
            {"type": "text", "text": "Yes."},
            {"type": "image_url", "image_url": {"url": "u"}},
            {"type": "image_url", "image_url": {"url": "v"}},
            {"type": "text", "text": "See?"},
        ]}),
        [
            thinking("Is "),
            thinking("it?"),
            part(json!({"type": "thinking", "thinking": "", "signature": "c2ln"})),
            json!({"content": "Ye"}),
            part(json!({"type": "text", "text": "s."})),
            part(json!({"type": "image_url", "image_url": {"url": "u"}})),
            part(json!({"type": "image_url", "image_url": {"url": "v"}})),
            part(json!({"type": "text", "text": "See"})),
            json!({"content": "", "reasoning": ""}),
            json!({"content": "?"}),
        ],
    );
    assert_eq!(reply.content.text(), "Yes.See?");
    same(
        json!({"content": [{"type": "text", "text": "Yes."}], "reasoning": "Hm."}),
        [json!({"reasoning": "Hm.", "content": [{"type": "text", "text": "Yes."}]})],
    );
}

#[test]
fn signed_details_of_reasoning_are_kept() {
    let detail = |mut detail: Value| {
        detail["index"] = 0.into();
        detail["type"] = "reasoning.text".into();
        json!({"reasoning_details": [detail], "annotations": []})
    };
    let reply = same(
        json!({"content": "Yes.", "reasoning": "Is it?", "annotations": [], "reasoning_details": [
            {"type": "reasoning.text", "text": "Is it?", "signature": "c2ln", "index": 0},
        ]}),
        [
            json!({"reasoning": "Is ", "reasoning_details": [{"type": "reasoning.text", "text": "Is ", "index": 0}]}),
            json!({"reasoning": "it?", "reasoning_details": [{"type": "reasoning.text", "text": "it?", "index": 0}]}),
            detail(json!({"signature": "c2ln"})),
            json!({"content": "Yes."}),
        ],
    );
    let sent = superstep::messages::Message::from(reply).to_openai();
    assert_eq!(sent["reasoning_details"][0]["signature"], "c2ln");
}
