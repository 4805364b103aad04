//! Conversations in flattened states, in states of other crates, and in views.

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
async fn messages_are_read_from_flattened_state_and_view() {
    let graph = StateGraph::<Support>::new()
        .edge(START, greet)
        .edge(greet, hurry)
        .edge(hurry, END)
        .compile()
        .unwrap();
    let input = Support::input().chat(MessagesState::input().messages("hi"));
    let support = graph.run(input).await.unwrap().into_state();
    let texts: Vec<_> = support.chat.messages.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(texts, ["hi", "hello, after 1", "hello, after 1 (false)"]);
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
async fn messages_of_a_foreign_state_reach_its_nodes() {
    let graph = StateGraph::<Ticket>::new().edge(START, answer).edge(answer, END).compile().unwrap();
    let input = TicketInput::from_json(json!({"number": 7, "messages": [["user", "why?"]]})).unwrap();
    let ticket = graph.run(input).await.unwrap().into_state();
    assert_eq!(ticket.number, 7);
    assert_eq!(ticket.dialogue.messages[1].text(), "you said: why?");
    assert_eq!(serde_json::to_value(ticket.dump()).unwrap()["messages"][1]["type"], "ai");
}

/// Counts the messages of any state that has messages.
fn count_messages<S: HasMessages>(state: &S) -> usize {
    state.messages().len()
}

#[test]
fn state_with_one_message_list_implements_has_messages() {
    let dialogue = Dialogue::started(Dialogue::input().messages(["a", "b"])).unwrap();
    assert_eq!(count_messages(&dialogue), 2);
    let update = <Dialogue as HasMessages>::update_messages(
        [Message::ai("c")].into_iter().collect::<MessagesUpdate>(),
    );
    assert_eq!(count_messages(&dialogue.updated(update).unwrap()), 3);
    let input = Support::input().chat(MessagesState::input().messages("hi"));
    assert_eq!(count_messages(&Support::started(input).unwrap()), 1);
}
