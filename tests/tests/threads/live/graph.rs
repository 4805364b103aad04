//! A graph with subgraphs, whose nodes write as a script says.

use std::collections::HashSet;
use std::sync::Mutex;

use proptest::prelude::*;
use superstep::messages::{Message, MessagesState, MessagesStateUpdate};
use superstep::subgraph::{ParentCommand, Subgraph};
use superstep::{ContextWith, END, Graph, NodeError, START, StateGraph};

use super::state::{All, AllUpdate, Write, update, write};

/// The writes of each node, and the nodes that fail once.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) writes: Vec<Vec<Write>>,
    pub(super) failing: HashSet<usize>,
}

/// A script that is played by several runs.
#[derive(Debug)]
pub(super) struct Played {
    writes: Vec<Vec<Write>>,
    failing: Mutex<HashSet<usize>>,
    /// The state that each node saw.
    pub(super) seen: Mutex<Vec<(String, All)>>,
}

impl Script {
    pub(super) fn play(&self) -> Played {
        let Self { writes, failing } = self.clone();
        Played { writes, failing: Mutex::new(failing), seen: Mutex::default() }
    }
}

const NODES: usize = 11;

pub(super) fn script(fields: &[u8]) -> BoxedStrategy<Script> {
    let writes = prop::collection::vec(prop::collection::vec(write(fields), 0..3), NODES);
    let failing = prop::collection::hash_set(0..NODES, 0..3);
    (writes, failing).prop_map(|(writes, failing)| Script { writes, failing }).boxed()
}

async fn play(state: &All, cx: &ContextWith<Played>, nth: usize) -> Result<AllUpdate, NodeError> {
    let played = cx.context();
    played.seen.lock().unwrap().push((cx.node().to_owned(), state.clone()));
    if played.failing.lock().unwrap().remove(&nth) {
        // Its siblings run first.
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        return Err(NodeError::msg("broken"));
    }
    Ok(update(&played.writes[nth], state))
}

macro_rules! nodes {
    ($($name:ident: $nth:expr;)*) => {$(
        async fn $name(state: &All, cx: &ContextWith<Played>) -> Result<AllUpdate, NodeError> {
            play(state, cx, $nth).await
        }
    )*};
}

nodes! { first: 0; side: 1; last: 2; in_first: 3; in_left: 4; in_right: 5; in_last: 6; before: 7; }

async fn commands(state: &All, cx: &ContextWith<Played>) -> Result<ParentCommand<All>, NodeError> {
    play(state, cx, 8).await.map(ParentCommand::update)
}

async fn talk(chat: &MessagesState, cx: &ContextWith<Played>) -> Result<MessagesStateUpdate, NodeError> {
    let _ = play(&All::default(), cx, 9).await?;
    Ok(MessagesState::update()
        .messages([Message::ai(format!("talk {}", chat.messages.len())), "more".into()]))
}

async fn listen(chat: &MessagesState, cx: &ContextWith<Played>) -> Result<MessagesStateUpdate, NodeError> {
    let _ = play(&All::default(), cx, 10).await?;
    let corrected =
        chat.messages.first().and_then(Message::id).map(|id| Message::ai("corrected").with_id(id));
    Ok(MessagesState::update().messages(corrected))
}

pub(super) fn subgraph() -> Subgraph<All, Played> {
    let graph =
        StateGraph::<All>::with_context::<Played>().edge(START, in_first).edge(in_first, (in_left, in_right));
    let graph = graph.join((in_left, in_right), in_last).edge(in_last, END).compile().unwrap();
    graph.as_node("inside")
}

/// `first`, then four branches at once, then `last`.
pub(super) fn graph() -> Graph<All, Played> {
    let inside = subgraph();
    let commanding = StateGraph::<All>::with_context::<Played>().edge(START, before).edge(before, commands);
    let commanding = commanding.edge(commands, END).compile().unwrap().as_node("commanding");
    let chat = StateGraph::<MessagesState>::with_context::<Played>().edge(START, talk).edge(talk, listen);
    let chat = chat.edge(listen, END).compile().unwrap().as_node("chat");
    let chat = chat.mapped(
        |all: &All| {
            let asked = [Message::human("asked")];
            MessagesState::input().messages(all.messages.iter().cloned().chain(asked).collect::<Vec<_>>())
        },
        |done| {
            let begun: HashSet<_> = done.begun.messages.iter().map(Message::id).collect();
            let said: Vec<_> =
                done.state.messages.into_iter().filter(|said| !begun.contains(&said.id())).collect();
            All::update().messages(said)
        },
    );
    let graph = StateGraph::<All>::with_context::<Played>().edge(START, first);
    let graph = graph.edge(first, (&inside, &commanding, &chat, side));
    graph.join((&inside, &commanding, &chat, side), last).edge(last, END).compile().unwrap()
}
