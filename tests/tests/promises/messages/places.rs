//! A conversation may stand in a state of another crate, be a part of one, and be looked at through a view.

use parts::{Dialogue, answer};
use serde_json::json;
use superstep::messages::{HasMessages, Message, MessagesState, MessagesStateUpdate, MessagesUpdate};
use superstep::state::Input;
use superstep::{END, GraphState, START, StateGraph, StateView};

#[derive(GraphState, Clone)]
struct Support {
    #[state(flatten)]
    chat: MessagesState,
    urgent: bool,
}

#[derive(StateView)]
#[view(of = Support)]
struct Last<'a> {
    #[view(from = chat.messages)]
    messages: &'a [Message],
    urgent: bool,
}

async fn greet(chat: &MessagesState) -> MessagesStateUpdate {
    MessagesState::update().messages(Message::ai(format!("hello, after {}", chat.messages.len())))
}

async fn hurry(last: Last<'_>) -> SupportUpdate {
    let text = format!("{} ({})", last.messages.last().unwrap().text(), last.urgent);
    Support::update().chat(MessagesState::update().messages([Message::ai(text)])).urgent(true)
}

#[tokio::test]
async fn as_a_part_and_through_a_view() {
    let graph = StateGraph::<Support>::new()
        .edge(START, greet)
        .edge(greet, hurry)
        .edge(hurry, END)
        .compile()
        .unwrap();
    let input = Support::input().chat(MessagesState::input().messages("hi"));
    let support = graph.run(input).await.unwrap().into_state();
    let said: Vec<_> = support.chat.messages.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(said, ["hi", "hello, after 1", "hello, after 1 (false)"]);
    assert_eq!(serde_json::to_value(support.dump()).unwrap()["messages"][0]["content"], "hi");
}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    number: u32,
    #[state(flatten)]
    dialogue: Dialogue,
}

#[tokio::test]
async fn in_a_state_of_another_crate_with_its_nodes() {
    let graph = StateGraph::<Ticket>::new().edge(START, answer).edge(answer, END).compile().unwrap();
    let input = TicketInput::from_json(json!({"number": 7, "messages": [["user", "why?"]]})).unwrap();
    let ticket = graph.run(input).await.unwrap().into_state();
    assert_eq!(ticket.number, 7);
    assert_eq!(ticket.dialogue.messages[1].text(), "you said: why?");
    assert_eq!(serde_json::to_value(ticket.dump()).unwrap()["messages"][1]["type"], "ai");
}

/// A node for whatever state has messages.
fn said<S: HasMessages>(state: &S) -> usize {
    state.messages().len()
}

#[test]
fn whoever_has_one_list_of_messages_has_messages() {
    let dialogue = Dialogue::started(Dialogue::input().messages(["a", "b"])).unwrap();
    assert_eq!(said(&dialogue), 2);
    let update = <Dialogue as HasMessages>::update_messages(
        [Message::ai("c")].into_iter().collect::<MessagesUpdate>(),
    );
    assert_eq!(said(&dialogue.updated(update).unwrap()), 3);
    let input = Support::input().chat(MessagesState::input().messages("hi"));
    assert_eq!(said(&Support::started(input).unwrap()), 1);
}
