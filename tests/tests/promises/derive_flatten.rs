//! Flattened states.

use serde_json::json;
use superstep::Result;
use superstep::state::validate::Report;
use superstep::state::{Input, Update};
use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Chat {
    #[state(reducer = append, alias = "lines")]
    messages: Vec<String>,
    #[state(ephemeral, validate(length(max = 3)))]
    typing: Option<String>,
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Account {
    #[state(input, validate(length(min = 1)))]
    user: String,
    #[state(exclude)]
    token: String,
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Ticket {
    #[state(flatten)]
    chat: Chat,
    #[state(input)]
    question: String,
    #[state(flatten, input)]
    account: Account,
    answer: Option<String>,
}

fn ticket() -> Ticket {
    Ticket::input("why?", Account::input("ann")).into_start().state
}

#[test]
fn own_fields_precede_flattened_fields() {
    let names: Vec<_> = (0..Ticket::FIELD_COUNT).filter_map(Ticket::field).map(|spec| spec.name).collect();
    assert_eq!(names, ["question", "answer", "messages", "typing", "user", "token"]);
    assert!(Ticket::field(Ticket::FIELD_COUNT).is_none());
    assert_eq!(Ticket::ANSWER.index(), 1);
}

#[test]
fn flattened_json_has_one_level() {
    assert_eq!(
        ticket().dump().to_string(),
        r#"{"messages":[],"typing":null,"question":"why?","user":"ann","answer":null}"#
    );
    let update = Ticket::update()
        .chat(Chat::update().messages(["a".to_owned()]))
        .answer("x")
        .chat(Chat::update().typing("b"));
    let value = serde_json::to_value(&update).unwrap();
    assert_eq!(value, json!({"messages": ["a"], "answer": "x", "typing": "b"}));
    assert_eq!(serde_json::to_value(TicketUpdate::from_json(value.clone()).unwrap()).unwrap(), value);
    let names: Vec<_> = update.field_names().collect();
    assert_eq!(names, ["messages", "answer", "typing"]);
}

#[test]
fn flattened_input_is_read_from_one_object() {
    let input = json!({"question": "q", "user": "bob", "lines": ["hi"], "token": "t"});
    let error = TicketInput::from_json(input).unwrap_err();
    let problems: Vec<_> = error.problems().iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(problems, ["$.token"], "only `user` is an input of the account: {error}");

    let start = TicketInput::from_json(json!({"question": "q", "user": "bob", "lines": ["hi"]}))
        .unwrap()
        .into_start();
    assert_eq!((&*start.state.question, &*start.state.account.user), ("q", "bob"));
    assert_eq!(start.given, [0, 4]);
    assert_eq!(start.update.field_names().collect::<Vec<_>>(), ["messages"]);

    let error = TicketInput::from_json(json!({"lines": 3, "typo": 1})).unwrap_err();
    let problems: Vec<_> = error.problems().iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(problems, ["$.lines", "$.question", "$.user", "$.typo"], "{error}");
}

#[test]
fn optional_flattened_input_has_a_setter() {
    let input = Ticket::input("q", Account::input("ann")).chat(Chat::input().messages(["hi".to_owned()]));
    let update = input.into_update();
    assert_eq!(update.field_names().collect::<Vec<_>>(), ["question", "messages", "user"]);
}

#[test]
fn flattened_rules_report_the_outer_field_index() {
    let mut state = ticket();
    state.chat.typing = Some("much".to_owned());
    state.account.user.clear();
    let mut report = Report::default();
    (0..Ticket::FIELD_COUNT).for_each(|index| state.validate_field(index, &mut report));
    let broken: Vec<_> =
        report.into_violations().into_iter().map(|(index, broken)| (index, broken.field)).collect();
    assert_eq!(broken, [(3, Some("typing")), (4, Some("user"))]);
}

#[test]
fn flattened_ephemeral_fields_are_cleared() {
    let mut state = ticket();
    state.chat.typing = Some("a".to_owned());
    assert!(state.clear_ephemeral(3).is_some());
    assert_eq!(state, ticket());
}

async fn greet(chat: &Chat) -> ChatUpdate {
    Chat::update().messages([format!("message {}", chat.messages.len())])
}

async fn answer(ticket: &Ticket) -> Result<TicketUpdate> {
    Ok(Ticket::update().answer(ticket.chat.messages.join(", ")))
}

#[tokio::test]
async fn node_of_flattened_state_runs_in_outer_graph() {
    let graph = StateGraph::<Ticket>::new()
        .edge(START, greet)
        .edge(greet, answer)
        .edge(answer, END)
        .compile()
        .unwrap();
    let ticket = graph.run(Ticket::input("why?", Account::input("ann"))).await.unwrap();
    assert_eq!(ticket.state().answer.as_deref(), Some("message 0"));
}
