//! Constants, update, input and dump of a derived state.

use serde_json::json;
use superstep::state::{Input, Update};
use superstep::{GraphState, Overwrite};

#[derive(GraphState, Clone, Debug)]
struct Ticket {
    #[state(input, validate(length(min = 1)))]
    question: String,
    #[state(exclude)]
    secret: u32,
    answer: Option<String>,
    #[state(untracked)]
    http: Option<std::sync::Arc<std::io::Error>>,
    #[state(serialize_with = display)]
    last_error: Option<std::sync::Arc<std::io::Error>>,
}

#[test]
fn fields_are_typed_constants() {
    let start = Ticket::input("why?").into_start();
    assert_eq!(Ticket::QUESTION.name(), "question");
    assert_eq!(Ticket::ANSWER.index(), 2);
    assert_eq!(Ticket::QUESTION.get(&start.state), "why?");
}

#[test]
fn update_serializes_by_field() {
    let update = Ticket::update().answer("x").answer(None).question(Overwrite("y".to_owned())).secret(7_u32);
    let text = serde_json::to_string(&update).unwrap();
    assert_eq!(text, r#"[{"answer":"x","$overwrite":{"question":"y"}},{"answer":null}]"#);
    let back: TicketUpdate = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
    assert_eq!(update.get(Ticket::ANSWER), Some(&None));
}

#[test]
fn dump_follows_the_state_attributes() {
    let start = Ticket::input("why?").into_start();
    assert_eq!(start.state.dump().to_string(), r#"{"question":"why?","answer":null,"last_error":null}"#);
    assert_eq!(serde_json::to_value(&start.state).unwrap(), start.state.dump().to_json().unwrap());
}

#[test]
fn input_error_lists_every_problem() {
    let error = TicketInput::from_json(json!({"qestion": 1, "answer": "x"})).unwrap_err();
    let problems: Vec<_> = error.problems().iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(problems, ["$.question", "$.answer", "$.qestion"], "{error}");
}
