//! Marks the unfinished subgraph calls of a thread in a picture.

use std::sync::Arc;

use crate::checkpoint::{CheckpointId, Checkpointer};
use crate::engine::ErasedState;
use crate::engine::child::{Kept, stored_as};
use crate::engine::persist::{START, under};
use crate::error::{Error, ErrorKind};
use crate::graph::{Compiled, Mark, Marked};
use crate::node::{Packet, ReadPacket};

use super::load::snapshot;
use super::raw_snapshot::RawSnapshot;

/// A task of a graph over `S` that has not finished.
#[doc(hidden)]
pub struct OpenTask<'a> {
    store: &'a dyn Checkpointer,
    thread: &'a Arc<str>,
    /// The namespace of the task's graph.
    namespace: &'a str,
    /// The node's name and its aliases.
    names: Vec<&'a str>,
    /// The state that the task reads.
    state: &'a dyn ErasedState,
    packet: Option<Packet>,
    /// The checkpoint that planned the task, and the task's index.
    planned: (CheckpointId, usize),
}

impl<'a> OpenTask<'a> {
    /// Returns the state that the task reads.
    pub(crate) fn state(&self) -> &'a dyn ErasedState {
        self.state
    }

    pub(crate) fn packet(&self) -> Option<&Packet> {
        self.packet.as_ref()
    }

    /// Returns the marks of the task's call of `graph`, and of the calls inside it.
    ///
    /// `base` is the parent state, if the call shares it.
    pub(crate) async fn marks_of_call(
        &self,
        graph: &Compiled,
        kept: &Kept,
        packets: bool,
        base: Option<&dyn ErasedState>,
    ) -> Result<Vec<Marked>, Error> {
        let refuse = |kind| Error::new(&graph.name, kind);
        for name in &self.names {
            let namespace = stored_as(self.namespace, name, kept, packets, self.planned.1);
            let loaded = self.store.get(self.thread, &namespace, None).await;
            let loaded = loaded.map_err(|error| refuse(ErrorKind::store(Arc::new(error))))?;
            let Some(stored) = loaded.found else { continue };
            // The newest call may belong to an earlier task.
            let here = under(&stored.checkpoint).map(|under| (under.checkpoint, under.task));
            if here != Some(self.planned) {
                break;
            }
            let call = snapshot(graph, self.thread, &namespace, stored, base).map_err(refuse)?;
            let mut marked = marks(graph, &call);
            marked.extend(marks_inside(self.store, graph, &call).await?);
            return Ok(marked);
        }
        Ok(Vec::new())
    }
}

/// Returns the marks of the unfinished subgraph calls that the tasks of a snapshot have made.
pub(super) async fn marks_inside(
    store: &dyn Checkpointer,
    graph: &Compiled,
    snapshot: &RawSnapshot,
) -> Result<Vec<Marked>, Error> {
    let mut all = Vec::new();
    let Some(state) = &snapshot.state else { return Ok(all) };
    let open = snapshot.tasks.iter().enumerate().filter(|(_, task)| task.result.is_none());
    for (index, task) in open {
        let Some(place) = graph.find(&task.node) else { continue };
        let Some(node) = graph.nodes.get(place) else { continue };
        let read = |read: ReadPacket| read(task.packet.as_ref()?.to_string().as_bytes()).ok();
        let before = graph.aliases.iter().filter(|(_, of)| *of == place);
        let open = OpenTask {
            store,
            thread: &snapshot.thread,
            namespace: &snapshot.namespace,
            names: std::iter::once(graph.node_name(place))
                .chain(before.map(|(name, _)| name.as_str()))
                .collect(),
            state: &**state,
            packet: node.read_packet.and_then(read),
            planned: (snapshot.id, index),
        };
        let Some(subgraph) = node.run.as_subgraph() else { continue };
        let inside = subgraph.marked(open).await?;
        // A call can both wait for an answer and have a failed task.
        all.extend(Marked::open(&inside).map(|mark| Marked::node(place, mark)));
        all.extend(inside.into_iter().map(|marked| marked.within(place)));
    }
    Ok(all)
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
