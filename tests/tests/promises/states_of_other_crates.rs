//! States and nodes of another crate.

use parts::{Chat, ChatUpdate, Say, Talk, echo, greet};
use superstep::{END, GraphState, Route, START, StateGraph, named};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    #[state(flatten)]
    chat: Chat,
}

#[derive(Route)]
enum Next {
    #[to(echo)]
    Echo,
}

async fn ask(ticket: &Ticket) -> (ChatUpdate, Next) {
    (Chat::update().log([ticket.question.clone()]), Next::Echo)
}

#[tokio::test]
async fn foreign_nodes_run_beside_local_nodes() {
    let say = named("say", Say("bye"));
    let graph = StateGraph::<Ticket>::new()
        .edge(START, greet)
        .edge(greet, ask)
        .edge(echo, &say)
        .edge(&say, END)
        .compile()
        .unwrap();
    let ticket = graph.run(Ticket::input("why?")).await.unwrap().into_state();
    assert_eq!(ticket.chat.log, ["hello, after 0", "why?", "why?", "bye"]);
    assert_eq!(
        ticket.dump().to_string(),
        r#"{"question":"why?","log":["hello, after 0","why?","why?","bye"]}"#
    );
}

#[tokio::test]
async fn state_flattened_in_its_own_crate_runs() {
    let graph = StateGraph::<Talk>::new().edge(START, greet).edge(greet, echo).edge(echo, END).compile();
    let talk = graph.unwrap().run(Talk::input().topic("graphs")).await.unwrap().into_state();
    assert_eq!(talk.chat.log, ["hello, after 0", "hello, after 0"]);
}
