//! A plain struct becomes a state: constants, an update, an input, a dump.

use serde_json::json;
use superstep::state::{Input, Update};
use superstep::{GraphState, Overwrite};

#[derive(GraphState, Clone, Debug)]
struct Ticket {
    /// Required.
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
fn a_field_is_a_typed_constant() {
    let start = Ticket::input("why?").into_start();
    assert_eq!(Ticket::QUESTION.name(), "question");
    assert_eq!(Ticket::ANSWER.index(), 2);
    assert_eq!(Ticket::QUESTION.get(&start.state), "why?");
}

#[test]
fn an_update_is_written_and_read_by_field() {
    let update = Ticket::update().answer("x").answer(None).question(Overwrite("y".to_owned())).secret(7_u32);
    let text = serde_json::to_string(&update).unwrap();
    assert_eq!(text, r#"[{"answer":"x","$overwrite":{"question":"y"}},{"answer":null}]"#);
    let back: TicketUpdate = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
    assert_eq!(update.get(Ticket::ANSWER), Some(&None));
}

#[test]
fn a_dump_obeys_the_rules_on_the_state() {
    let start = Ticket::input("why?").into_start();
    assert_eq!(start.state.dump().to_string(), r#"{"question":"why?","answer":null,"last_error":null}"#);
    assert_eq!(serde_json::to_value(&start.state).unwrap(), start.state.dump().to_json().unwrap());
}

#[test]
fn every_problem_of_an_input_is_in_one_error() {
    let error = TicketInput::from_json(json!({"qestion": 1, "answer": "x"})).unwrap_err();
    let problems: Vec<_> = error.problems().iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(problems, ["$.question", "$.answer", "$.qestion"], "{error}");
}
