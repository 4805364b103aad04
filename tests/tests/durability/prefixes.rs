//! Every prefix of a run's writes is a thread that can be read and continued.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use superstep::checkpoint::{BatchWrite, Checkpointer as _, MemoryCheckpointer, WriteBatch};
use superstep::thread::{PersistentGraph, Snapshot, Thread, ThreadStatus, as_node};
use superstep::{Durability, Graph, GraphState, START};

use crate::instrumented_store::InstrumentedStore;
use crate::job::{Job, JobUpdate, final_state, graph, log_after};
use crate::journal::{Journal, assert_no_durable_work_repeats};

/// Creates a store that records its batches.
pub(crate) fn recording_store() -> (InstrumentedStore<MemoryCheckpointer>, Arc<Mutex<Vec<WriteBatch>>>) {
    let batches: Arc<Mutex<Vec<WriteBatch>>> = Arc::default();
    let mut store = InstrumentedStore::new(MemoryCheckpointer::new(), Journal::with_listener(|_| {}));
    store.batches = Some(Arc::clone(&batches));
    (store, batches)
}

/// Creates a store with these batches.
pub(crate) async fn reopened(batches: &[WriteBatch]) -> MemoryCheckpointer {
    let store = MemoryCheckpointer::new();
    for batch in batches {
        store.commit(batch.clone()).await.unwrap();
    }
    store
}

/// Returns the contents of the thread's checkpoints, by id.
async fn states<S: GraphState + std::fmt::Debug, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
) -> HashMap<String, String> {
    let history = thread.history().await.unwrap();
    let describe = |snapshot: &Snapshot<S>| {
        format!("{} {:?} {:?} {:?}", snapshot.step, snapshot.source, snapshot.next, snapshot.state)
    };
    history.iter().map(|snapshot| (snapshot.id.to_string(), describe(snapshot))).collect()
}

/// Reopens the thread after each batch. Asserts that it has exactly the checkpoints written so far, equal to the
/// final ones, and that the newest is the head.
pub(crate) async fn each_prefix<S, D>(
    graph: &Graph<S, D>,
    batches: &[WriteBatch],
) -> Vec<PersistentGraph<S, D>>
where
    S: GraphState + std::fmt::Debug,
    D: Send + Sync + 'static,
{
    let whole = states(&graph.with_checkpointer(reopened(batches).await).thread("t")).await;
    let mut all = Vec::new();
    for count in 0..=batches.len() {
        let reopened = graph.with_checkpointer(reopened(&batches[..count]).await);
        let there = states(&reopened.thread("t")).await;
        let written =
            batches[..count].iter().flat_map(|batch| &batch.writes).filter_map(|write| match write {
                BatchWrite::Checkpoint(new) => Some(new.checkpoint.id.to_string()),
                BatchWrite::Records { .. } | BatchWrite::RollBack { .. } => None,
            });
        let written: Vec<String> = written.collect();
        assert_eq!(there.len(), written.len(), "after {count} batches");
        for id in &written {
            assert_eq!(there[id], whole[id], "after {count} batches");
        }
        let head = reopened.thread("t").state().await.unwrap();
        assert_eq!(
            head.as_ref().map(|head| head.id.to_string()).as_ref(),
            written.last(),
            "after {count} batches"
        );
        assert_listed(&reopened, head.as_ref(), &format!("after {count} batches")).await;
        all.push(reopened);
    }
    all
}

/// Asserts that the list of unfinished threads has the thread exactly if its head has something left to run.
async fn assert_listed<S, D>(graph: &PersistentGraph<S, D>, head: Option<&Snapshot<S>>, about: &str)
where
    S: GraphState,
    D: Send + Sync + 'static,
{
    let is_unfinished = head.is_some_and(|head| !head.next.is_empty());
    let listed = graph.unfinished().await.unwrap();
    assert_eq!(listed.len(), usize::from(is_unfinished), "{about}");
    for left in listed {
        let asks = head.is_some_and(|head| head.interrupts().next().is_some());
        match left.status {
            ThreadStatus::Unreadable(error) => panic!("{about}: {error}"),
            ThreadStatus::WaitingForAnswer(_) => assert!(asks, "{about}"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn fan_out_loop_finishes_from_every_prefix() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (store, batches) = recording_store();
        let journal = Journal::with_listener(|_| {});
        let thread = graph().with_checkpointer(store).thread("t");
        thread.run(Job::input(3)).run_id("r").durability(durability).context(journal).await.unwrap();
        let batches = batches.lock().unwrap().clone();
        for (count, reopened) in each_prefix(&graph(), &batches).await.into_iter().enumerate() {
            let about = format!("after {count} of {} batches, {durability:?}", batches.len());
            let (journal, lines) = Journal::in_memory();
            // Records the durable checkpoints and results so far.
            let recorder = InstrumentedStore::new(MemoryCheckpointer::new(), journal.clone());
            batches[..count].iter().for_each(|batch| recorder.record_batch(batch));
            let thread = reopened.thread("t");
            let by_id = || thread.run(Job::input(3)).run_id("r").context(journal.clone());
            let again = count % 2 == 0 || thread.state().await.unwrap().is_none();
            let state = if again {
                by_id().await.unwrap().into_state()
            } else {
                thread.resume(()).context(journal.clone()).await.unwrap().into_state()
            };
            assert_eq!(state, final_state(3), "{about}");
            // Nothing starts again.
            assert_eq!(by_id().await.unwrap().into_state(), final_state(3), "{about}");
            assert_no_durable_work_repeats(&lines.all(), &about);
        }
    }
}

#[tokio::test]
async fn updates_and_forks_finish_from_every_prefix() {
    let (store, batches) = recording_store();
    let journal = Journal::with_listener(|_| {});
    let thread = graph().with_checkpointer(store).thread("t");
    thread.run(Job::input(1)).context(Arc::clone(&journal)).await.unwrap();
    let history = thread.history().await.unwrap();
    let fan_out = history.iter().find(|snapshot| snapshot.step == 1).unwrap();
    thread
        .update(JobUpdate::default().log(["by hand".to_owned()]), as_node(START))
        .context(Arc::clone(&journal))
        .await
        .unwrap();
    thread.resume(()).context(Arc::clone(&journal)).await.unwrap();
    thread.at(fan_out.id).run_again().context(Arc::clone(&journal)).await.unwrap();
    thread
        .at(fan_out.id)
        .update(JobUpdate::default().rounds(2_u64), None)
        .context(Arc::clone(&journal))
        .await
        .unwrap();
    thread.resume(()).context(Arc::clone(&journal)).await.unwrap();
    let batches = batches.lock().unwrap().clone();
    for (count, reopened) in each_prefix(&graph(), &batches).await.into_iter().enumerate().skip(1) {
        let thread = reopened.thread("t");
        let state = thread.resume(()).context(Arc::clone(&journal)).await.unwrap().into_state();
        assert!(thread.state().await.unwrap().unwrap().is_finished(), "after {count} batches");
        assert!(state.log.starts_with(&log_after(1)), "after {count} batches");
        let mut once = state.log.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), state.log.len(), "after {count} batches: {:?}", state.log);
    }
}
