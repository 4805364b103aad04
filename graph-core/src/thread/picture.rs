//! The position of a thread in a picture of its graph, with its unfinished subgraph calls.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::checkpoint::{CheckpointId, Checkpointer};
use crate::drawing::{Mark, Marked};
use crate::engine::child::stored_as;
use crate::engine::{Compiled, START, StoredCall, parent_task};
use crate::erased::ReadPacket;
use crate::error::{Error, ErrorKind};
use crate::graph::Picture;
use crate::graph::picture::named;
use crate::state::GraphState;

use super::load::snapshot;
use super::raw_snapshot::RawSnapshot;
use super::{Snapshot, TaskStatus};

impl<S: GraphState, D: Send + Sync + 'static> Picture<S, D> {
    /// Marks the position of a thread: the tasks that run next, wait for an answer or have failed, and the finished
    /// tasks of an unfinished superstep.
    ///
    /// If a node has several tasks, the most urgent mark wins. A snapshot does not contain the tasks inside subgraphs;
    /// [`Thread::picture`](crate::thread::Thread::picture) marks them too.
    pub fn at(mut self, snapshot: &Snapshot<S>) -> Self {
        for task in &snapshot.tasks {
            let mark = Mark::of(task.status());
            self.set(&named(&task.node), |vertex| vertex.mark = vertex.mark.max(Some(mark)));
        }
        self
    }
}

impl Mark {
    pub(crate) fn of(status: TaskStatus) -> Self {
        match status {
            TaskStatus::Finished => Self::Finished,
            TaskStatus::WaitingForAnswer => Self::Waiting,
            TaskStatus::Failed => Self::Failed,
            TaskStatus::Planned => Self::Planned,
        }
    }
}

/// A task that has not finished, with the node and the checkpoint of its run.
struct OpenTask<'a> {
    store: &'a dyn Checkpointer,
    thread: &'a Arc<str>,
    /// The namespace of the task's graph.
    namespace: &'a str,
    /// The node's name and its aliases.
    names: Vec<&'a str>,
    /// The checkpoint that planned the task, and the task's index.
    planned: (CheckpointId, usize),
}

impl OpenTask<'_> {
    /// Returns the marks of the task's call of `graph`, and of the calls inside it.
    async fn marks_of_call(&self, graph: &Compiled, call: &StoredCall<'_>) -> Result<Vec<Marked>, Error> {
        let refuse = |kind| Error::new(&graph.name, kind);
        for name in &self.names {
            let namespace = stored_as(self.namespace, name, &call.storage, call.packets, self.planned.1);
            let loaded = self.store.get(self.thread, &namespace, None).await;
            let loaded = loaded.map_err(|error| refuse(ErrorKind::store(Arc::new(error))))?;
            let epoch = loaded.fence.epoch;
            let Some(stored) = loaded.found else { continue };
            // The newest call may belong to an earlier task.
            let parent_task = parent_task(self.thread, &stored.checkpoint).map_err(refuse)?;
            let here = parent_task.map(|parent_task| (parent_task.checkpoint, parent_task.task));
            if here != Some(self.planned) {
                break;
            }
            let call =
                snapshot(graph, self.thread, (&namespace, epoch), stored, call.base, None).map_err(refuse)?;
            let mut marked = marks(graph, &call);
            marked.extend(marks_inside(self.store, graph, &call).await?);
            return Ok(marked);
        }
        Ok(Vec::new())
    }
}

/// The future of the marks inside the tasks of a snapshot.
type MarkedFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<Marked>, Error>> + Send + 'a>>;

/// Returns the marks of the unfinished subgraph calls that the tasks of a snapshot have made.
// Boxed because calls may be nested.
pub(super) fn marks_inside<'a>(
    store: &'a dyn Checkpointer,
    graph: &'a Compiled,
    snapshot: &'a RawSnapshot,
) -> MarkedFuture<'a> {
    Box::pin(async move {
        let mut all = Vec::new();
        let Some(state) = &snapshot.state else { return Ok(all) };
        let open = snapshot.tasks.iter().enumerate().filter(|(_, task)| task.result.is_none());
        for (index, task) in open {
            let Some(place) = graph.find(&task.node) else { continue };
            let Some(node) = graph.nodes.get(place) else { continue };
            let Some(subgraph) = node.run.as_subgraph() else { continue };
            let Some(inner) = subgraph.graph() else { continue };
            let read = |read: ReadPacket| read(task.packet.as_ref()?.to_string().as_bytes()).ok();
            let packet = node.read_packet.and_then(read);
            let Some(call) = subgraph.stored_call(&**state, packet.as_ref()) else { continue };
            let before = graph.aliases.iter().filter(|(_, of)| *of == place);
            let open = OpenTask {
                store,
                thread: &snapshot.thread,
                namespace: &snapshot.namespace,
                names: std::iter::once(graph.node_name(place))
                    .chain(before.map(|(name, _)| name.as_str()))
                    .collect(),
                planned: (snapshot.planned_at, index),
            };
            let inside = open.marks_of_call(inner, &call).await?;
            // A call can both wait for an answer and have a failed task.
            all.extend(Marked::open(&inside).map(|mark| Marked::node(place, mark)));
            all.extend(inside.into_iter().map(|marked| marked.within(place)));
        }
        Ok(all)
    })
}

/// Returns the marks of the planned tasks of a snapshot in its own graph.
pub(super) fn marks(graph: &Compiled, snapshot: &RawSnapshot) -> Vec<Marked> {
    let tasks = snapshot.tasks.iter().map(|task| (&*task.node, Mark::of(task.status())));
    let places = tasks.filter_map(|(name, mark)| match name {
        START => Some(Marked::start(mark)),
        name => graph.find(name).map(|node| Marked::node(node, mark)),
    });
    places.collect()
}
