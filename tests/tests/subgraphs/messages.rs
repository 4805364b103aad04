//! Messages of a call have ids of their own: those of no other call, and none of the graph around it.

use superstep::messages::{Message, MessagesState, MessagesStateUpdate};
use superstep::{END, GraphState, Route, START, StateGraph};

use super::stores::on_every_store;

async fn reply(chat: &MessagesState) -> MessagesStateUpdate {
    MessagesState::update().messages(Message::ai(format!("reply to {}", chat.messages.len())))
}

#[derive(GraphState, Clone, Debug)]
struct Desk {
    #[state(input, reducer = add_messages)]
    messages: Vec<Message>,
    rounds: u32,
}

#[derive(Route)]
enum Again {
    #[to("ask")]
    Again,
    #[to(END)]
    Enough,
}

async fn count(desk: &Desk) -> (DeskUpdate, Again) {
    let next = if desk.rounds == 0 { Again::Again } else { Again::Enough };
    (Desk::update().rounds(desk.rounds + 1), next)
}

#[tokio::test]
async fn what_is_handed_on_replaces_nothing() {
    on_every_store(async |place| {
        let chat = StateGraph::<MessagesState>::new().edge(START, reply).edge(reply, END).compile().unwrap();
        let ask = chat.as_node("ask").mapped(
            |_: &Desk| MessagesState::input().messages("a question of its own"),
            |done| Desk::update().messages(done.appended(|chat: &MessagesState| &chat.messages).to_vec()),
        );
        // With its input: handed on as a whole.
        let tell = chat.as_node("tell").mapped(
            |_: &Desk| MessagesState::input().messages("another"),
            |done| Desk::update().messages(done.state.messages),
        );
        let graph = StateGraph::<Desk>::new()
            .edge(START, &ask)
            .edge(&ask, &tell)
            .edge(&tell, count)
            .compile()
            .unwrap();
        let ended = place.thread(&graph).run(Desk::input().messages("begin")).await.unwrap().into_state();
        let texts: Vec<String> =
            ended.messages.iter().map(Message::text).map(|text| text.to_string()).collect();
        assert_eq!(
            texts,
            ["begin", "reply to 1", "another", "reply to 1", "reply to 1", "another", "reply to 1"]
        );
    })
    .await;
}
