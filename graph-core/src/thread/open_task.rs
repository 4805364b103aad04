//! What the tasks of a thread have under way in the graphs that their nodes are.

use std::sync::Arc;

use crate::checkpoint::{CheckpointId, Checkpointer};
use crate::engine::child::{Kept, stored_as};
use crate::engine::persist::{START, under};
use crate::error::{Error, ErrorKind};
use crate::graph::{Graph, Mark, Marked};
use crate::node::{Packet, ReadPacket};
use crate::state::GraphState;

use super::Snapshot;
use super::load::snapshot;

/// A task that has not finished, of a graph over `S`.
#[doc(hidden)]
pub struct OpenTask<'a, S> {
    store: &'a dyn Checkpointer,
    thread: &'a Arc<str>,
    /// The namespace that it is in.
    around: &'a str,
    /// What its node is called, and was.
    names: Vec<&'a str>,
    /// The state that it reads.
    state: &'a S,
    packet: Option<Packet>,
    /// The checkpoint that has planned it, and its place there.
    planned: (CheckpointId, usize),
}

impl<'a, S> OpenTask<'a, S> {
    /// The state that it reads.
    pub(crate) fn state(&self) -> &'a S {
        self.state
    }

    pub(crate) fn packet(&self) -> Option<&Packet> {
        self.packet.as_ref()
    }

    /// What is marked in the call that it has made of `graph`, and in those within; `base` is the state around the call, of one
    /// that goes on with that.
    pub(crate) async fn call<C: GraphState, D: Send + Sync + 'static>(
        &self,
        graph: &Graph<C, D>,
        kept: &Kept,
        packets: bool,
        base: Option<&C>,
    ) -> Result<Vec<Marked>, Error> {
        let refuse = |kind| Error::new(graph.name(), kind);
        for name in &self.names {
            let namespace = stored_as(self.around, name, kept, packets, self.planned.1);
            let loaded = self.store.get(self.thread, &namespace, None).await;
            let loaded = loaded.map_err(|error| refuse(ErrorKind::store(Arc::new(error))))?;
            let Some(stored) = loaded.found else { continue };
            // The last call may be that of a task before this one.
            let here = under(&stored.checkpoint).map(|under| (under.checkpoint, under.task));
            if here != Some(self.planned) {
                break;
            }
            let call = snapshot(&graph.0, self.thread, &namespace, stored, base).map_err(refuse)?;
            let mut marked = marks(graph, &call);
            marked.extend(within(self.store, graph, &call).await?);
            return Ok(marked);
        }
        Ok(Vec::new())
    }
}

/// What is marked in the calls that the tasks of a snapshot have made and that have not come to their end.
pub(super) async fn within<S: GraphState, D: Send + Sync + 'static>(
    store: &dyn Checkpointer,
    graph: &Graph<S, D>,
    snapshot: &Snapshot<S>,
) -> Result<Vec<Marked>, Error> {
    let mut all = Vec::new();
    let Some(state) = &snapshot.state else { return Ok(all) };
    let open = snapshot.tasks.iter().enumerate().filter(|(_, task)| task.result.is_none());
    for (index, task) in open {
        let Some(place) = graph.0.find(&task.node) else { continue };
        let Some(node) = graph.0.nodes.get(place) else { continue };
        let read = |read: ReadPacket| read(task.packet.as_ref()?.to_string().as_bytes()).ok();
        let before = graph.0.aliases.iter().filter(|(_, of)| *of == place);
        let open = OpenTask {
            store,
            thread: &snapshot.thread,
            around: &snapshot.namespace,
            names: std::iter::once(graph.0.node_name(place))
                .chain(before.map(|(name, _)| name.as_str()))
                .collect(),
            state,
            packet: node.read_packet.and_then(read),
            planned: (snapshot.id, index),
        };
        let inside = node.run.marked(open).await?;
        // What it waits for and what has failed of it may both be known of a call.
        all.extend(Marked::open(&inside).map(|mark| Marked::node(place, mark)));
        all.extend(inside.into_iter().map(|marked| marked.within(place)));
    }
    Ok(all)
}

/// Where the run of a snapshot is in its own graph.
pub(super) fn marks<S: GraphState, D: Send + Sync + 'static>(
    graph: &Graph<S, D>,
    snapshot: &Snapshot<S>,
) -> Vec<Marked> {
    let tasks = snapshot.tasks.iter().map(|task| (&*task.node, Mark::of(task)));
    let places = tasks.filter_map(|(name, mark)| match name {
        START => Some(Marked::start(mark)),
        name => graph.0.find(name).map(|node| Marked::node(node, mark)),
    });
    places.collect()
}
