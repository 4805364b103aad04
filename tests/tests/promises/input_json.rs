//! Inputs read from JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::GraphState;
use superstep::state::Input;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Note {
    text: String,
}

#[derive(GraphState, Clone, Debug)]
struct Chat {
    #[state(input, reducer = append)]
    messages: Vec<Note>,
    #[state(input, alias = "person")]
    user: String,
    turns: u32,
}

#[derive(GraphState, Clone, Debug)]
struct Ticket {
    #[state(input, validate(length(min = 1)))]
    question: String,
    #[state(input, reducer = append)]
    notes: Vec<Note>,
    #[state(input, exclude)]
    token: u64,
    #[state(input)]
    limit: Option<u8>,
    #[state(input, default = 3, rename = "max-retries")]
    max_retries: u8,
    answer: Option<String>,
    #[state(flatten, input)]
    chat: Chat,
}

fn read(value: Value) -> Result<Ticket, String> {
    TicketInput::from_json(value).map(|input| input.into_start().state).map_err(|error| error.to_string())
}

#[track_caller]
fn check(value: Value, expected: &[&str]) {
    let text = read(value).unwrap_err();
    let lines: Vec<&str> = text.lines().collect();
    let plural = if expected.len() == 1 { "" } else { "s" };
    assert_eq!(lines[0], format!("the input of `Ticket` has {} problem{plural}", expected.len()), "{text}");
    assert_eq!(lines[1..].iter().map(|line| line.trim()).collect::<Vec<_>>(), expected);
}

#[test]
fn required_and_flattened_fields_are_read() {
    let state = read(json!({"question": "why?", "token": 7, "user": "Lance"})).unwrap();
    assert_eq!((state.question.as_str(), state.token, state.max_retries), ("why?", 7, 3));
    assert_eq!((state.chat.user.as_str(), state.limit), ("Lance", None));
}

#[test]
fn optional_fields_become_writes() {
    let input = TicketInput::from_json(json!({
        "question": "why?", "token": 7, "person": "Lance", "limit": 2, "notes": [{"text": "n"}],
        "messages": [{"text": "m"}],
    }))
    .unwrap();
    let start = input.into_start();
    assert!(start.state.notes.is_empty(), "the value goes through the reducer");
    assert_eq!(
        serde_json::to_value(&start.update).unwrap(),
        json!({"limit": 2, "notes": [{"text": "n"}], "messages": [{"text": "m"}]})
    );
}

#[test]
fn input_error_lists_every_problem_with_its_path() {
    check(
        json!({
            "qestion": "why?", "notes": [{"text": "a"}, {"text": 3}], "token": "hunter2", "limit": 300,
            "user": null, "messages": [{}], "answer": "x",
        }),
        &[
            "$.question: required, but missing",
            "$.notes[1].text: invalid type: integer `3`, expected a string",
            "$.token: the value does not fit (details are withheld because the field is excluded)",
            "$.limit: invalid value: integer `300`, expected u8",
            "$.messages[0]: missing field `text`",
            "$.user: invalid type: null, expected a string",
            "$.answer: unknown field; this input has the fields `question`, `notes`, `token`, `limit`, `max-retries`, `messages`, `user`",
            "$.qestion: unknown field; did you mean `question`?",
        ],
    );
}

#[test]
fn missing_flattened_field_is_reported_at_top_level() {
    check(json!({"question": "", "token": 1}), &["$.user: required, but missing"]);
}

#[test]
fn field_given_under_two_names_is_an_error() {
    check(
        json!({"question": "", "token": 1, "user": "a", "person": "b"}),
        &["$.person: the same field as `user`, which is also given"],
    );
}

#[test]
fn input_must_be_an_object_without_overwrites() {
    check(json!([]), &["$: expected an object with the fields of `Ticket`, found an array"]);
    check(
        json!({"question": "", "token": 1, "user": "a", "$overwrite": {"notes": []}}),
        &["$[\"$overwrite\"]: an input cannot overwrite fields, only an update can"],
    );
}

#[derive(GraphState, Clone)]
struct Call {
    #[state(input)]
    number: u32,
    #[state(input, untracked)]
    card: String,
}

#[test]
fn untracked_required_field_refuses_json_input() {
    for value in [json!({"number": 7}), json!({"number": 7, "card": "secret"})] {
        let error = CallInput::from_json(value).map(drop).unwrap_err().to_string();
        let expected = "the input of `Call` has 1 problem\n  $.card: required and untracked, so JSON cannot contain it: build the \
                        input with `Call::input(..)`, or give the field a `default` or `from_context` instead of `input`";
        assert_eq!(error, expected);
    }
    let start = Call::input(7, "secret").into_start().state;
    assert_eq!((start.number, start.card.as_str()), (7, "secret"));
}

/// A flattened state inside a flattened state.
#[derive(GraphState, Clone)]
struct Desk {
    #[state(input)]
    room: Option<u8>,
    #[state(flatten, input)]
    chat: Chat,
}

#[derive(GraphState, Clone)]
struct Case {
    #[state(input)]
    number: u32,
    closed: bool,
    #[state(flatten, input)]
    desk: Desk,
}

#[test]
fn lenient_input_returns_unknown_keys_with_their_paths() {
    let value = json!({
        "number": 7, "rom": 3, "user": "ann", "closed": true, "turns": 2, "last-seen": {"at": 1}, "x y": null,
    });
    let (input, unknown) = CaseInput::from_json_lenient(value.clone()).unwrap();
    let start = input.into_start();
    assert_eq!((start.state.number, start.state.desk.chat.user.as_str()), (7, "ann"));
    assert!(!start.state.closed && start.state.desk.chat.turns == 0, "they are no inputs");
    let mut shown: Vec<String> = unknown.iter().map(ToString::to_string).collect();
    shown.sort();
    assert_eq!(
        shown,
        [
            "$.closed: unknown field",
            "$.last-seen: unknown field",
            "$.rom: unknown field; did you mean `room`?",
            "$.turns: unknown field",
            "$[\"x y\"]: unknown field",
        ]
    );
    assert!(unknown.iter().any(|key| key.key == "x y" && key.suggestion.is_none()));
    let refused = CaseInput::from_json(value).unwrap_err();
    assert_eq!(refused.problems().len(), 5, "the strict reader refuses the same keys");
}

#[test]
fn lenient_input_stays_strict_about_everything_else() {
    let error = TicketInput::from_json_lenient(json!({
        "notes": [{"text": 3}], "token": "hunter2", "person": "a", "user": "b", "more": 1,
        "$overwrite": {"notes": []},
    }));
    let error = error.map(drop).unwrap_err();
    let mut paths: Vec<&str> = error.problems().iter().map(|problem| problem.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["$.notes[0].text", "$.person", "$.question", "$.token", "$[\"$overwrite\"]"]);
    assert!(!error.to_string().contains("hunter2"), "{error}");
    assert!(TicketInput::from_json_lenient(json!(["a"])).is_err());
    let large = json!({"question": "a", "token": 1, "user": "u", "max-retries": 256});
    assert!(TicketInput::from_json_lenient(large).is_err());
    let (_, unknown) =
        TicketInput::from_json_lenient(json!({"question": "a", "token": 1, "user": "u"})).unwrap();
    assert!(unknown.is_empty());
}
