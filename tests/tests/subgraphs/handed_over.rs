//! The writes of a call on the parent state have the same effect there if another process has continued the call.

use std::sync::Arc;

use superstep::messages::{Message, MessagesState, MessagesStateUpdate};
use superstep::reducers::{ReduceError, Reducer, Stamp, StoredAs};
use superstep::subgraph::ParentCommand;
use superstep::{ContextWith, Durability, END, Graph, GraphState, NodeError, Overwrite, START, StateGraph};

use super::stores::on_every_store;
use super::story::{Probe, enter};

/// A reducer that appends, and allows one writer in a superstep.
enum Alone {}

impl Reducer<Vec<u32>> for Alone {
    type Update = u32;
    type Delta = u32;

    const EXCLUSIVE: bool = true;
    const STORED: StoredAs = StoredAs::Delta;

    fn prepare(update: u32, _: &Stamp<'_>) -> Result<u32, ReduceError> {
        Ok(update)
    }

    fn fold(value: &mut Vec<u32>, delta: u32) -> Result<(), ReduceError> {
        value.push(delta);
        Ok(())
    }
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Report {
    title: Option<String>,
    #[state(ephemeral, reducer = append)]
    hints: Vec<String>,
    /// The hints that the last node saw.
    seen: Vec<String>,
    #[state(reducer = Alone)]
    alone: Vec<u32>,
}

fn text(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

async fn first(_: &Report) -> ReportUpdate {
    Report::update().hints(text("first"))
}

/// Overwrites the title, which wins over the sibling's.
async fn one(_: &Report) -> ReportUpdate {
    Report::update().title(Overwrite(Some("one".to_owned()))).hints(text("one")).alone(1)
}

async fn two(_: &Report, cx: &ContextWith<Probe>) -> Result<ReportUpdate, NodeError> {
    enter(cx, "two").await?;
    Ok(Report::update().hints(text("two")).alone(2))
}

async fn beside(_: &Report) -> ReportUpdate {
    Report::update().title("beside".to_owned()).hints(text("beside"))
}

async fn last(report: &Report) -> ReportUpdate {
    Report::update().seen(report.hints.clone())
}

fn report() -> Graph<Report, Probe> {
    let inner = StateGraph::<Report>::with_context::<Probe>().edge(START, one).edge(one, two).edge(two, END);
    let inner = inner.compile().unwrap().as_node("inner");
    let graph =
        StateGraph::<Report>::with_context::<Probe>().edge(START, first).edge(first, (&inner, beside));
    graph.join((&inner, beside), last).edge(last, END).compile().unwrap()
}

#[tokio::test]
async fn continued_call_hands_over_the_same_writes() {
    let expected = report().run(Report::input()).context(Probe::default()).await.unwrap().into_state();
    assert_eq!(expected.title.as_deref(), Some("one"));
    assert_eq!((expected.seen.join(" ").as_str(), &*expected.alone), ("two beside", [1, 2].as_slice()));
    on_every_store(async |store| {
        for durability in [Durability::Async, Durability::Exit] {
            let probe = Arc::new(Probe::default());
            probe.set_failing(&["two"]);
            let thread = || report().with_checkpointer(store.open()).thread(format!("{durability:?}"));
            let run = thread().run(Report::input()).durability(durability).context(Arc::clone(&probe));
            run.await.unwrap_err();
            probe.set_failing(&[]);
            let resumed = thread().resume(()).durability(durability).context(Arc::clone(&probe)).await;
            assert_eq!(resumed.unwrap().into_state(), expected);
            assert_eq!(probe.ran(), "two two");
        }
    })
    .await;
}

#[tokio::test]
async fn command_follows_an_overwrite() {
    #[derive(GraphState, Clone, Debug)]
    struct Notes {
        #[state(input, reducer = append)]
        notes: Vec<String>,
    }
    async fn rewrite(_: &Notes) -> NotesUpdate {
        Notes::update().notes(Overwrite(text("rewritten")))
    }
    async fn command(_: &Notes) -> ParentCommand<Notes> {
        ParentCommand::update(Notes::update().notes(text("commanded")))
    }
    async fn beside(_: &Notes) -> NotesUpdate {
        Notes::update().notes(text("dropped"))
    }
    let inner = StateGraph::<Notes>::new().edge(START, rewrite).edge(rewrite, command).edge(command, END);
    let inner = inner.compile().unwrap().as_node("inner");
    let graph = StateGraph::<Notes>::new().edge(START, (&inner, beside)).edge(&inner, END).edge(beside, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let live = store.thread(&graph).run(Notes::input().notes(text("in"))).await.unwrap().into_state();
        assert_eq!(live.notes, ["rewritten", "commanded"]);
        assert_eq!(store.thread(&graph).state().await.unwrap().unwrap().state.unwrap().notes, live.notes);
    })
    .await;
}

#[tokio::test]
async fn continued_call_has_the_same_beginning() {
    async fn reply(_: &MessagesState) -> MessagesStateUpdate {
        MessagesState::update().messages(Message::ai("reply"))
    }
    async fn check(_: &MessagesState, cx: &ContextWith<Probe>) -> Result<(), NodeError> {
        enter(cx, "check").await
    }
    let chat = StateGraph::<MessagesState>::with_context::<Probe>().edge(START, reply).edge(reply, check);
    let chat = chat.edge(check, END).compile().unwrap().as_node("chat");
    let chat = chat.mapped(
        |_: &MessagesState| MessagesState::input().messages("asked"),
        |done| {
            let begun: Vec<_> = done.begun.messages.iter().map(Message::id).collect();
            let said = done.state.messages.iter().filter(|said| !begun.contains(&said.id())).cloned();
            MessagesState::update().messages(said.collect::<Vec<_>>())
        },
    );
    let graph = StateGraph::<MessagesState>::with_context::<Probe>().edge(START, &chat).edge(&chat, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        for durability in [Durability::Async, Durability::Exit] {
            let probe = Arc::new(Probe::default());
            probe.set_failing(&["check"]);
            let thread = || graph.with_checkpointer(store.open()).thread(format!("{durability:?}"));
            let run = thread().run(MessagesState::input()).durability(durability).context(Arc::clone(&probe));
            run.await.unwrap_err();
            probe.set_failing(&[]);
            let resumed = thread().resume(()).durability(durability).context(Arc::clone(&probe)).await;
            let messages = resumed.unwrap().into_state().messages;
            assert_eq!(messages.iter().map(Message::text).collect::<Vec<_>>(), ["reply"]);
        }
    })
    .await;
}
