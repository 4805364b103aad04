//! Long lists and conversations.

use superstep::messages::{Message, MessagesState, Remove};
use superstep::thread::{Thread, as_node};
use superstep::{END, Graph, START, StateGraph};

use super::chain::{Chain, stored};
use super::growth;
use super::measure::Sample;

fn chat() -> Graph<MessagesState> {
    async fn answer() {}
    StateGraph::<MessagesState>::new().edge(START, answer).edge(answer, END).compile().unwrap()
}

async fn conversation(at: &Sample) -> Thread<MessagesState> {
    let thread = chat().with_checkpointer(at.store()).thread("t");
    let messages: Vec<Message> = (0..at.n).map(|n| Message::human("text").with_id(format!("{n}"))).collect();
    thread.run(MessagesState::input().messages(messages)).await.unwrap();
    thread
}

growth! {
    written_list: Stores, 20_000 => async |at| {
        let thread = stored(at).thread("t");
        let input = Chain::input(0).lines((0..at.n).collect::<Vec<_>>());
        at.cost(async { thread.run(input).await.unwrap() }).await;
    };
    read_list: Stores, 20_000 => async |at| {
        let thread = stored(at).thread("t");
        thread.run(Chain::input(0).lines((0..at.n).collect::<Vec<_>>())).await.unwrap();
        at.cost(async { thread.state().await.unwrap() }).await;
    };
    items_one_by_one: Stores, 500 => async |at| {
        let thread = stored(at).thread("t");
        thread.update(Chain::update().length(1), as_node(START)).await.unwrap();
        let one = |item: usize| [(Chain::update().lines([item]), as_node(START))];
        at.cost(async { thread.bulk_update((0..at.n).map(one)).await.unwrap() }).await;
        at.cost(async { thread.state().await.unwrap() }).await;
    };
    messages_of_one_update: Stores, 2_000 => async |at| {
        at.cost(async { conversation(at).await }).await;
    };
    messages_one_by_one: Stores, 200 => async |at| {
        let thread = chat().with_checkpointer(at.store()).thread("t");
        thread.run(MessagesState::input().messages("first")).await.unwrap();
        let one = |_| [(MessagesState::update().messages(Message::human("text")), as_node(START))];
        at.cost(async { thread.bulk_update((0..at.n).map(one)).await.unwrap() }).await;
    };
    removed_messages: Stores, 2_000 => async |at| {
        let thread = conversation(at).await;
        let gone: Vec<_> = (0..at.n).map(|n| Remove::id(format!("{n}"))).collect();
        at.cost(async { thread.update(MessagesState::update().messages(gone), as_node(START)).await.unwrap() }).await;
    };
    replaced_messages: Stores, 2_000 => async |at| {
        let thread = conversation(at).await;
        let new: Vec<_> = (0..at.n).rev().map(|n| Message::human("new").with_id(format!("{n}"))).collect();
        at.cost(async { thread.update(MessagesState::update().messages(new), as_node(START)).await.unwrap() }).await;
    };
}
