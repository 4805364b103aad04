//! Ephemeral fields last for one superstep, in any process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use superstep::checkpoint::CheckpointSource;
use superstep::{ContextWith, END, Graph, GraphState, NodeError, START, StateGraph};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug)]
struct Note {
    #[state(reducer = append)]
    log: Vec<String>,
    #[state(input, ephemeral)]
    once: Option<u32>,
    #[state(input, reducer = append, ephemeral)]
    heap: Vec<u32>,
}

fn sees(note: &Note, who: &str) -> NoteUpdate {
    Note::update().log([format!("{who} {:?} {:?}", note.once, note.heap)])
}

async fn writes(note: &Note) -> NoteUpdate {
    sees(note, "writes").once(1).heap([1])
}

async fn reads(note: &Note, cx: &ContextWith<AtomicBool>) -> Result<NoteUpdate, NodeError> {
    if cx.context().load(Ordering::SeqCst) {
        return Err(NodeError::msg("broken"));
    }
    Ok(sees(note, "reads"))
}

async fn too_late(note: &Note) -> NoteUpdate {
    sees(note, "too_late")
}

fn graph() -> Graph<Note, AtomicBool> {
    StateGraph::<Note>::with_context::<AtomicBool>()
        .edge(START, writes)
        .edge(writes, reads)
        .edge(reads, too_late)
        .edge(too_late, END)
        .compile()
        .unwrap()
}

#[tokio::test]
async fn ephemeral_value_lasts_until_its_superstep_succeeds() {
    on_every_store(async |store| {
        let broken = Arc::new(AtomicBool::new(true));
        let input = Note::input().once(7).heap([7]);
        store.thread(&graph()).run(input).context(Arc::clone(&broken)).await.unwrap_err();
        let stored = store.thread(&graph()).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!((stored.once, stored.heap.as_slice()), (Some(1), &[1][..]));
        broken.store(false, Ordering::SeqCst);
        let outcome = store.thread(&graph()).resume(()).context(Arc::clone(&broken)).await.unwrap();
        let seen = ["writes Some(7) [7]", "reads Some(1) [1]", "too_late None []"];
        assert_eq!(outcome.state().log, seen);
        let stored = store.thread(&graph()).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!((stored.once, stored.heap.len()), (None, 0));
    })
    .await;
}

#[tokio::test]
async fn new_input_clears_unread_ephemeral_values() {
    on_every_store(async |store| {
        let broken = Arc::new(AtomicBool::new(true));
        store.thread(&graph()).run(Note::input()).context(Arc::clone(&broken)).await.unwrap_err();
        broken.store(false, Ordering::SeqCst);
        let run = store.thread(&graph()).run(Note::input().heap([2])).abandon_pending();
        let outcome = run.context(Arc::clone(&broken)).await.unwrap();
        let seen = ["writes None []", "writes None [2]", "reads Some(1) [1]", "too_late None []"];
        assert_eq!(outcome.state().log, seen);
    })
    .await;
}

#[tokio::test]
async fn replayed_input_clears_ephemeral_values_again() {
    async fn last(note: &Note) -> NoteUpdate {
        sees(note, "last").once(1).heap([1])
    }
    let graph = StateGraph::<Note>::new().edge(START, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        store.thread(&graph).run(Note::input()).await.unwrap();
        let first = store.thread(&graph).run(Note::input()).await.unwrap().into_state();
        assert_eq!(first.log, ["last None []", "last None []"]);
        let inputs = store.thread(&graph).history().source(CheckpointSource::Input).await.unwrap();
        let again = store.thread(&graph).at(inputs[0].id).run_again().await.unwrap();
        assert_eq!(again.state().log, first.log);
    })
    .await;
}
