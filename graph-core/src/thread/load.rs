use std::collections::BTreeMap;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::checkpoint::{
    Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, Checkpointer, Loaded, StoredCheckpoint,
    TaskRecord,
};
use crate::engine::{
    AppliedBy, AppliedResults, Compiled, Program, START, Waiting, begun_joins, caught, has_unrecorded_tasks,
    is_applied_by, planned_at, read_tasks, shown_packets, shown_state, updated_as,
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
            let Some(stored) = loaded.found else { return Ok(None) };
            let applied = applied_by(
                &*thread.graph.store,
                &thread.name,
                "",
                (&stored.checkpoint, &stored.records),
                loaded.fence.head,
            )
            .await;
            let applied = applied.map_err(|error| thread.graph.error(error))?;
            let snapshot = snapshot(graph, &thread.name, ("", epoch), stored, None, applied.as_ref());
            snapshot.map(Some).map_err(|kind| thread.graph.refuse(kind))
        };
        caught(&graph.name, loaded).await
    })
}

/// Reads a checkpoint of a thread, the head if `checkpoint` is `None`.
pub(crate) async fn read(thread: &ErasedThread, checkpoint: Option<CheckpointId>) -> Result<Loaded, Error> {
    let loaded = thread.graph.store.get(&thread.name, "", checkpoint).await;
    loaded.map_err(|error| thread.graph.error(error))
}

/// Reads the checkpoint that has applied the superstep planned at `stored`, if it has results of that superstep's tasks.
///
/// Only the head of a namespace can be continued, so that checkpoint is the next one in the namespace, if it exists.
pub(crate) async fn applied_by(
    store: &dyn Checkpointer,
    thread: &str,
    namespace: &str,
    (checkpoint, records): (&Checkpoint, &[TaskRecord]),
    head: Option<CheckpointId>,
) -> Result<Option<AppliedBy>, CheckpointError> {
    let has_unrecorded = has_unrecorded_tasks(checkpoint, records);
    if head == Some(checkpoint.id) || !(has_unrecorded || waits_for_input(checkpoint)) {
        return Ok(None);
    }
    let query = CheckpointQuery::new(thread).namespace(namespace).after(checkpoint.id);
    let next = store.list(query.oldest_first(true).limit(1)).await?.items.pop();
    let Some(next) = next.filter(|next| is_applied_by(checkpoint, next)) else { return Ok(None) };
    let fields = match has_unrecorded {
        true => store.get(thread, namespace, Some(next.id)).await?.found.map(|found| found.fields),
        // The result of START is the input, which has records of its own.
        false => Some(Vec::new()),
    };
    // The checkpoint may have been pruned since it was listed.
    Ok(fields.map(|fields| AppliedBy { checkpoint: next, fields }))
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

/// Returns `true` if an input waits to be applied at the checkpoint.
pub(crate) fn waits_for_input(checkpoint: &Checkpoint) -> bool {
    checkpoint.next.iter().any(|next| &**next == START)
}

/// Builds the snapshot of a checkpoint. A subgraph call that shares the parent state needs that state as `base`.
/// `applied` is the checkpoint that has applied the planned superstep, if there is one.
pub(crate) fn snapshot(
    graph: &Compiled,
    thread: &Arc<str>,
    (namespace, epoch): (&str, u64),
    stored: StoredCheckpoint,
    base: Option<&dyn ErasedState>,
    applied: Option<&AppliedBy>,
) -> Result<RawSnapshot, ErrorKind> {
    let StoredCheckpoint { checkpoint, fields, records, .. } = stored;
    let state = if waits_for_input(&checkpoint) && fields.is_empty() {
        None
    } else {
        Some(shown_state(graph, thread, &checkpoint, fields, &records, base)?)
    };
    snapshot_with(graph, thread, (namespace, epoch), (checkpoint, records), state, applied)
}

/// Builds the snapshot of a checkpoint whose state was read.
pub(crate) fn snapshot_with(
    graph: &Compiled,
    thread: &Arc<str>,
    (namespace, epoch): (&str, u64),
    (checkpoint, records): (Checkpoint, Vec<TaskRecord>),
    state: Option<Arc<dyn ErasedState>>,
    applied: Option<&AppliedBy>,
) -> Result<RawSnapshot, ErrorKind> {
    let applied = applied.map(|by| AppliedResults::new(graph, thread, (&checkpoint, &records), by));
    let applied = applied.transpose()?;
    let tasks = read_tasks(graph, thread, &checkpoint, &records)?;
    let joins = begun_joins(graph, thread, &checkpoint)?;
    let mut packets = shown_packets(thread, &checkpoint, &records)?;
    let planned_at = planned_at(thread, &checkpoint)?;
    let next = tasks.iter().map(|(node, _)| Arc::clone(node)).collect();
    let mut raw_tasks = Vec::with_capacity(tasks.len());
    for (index, (node, task_progress)) in tasks.into_iter().enumerate() {
        let (result, whole_values) = match (task_progress.result, &applied) {
            (Some(finished), _) => (Some(finished.writes), Vec::new()),
            (None, None) => (None, Vec::new()),
            (None, Some(applied)) => match applied.of_task(index)? {
                Some(result) => (Some(result.writes), result.whole_values),
                None => (None, Vec::new()),
            },
        };
        raw_tasks.push(RawTask {
            id: format!("{planned_at}:{index}"),
            packet: packets.remove(&index),
            error: task_progress.failure.map(|failure| TaskError::of(&node, failure)),
            interrupts: task_progress.questions,
            result,
            whole_values,
            node,
        });
    }
    Ok(RawSnapshot {
        state,
        planned_at,
        next,
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
        updated_as: updated_as(thread, &checkpoint)?.into_iter().map(Arc::from).collect(),
        tasks: raw_tasks,
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
