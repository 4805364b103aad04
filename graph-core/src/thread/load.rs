use std::collections::BTreeMap;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::checkpoint::{CheckpointId, Loaded, StoredCheckpoint};
use crate::engine::{
    Compiled, Program, START, Waiting, begun_joins, caught, planned_at, read_tasks, shown_packets,
    shown_state,
};
use crate::erased::ErasedState;
use crate::error::{Error, ErrorKind};
use crate::interrupt::Pause;
use crate::state::GraphState;

use super::erased::{ErasedThread, Persistent};
use super::raw_snapshot::{RawSnapshot, RawTask};
use super::{JoinSnapshot, Snapshot, TaskError};

/// Reads a checkpoint of a thread, or its head.
pub(crate) fn load<S: GraphState>(
    thread: ErasedThread,
    checkpoint: Option<CheckpointId>,
) -> impl Future<Output = Result<Option<Snapshot<S>>, Error>> + Send {
    let graph = Arc::clone(&thread.graph);
    TypedLoading { loading: load_raw(thread, checkpoint), graph, state: PhantomData }
}

/// A snapshot that gets the type of its state.
// Not an async block, which is compiled with more code for each state.
struct TypedLoading<S> {
    loading: Loading,
    graph: Arc<Persistent>,
    state: PhantomData<fn() -> S>,
}

impl<S: GraphState> Future for TypedLoading<S> {
    type Output = Result<Option<Snapshot<S>>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.loading.as_mut().poll(cx).map(|loaded| match loaded {
            Ok(Some(snapshot)) => snapshot.typed().map(Some).map_err(|kind| self.graph.refuse(kind)),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        })
    }
}

/// The future of a snapshot.
pub(crate) type Loading = Pin<Box<dyn Future<Output = Result<Option<RawSnapshot>, Error>> + Send>>;

/// Reads a checkpoint of a thread, or its head.
pub(crate) fn load_raw(thread: ErasedThread, checkpoint: Option<CheckpointId>) -> Loading {
    Box::pin(async move {
        let graph = &thread.graph.graph.0;
        let loaded = async {
            let loaded = read(&thread, checkpoint).await?;
            let epoch = loaded.fence.epoch;
            let found = loaded.found.map(|stored| snapshot(graph, &thread.name, "", epoch, stored, None));
            found.transpose().map_err(|kind| thread.graph.refuse(kind))
        };
        caught(&graph.name, loaded).await
    })
}

/// Reads a checkpoint of a thread, the head if `checkpoint` is `None`.
pub(crate) async fn read(thread: &ErasedThread, checkpoint: Option<CheckpointId>) -> Result<Loaded, Error> {
    let loaded = thread.graph.store.get(&thread.name, "", checkpoint).await;
    loaded.map_err(|error| thread.graph.error(error))
}

/// Reads the open interrupts and breakpoints at the thread's head.
// Boxed, so that the future is compiled in this crate.
pub(crate) fn open_interrupts(
    thread: ErasedThread,
) -> Pin<Box<dyn Future<Output = Result<Pause<()>, Error>> + Send>> {
    Box::pin(async move {
        let graph = Arc::clone(&thread.graph);
        caught(&graph.graph.0.name, open_interrupts_of(thread)).await
    })
}

async fn open_interrupts_of(thread: ErasedThread) -> Result<Pause<()>, Error> {
    let Some(stored) = read(&thread, None).await?.found else { return Ok(Pause::empty()) };
    let StoredCheckpoint { checkpoint, records, .. } = stored;
    let waiting = Waiting::read(&thread.graph.graph.0, &thread.name, &checkpoint, &records);
    waiting.map(Waiting::into_pause).map_err(|kind| thread.graph.refuse(kind))
}

/// Builds the snapshot of a checkpoint. A subgraph call that shares the parent state needs that state as `base`.
pub(crate) fn snapshot(
    graph: &Compiled,
    thread: &Arc<str>,
    namespace: &str,
    epoch: u64,
    stored: StoredCheckpoint,
    base: Option<&dyn ErasedState>,
) -> Result<RawSnapshot, ErrorKind> {
    let StoredCheckpoint { checkpoint, fields, records, .. } = stored;
    let tasks = read_tasks(graph, thread, &checkpoint, &records)?;
    let joins = begun_joins(graph, thread, &checkpoint)?;
    let mut packets = shown_packets(thread, &checkpoint, &records)?;
    let waiting = checkpoint.next.iter().any(|next| &**next == START);
    let state = if waiting && fields.is_empty() {
        None
    } else {
        Some(shown_state(graph, thread, &checkpoint, fields, &records, base)?)
    };
    let planned_at = planned_at(thread, &checkpoint)?;
    Ok(RawSnapshot {
        state,
        planned_at,
        next: tasks.iter().map(|(node, _)| Arc::clone(node)).collect(),
        thread: Arc::clone(thread),
        namespace: Arc::from(namespace),
        epoch,
        id: checkpoint.id,
        parent: checkpoint.parent,
        parents: BTreeMap::new(),
        graph_changed: Program::of_run(thread, &checkpoint)?.is_rewired(graph),
        source: checkpoint.source,
        step: checkpoint.step,
        run_id: Arc::clone(&checkpoint.run.id),
        metadata: checkpoint.run.metadata.clone(),
        created_at: checkpoint.created_at,
        tasks: tasks
            .into_iter()
            .enumerate()
            .map(|(index, (node, task_progress))| RawTask {
                id: format!("{planned_at}:{index}"),
                packet: packets.remove(&index),
                error: task_progress.failure.map(|failure| TaskError::of(&node, failure)),
                interrupts: task_progress.questions,
                result: task_progress.result.map(|finished| finished.writes),
                node,
            })
            .collect(),
        joins: joins
            .into_iter()
            .map(|join| JoinSnapshot {
                to: join.to,
                arrived: join.arrived,
                missing: join.missing,
                optional: join.optional,
            })
            .collect(),
    })
}
