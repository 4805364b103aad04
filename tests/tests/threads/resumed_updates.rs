//! Updates given to `resume` are stored before the tasks run, and stay if the tasks fail or wait.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::CheckpointSource;
use superstep::interrupt::Question;
use superstep::reducers::{ReduceError, Reducer, Stamp, StoredAs};
use superstep::thread::as_node;
use superstep::{Context, ContextWith, END, Graph, GraphState, NodeError, START, StateGraph};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, recording_nodes, say, story};

recording_nodes! { last }

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Go).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

fn graph() -> Graph<Story, Probe> {
    story().edge(START, ask).edge(ask, last).edge(last, END).compile().unwrap()
}

#[tokio::test]
async fn update_as_the_asking_node_keeps_the_resumed_update() {
    on_every_store(async |store| {
        store.thread(&graph()).run(begin("in")).context(Probe::default()).await.unwrap();
        let head = store.thread(&graph()).state().await.unwrap().unwrap().id;
        let resumed = store.thread(&graph()).resume(()).update(say("told"));
        assert_eq!(log_of(resumed.context(Probe::default()).await.unwrap().state()), "in told");
        let thread = store.thread(&graph());
        thread.update(say("for ask"), as_node(ask)).context(Probe::default()).await.unwrap();
        let log = async || log_of(thread.state().await.unwrap().unwrap().state.as_ref().unwrap());
        assert_eq!(log().await, "in told for ask");
        // The resumed update is part of its checkpoint's state, and of each fork from there.
        thread.at(head).update(say("instead"), as_node(ask)).context(Probe::default()).await.unwrap();
        assert_eq!(log().await, "in told instead");
    })
    .await;
}

#[tokio::test]
async fn new_input_keeps_the_resumed_update() {
    on_every_store(async |store| {
        store.thread(&graph()).run(begin("in")).context(Probe::default()).await.unwrap();
        let head = store.thread(&graph()).state().await.unwrap().unwrap().id;
        let resumed = store.thread(&graph()).resume(()).update(say("told").value(7));
        resumed.context(Probe::default()).await.unwrap();
        let thread = store.thread(&graph());
        let run = thread.run(begin("new")).abandon_pending();
        let outcome = run.context(Probe::default()).await.unwrap();
        assert_eq!((log_of(outcome.state()).as_str(), outcome.state().value), ("in told new", Some(7)));
        let stored = thread.state().await.unwrap().unwrap();
        assert_eq!(stored.state.as_ref(), Some(outcome.state()));

        let input = &thread.history().source(CheckpointSource::Input).limit(1).await.unwrap()[0];
        assert_eq!(log_of(input.state.as_ref().unwrap()), "in told");
        let again = thread.at(input.id).run_again().context(Probe::default()).await.unwrap();
        assert_eq!(again.state(), outcome.state());
        let other = thread.at(head).run(begin("other")).abandon_pending();
        assert_eq!(log_of(other.context(Probe::default()).await.unwrap().state()), "in told other");
    })
    .await;
}

#[derive(GraphState, Clone)]
struct Note {
    #[state(reducer = append)]
    log: Vec<String>,
    #[state(ephemeral)]
    once: Option<u32>,
    #[state(reducer = append, ephemeral)]
    heap: Vec<u32>,
}

fn sees(note: &Note, who: &str) -> NoteUpdate {
    Note::update().log([format!("{who} {:?} {:?}", note.once, note.heap)])
}

#[tokio::test]
async fn resumed_ephemeral_value_lasts_one_superstep() {
    async fn asks(note: &Note, cx: &Context) -> NoteUpdate {
        cx.interrupt(Go).await;
        sees(note, "asks")
    }
    async fn late(note: &Note) -> NoteUpdate {
        sees(note, "late")
    }
    let graph =
        StateGraph::<Note>::new().edge(START, asks).edge(asks, late).edge(late, END).compile().unwrap();
    on_every_store(async |store| {
        store.thread(&graph).run(Note::input()).await.unwrap();
        // The run still waits, and another process answers.
        store.thread(&graph).resume(()).update(Note::update().once(4).heap([4])).await.unwrap();
        let go = store.thread(&graph).interrupts().await.unwrap().only::<Go>().unwrap();
        let outcome = store.thread(&graph).resume(go.answer(true)).await.unwrap();
        assert_eq!(outcome.state().log, ["asks Some(4) [4]", "late None []"]);
        let stored = store.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!((stored.once, stored.heap.len()), (None, 0));
    })
    .await;
}

/// Records the stamp of each write.
struct Stamped;

impl Reducer<Vec<String>> for Stamped {
    type Update = String;
    type Delta = String;

    const STORED: StoredAs = StoredAs::Value;

    fn prepare(_: String, stamp: &Stamp<'_>) -> Result<String, ReduceError> {
        Ok(format!("{}.{}.{}", stamp.step, stamp.node, stamp.index))
    }

    fn fold(ids: &mut Vec<String>, id: String) -> Result<(), ReduceError> {
        ids.push(id);
        Ok(())
    }
}

#[derive(GraphState, Clone)]
struct Stamps {
    #[state(input, reducer = Stamped, default = Vec::new())]
    ids: Vec<String>,
}

fn stamped() -> StampsUpdate {
    Stamps::update().ids(String::new())
}

#[tokio::test]
async fn outside_writes_have_distinct_stamps() {
    async fn asks(_: &Stamps, cx: &Context) -> StampsUpdate {
        cx.interrupt(Go).await;
        stamped()
    }
    let graph = StateGraph::<Stamps>::new().edge(START, asks).edge(asks, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = || store.thread(&graph);
        thread().run(Stamps::input().ids(String::new())).await.unwrap();
        thread().resume(()).update(stamped()).await.unwrap();
        thread().resume(()).update(stamped()).await.unwrap();
        thread().update(stamped(), as_node(START)).await.unwrap();
        thread().resume(()).update(stamped()).await.unwrap();
        thread().run(Stamps::input().ids(String::new())).abandon_pending().await.unwrap();
        let ids = thread().state().await.unwrap().unwrap().state.unwrap().ids;
        assert_eq!(ids.len(), 6);
        assert_eq!(BTreeSet::from_iter(&ids).len(), ids.len(), "{ids:?}");
    })
    .await;
}
