use serde_json::json;
use superstep::messages::{AiMessage, MessageAssembler};

use super::*;

/// Reads these pieces, and says what the reply is and in how many pieces something new was.
fn assembled(pieces: impl IntoIterator<Item = Value>) -> (AiMessage, usize) {
    let (mut deltas, mut whole, mut count) = (Deltas::default(), MessageAssembler::default(), 0);
    for piece in pieces {
        let Value::Object(piece) = piece else { panic!("{piece}") };
        if let Some(chunk) = deltas.read(piece) {
            whole.push(&chunk);
            count += 1;
        }
    }
    (whole.finish(), count)
}

fn delta(delta: Value) -> Value {
    json!({"id": "1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn calls(calls: Value) -> Value {
    delta(json!({"tool_calls": calls}))
}

/// Id, name and arguments of each call.
fn called(pieces: impl IntoIterator<Item = Value>) -> Vec<String> {
    let calls = assembled(pieces).0.tool_calls;
    calls
        .iter()
        .map(|call| format!("{} {} {}", call.id, call.name, Value::Object(call.args.clone())))
        .collect()
}

#[test]
fn what_is_said_of_a_reply_comes_once() {
    let mut deltas = Deltas::default();
    let mut read = |piece: Value| {
        let Value::Object(piece) = piece else { panic!("{piece}") };
        deltas.read(piece).map(|chunk| serde_json::to_value(chunk).unwrap())
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
    deltas.ended().unwrap();
}

#[test]
fn thoughts_refusals_and_other_choices_go_where_they_belong() {
    let (reply, _) = assembled([
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
fn the_probabilities_of_every_token_are_kept() {
    let token = |token: &str| json!({"choices": [{"index": 0, "delta": {"content": token}, "logprobs": {"content": [{"token": token}]}}]});
    let (reply, _) = assembled([token("ha"), token("ha"), token("!")]);
    assert_eq!(
        reply.response_metadata["logprobs"],
        json!({"content": [{"token": "ha"}, {"token": "ha"}, {"token": "!"}]})
    );
}

#[test]
fn pieces_of_several_calls_find_their_call() {
    let begin = |index: u64, id: &str| json!({"index": index, "id": id, "type": "function", "function": {"name": "add", "arguments": ""}});
    let more = |index: u64, args: &str| json!({"index": index, "function": {"arguments": args}});
    let expected = [r#"a add {"x":1}"#, r#"b add {"x":2}"#];
    assert_eq!(
        called([
            calls(json!([begin(0, "a"), begin(1, "b")])),
            calls(json!([more(1, "{\"x\":")])),
            calls(json!([more(0, "{\"x\""), more(1, " 2}")])),
            calls(json!([more(0, ": 1}")])),
        ]),
        expected
    );
}

#[test]
fn calls_stand_in_the_order_of_their_numbers_whichever_begins_first() {
    let call = |index: u64, id: &str| json!({"index": index, "id": id, "function": {"name": "add", "arguments": "{}"}});
    assert_eq!(
        called([calls(json!([call(1, "b")])), calls(json!([call(0, "a")]))]),
        ["a add {}", "b add {}"]
    );
}

#[test]
fn an_id_or_a_name_that_comes_late_is_the_call_s_and_each_call_has_a_number_of_its_own() {
    let mut deltas = Deltas::default();
    let mut read = |call: Value| {
        let Value::Object(piece) = calls(json!([call])) else { unreachable!() };
        deltas.read(piece).unwrap().calls.remove(0)
    };
    let begun = read(json!({"index": 0, "function": {"name": "add"}}));
    assert_eq!((begun.index, begun.id, begun.name.as_deref()), (0, None, Some("add")));
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
fn calls_of_servers_that_do_not_number_them_are_told_apart() {
    let call = |index: Value, id: &str, args: &str| json!({"index": index, "id": id, "function": {"name": "add", "arguments": args}});
    let expected = [r#"a add {"x":1}"#, r#"b add {"x":2}"#];
    for index in [json!(0), Value::Null] {
        let [a, b] =
            [("a", "{\"x\": 1}"), ("b", "{\"x\": 2}")].map(|(id, args)| call(index.clone(), id, args));
        assert_eq!(called([calls(json!([a.clone(), b.clone()]))]), expected, "at once");
        assert_eq!(called([calls(json!([a])), calls(json!([b]))]), expected, "one by one");
    }
    let object = json!({"index": 0, "id": "a", "function": {"name": "add", "arguments": {"x": 1}}});
    assert_eq!(called([calls(json!([object]))]), [r#"a add {"x":1}"#], "arguments as an object");
}

#[test]
fn a_call_whose_pieces_repeat_or_change_their_id_is_one() {
    let piece = |id: &str, name: Value, args: &str| {
        calls(json!([{"index": 0, "id": id, "function": {"name": name, "arguments": args}}]))
    };
    let expected = [r#"a add {"x":1}"#];
    assert_eq!(called([piece("a", "add".into(), "{\"x\":"), piece("a", "add".into(), "1}")]), expected);
    assert_eq!(called([piece("a", "add".into(), "{\"x\":"), piece("b", Value::Null, "1}")]), expected);
    assert_eq!(called([piece("a", "add".into(), "{\"x\":"), piece("", "".into(), "1}")]), expected);
}

#[test]
fn a_reply_is_whole_when_it_says_why_it_stops() {
    let ended = |pieces: &[Value]| {
        let mut deltas = Deltas::default();
        for piece in pieces {
            deltas.read(piece.as_object().unwrap().clone());
        }
        deltas.ended().map_err(|fault| fault.to_string())
    };
    assert_eq!(ended(&[]).unwrap_err(), "it is not a stream of pieces");
    assert_eq!(
        ended(&[delta(json!({"content": "a"}))]).unwrap_err(),
        "it breaks off before it says why it stops"
    );
    ended(&[json!({"choices": [{"delta": {}, "finish_reason": "length"}]})]).unwrap();
}
