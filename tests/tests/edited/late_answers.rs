//! Answers that arrive after a roll back.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{BatchWrite, CheckpointId, FieldChange, NewCheckpoint, WriteBatch};
use superstep::interrupt::Question;
use superstep::{ContextWith, END, ErrorKind, NodeError, START};

use tests::stores::{TestStore, on_every_store};
use tests::story::{Probe, Story, StoryUpdate, begin, recording_nodes, say, story};

recording_nodes! { first }

#[derive(Serialize, Deserialize, Debug)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    Ok(say(format!("ask {}", cx.interrupt(Go).await)))
}

/// The id of a removed checkpoint is not used again, even if the clock went back: the answer would reach another question.
#[tokio::test]
async fn late_answer_does_not_reach_a_later_question() {
    let graph = story().edge(START, first).edge(first, ask).edge(ask, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph);
        thread.run(begin("in")).interrupt_before(first).context(Arc::clone(&probe)).await.unwrap();
        let target = head_from_a_fast_clock(store).await;
        let asked = async || {
            thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
            thread.interrupts().await.unwrap().only::<Go>().unwrap()
        };
        let late = asked().await;
        thread.roll_back_to(target).await.unwrap();
        let go = asked().await;
        assert_ne!(late.id(), go.id());
        let error = thread.resume(late.answer(true)).context(Arc::clone(&probe)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InterruptNotOpen { .. }));
    })
    .await;
}

/// Adds a copy of the thread's head, as a machine whose clock is fast would have made it.
async fn head_from_a_fast_clock(store: &TestStore) -> CheckpointId {
    let store = store.open();
    let mut loaded = store.get("t", "", None).await.unwrap();
    let head = loaded.found.take().unwrap();
    let mut checkpoint = head.checkpoint.clone();
    checkpoint.id = CheckpointId::from_bytes([0x02; 16]);
    checkpoint.parent = None;
    let id = checkpoint.id;
    let changes = head.fields.into_iter().flat_map(|field| {
        let name = field.field;
        field.changes.into_iter().map(move |at| FieldChange::new(name.clone(), at.kind, at.payload))
    });
    let new = NewCheckpoint::new(checkpoint).changes(changes.collect());
    let batch = WriteBatch::new("t", loaded.origin.unwrap(), loaded.fence).epoch(loaded.fence.epoch);
    store.commit(batch.writes(vec![BatchWrite::checkpoint(new)])).await.unwrap();
    id
}
