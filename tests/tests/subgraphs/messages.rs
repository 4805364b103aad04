//! Messages of a subgraph call have their own ids, distinct from those of other calls and of the parent graph.

use superstep::messages::{Message, MessagesState, MessagesStateUpdate};
use superstep::{END, GraphState, Route, START, StateGraph};

use super::stores::on_every_store;

async fn reply(chat: &MessagesState) -> MessagesStateUpdate {
    MessagesState::update().messages(Message::ai(format!("reply to {}", chat.messages.len())))
}

#[derive(GraphState, Clone, Debug)]
struct Case {
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

async fn count(case: &Case) -> (CaseUpdate, Again) {
    let next = if case.rounds == 0 { Again::Again } else { Again::Enough };
    (Case::update().rounds(case.rounds + 1), next)
}

#[tokio::test]
async fn returned_messages_replace_none() {
    on_every_store(async |store| {
        let chat = StateGraph::<MessagesState>::new().edge(START, reply).edge(reply, END).compile().unwrap();
        let ask = chat.as_node("ask").mapped(
            |_: &Case| MessagesState::input().messages("a question of its own"),
            |done| Case::update().messages(done.appended(|chat: &MessagesState| &chat.messages).to_vec()),
        );
        // Returns all messages, its input included.
        let tell = chat.as_node("tell").mapped(
            |_: &Case| MessagesState::input().messages("another"),
            |done| Case::update().messages(done.state.messages),
        );
        let graph = StateGraph::<Case>::new()
            .edge(START, &ask)
            .edge(&ask, &tell)
            .edge(&tell, count)
            .compile()
            .unwrap();
        let ended = store.thread(&graph).run(Case::input().messages("begin")).await.unwrap().into_state();
        let texts: Vec<String> =
            ended.messages.iter().map(Message::text).map(|text| text.to_string()).collect();
        assert_eq!(
            texts,
            ["begin", "reply to 1", "another", "reply to 1", "reply to 1", "another", "reply to 1"]
        );
    })
    .await;
}
