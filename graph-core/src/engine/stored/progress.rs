use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::checkpoint::{Checkpoint, CheckpointId, CheckpointSource, TaskRecord};
use crate::engine::apply::Ephemerals;
use crate::engine::graph::Compiled;
use crate::engine::journal::ParentTask;
use crate::engine::stored::{json_payload, reason};
use crate::erased::{Packet, packet_json};
use crate::error::ErrorKind;
use crate::payload::Payload;
use crate::plan::{Progress, Target, Task};
use crate::state::{EncodeError, MigrationError};

use super::resets::StoredResets;
use super::stored_task::StoredTask;
use super::task_changes::TaskChanges;
use super::unplanned::{NodeGone, Unplanned, unplanned_kind};

/// The stored name of START.
pub(crate) const START: &str = "START";

/// The part of a plan that a checkpoint stores in addition to the names of the planned nodes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredProgress {
    /// Packets by task index.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    packets: BTreeMap<usize, Box<RawValue>>,
    /// The deferred tasks that wait. They are stored like the nodes that a resumption adds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<StoredTask>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    joins: Vec<StoredJoin>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ephemeral: Vec<StoredEphemeral>,
    /// The nodes on whose behalf an update was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) updated_as: Vec<String>,
    /// The field changes of this checkpoint by task, for tasks whose result has no record. `None` if all changes belong to
    /// the superstep's only task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wrote: Option<TaskChanges>,
    /// The parent task.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "under")]
    pub(crate) parent_task: Option<ParentTask>,
    /// For a subgraph run on the parent state. `None` if an older version has stored the checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resets: Option<StoredResets>,
    /// For a replay from a checkpoint of a subgraph call: by namespace, the checkpoint from which the planned call
    /// continues.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) enter: BTreeMap<String, CheckpointId>,
    /// The checkpoint that first planned the tasks, if an update from outside has kept them. Their ids contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    planned_at: Option<CheckpointId>,
    /// The ids of the answers that such tasks had when this checkpoint was written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answered: Vec<String>,
}

/// The part of a checkpoint's progress that tells how the checkpoint was made.
#[derive(Debug, Default)]
pub(crate) struct Provenance<'p> {
    /// The nodes on whose behalf an update was made.
    pub(crate) updated_as: &'p [String],
    pub(crate) wrote: Option<&'p TaskChanges>,
    pub(crate) parent_task: Option<&'p ParentTask>,
    pub(crate) resets: Option<StoredResets>,
}

impl Provenance<'_> {
    fn is_nothing(&self) -> bool {
        let Self { updated_as, wrote, parent_task, resets } = self;
        updated_as.is_empty() && wrote.is_none() && parent_task.is_none() && resets.is_none()
    }
}

/// A join that at least one source has reached.
#[derive(Debug, Serialize, Deserialize)]
struct StoredJoin {
    to: String,
    of: Vec<String>,
    arrived: Vec<String>,
}

/// An ephemeral field that is written and not cleared.
#[derive(Debug, Serialize, Deserialize)]
struct StoredEphemeral {
    field: String,
    since: u64,
    #[serde(default)]
    kept: bool,
}

/// Decodes a packet for a node.
fn read_packet(graph: &Compiled, node: usize, json: &RawValue) -> Result<Packet, Unplanned> {
    let name = graph.node_name(node);
    let outdated =
        |reason| Unplanned::Outdated(MigrationError::Packet { of: format!("node `{name}`"), reason });
    let read = graph.nodes.get(node).and_then(|node| node.read_packet);
    let read = read.ok_or_else(|| outdated("the node no longer takes one".to_owned()))?;
    read(json.get().as_bytes()).map_err(|error| outdated(error.to_string()))
}

/// Restores a task from its packet and the stored name of its node. The name may be an alias.
pub(crate) fn read_task(graph: &Compiled, node: &str, packet: Option<&RawValue>) -> Result<Task, Unplanned> {
    let node = graph.find(node).ok_or_else(|| NodeGone(node.to_owned()))?;
    let packet = packet.map(|json| read_packet(graph, node, json)).transpose()?;
    Ok(Task { node, packet })
}

/// Encodes the part of a plan that the names of the planned nodes do not contain.
pub(crate) fn encode(
    graph: &Compiled,
    tasks: &[Task],
    progress: &Progress,
    ephemerals: &Ephemerals,
    provenance: Provenance<'_>,
) -> Result<Option<Payload>, EncodeError> {
    let packets = tasks.iter().enumerate().filter_map(|(index, task)| Some((index, task.packet.as_ref()?)));
    let packets: BTreeMap<usize, Box<RawValue>> = packets
        .map(|(index, packet)| Ok((index, packet_json(packet)?)))
        .collect::<Result<_, EncodeError>>()?;
    let untouched = packets.is_empty()
        && progress.waiting.is_empty()
        && !progress.has_begun_joins()
        && ephemerals.alive().next().is_none()
        && provenance.is_nothing();
    if untouched {
        return Ok(None);
    }
    let name = |node: usize| graph.node_name(node).to_owned();
    let waiting = progress.waiting.iter().map(|task| {
        let packet = task.packet.as_ref().map(packet_json).transpose()?;
        Ok(StoredTask { node: name(task.node), packet })
    });
    let joins = progress.begun_joins(&graph.topology).map(|(join, arrived)| StoredJoin {
        to: target_name(graph, join.target),
        of: join.sources.iter().copied().map(name).collect(),
        arrived: join.sources.iter().zip(arrived).filter(|(_, a)| **a).map(|(s, _)| name(*s)).collect(),
    });
    let ephemeral = ephemerals.alive().filter_map(|(field, since, kept)| {
        Some(StoredEphemeral { field: graph.state.field(field)?.name.to_owned(), since, kept })
    });
    let Provenance { updated_as, wrote, parent_task, resets } = provenance;
    let stored = StoredProgress {
        packets,
        waiting: waiting.collect::<Result<_, EncodeError>>()?,
        joins: joins.collect(),
        ephemeral: ephemeral.collect(),
        updated_as: updated_as.to_vec(),
        wrote: wrote.cloned(),
        parent_task: parent_task.cloned(),
        resets,
        enter: BTreeMap::new(),
        planned_at: None,
        answered: Vec::new(),
    };
    json_payload(&stored).map(Some)
}

/// Decodes the result of [`encode`].
fn parse(payload: Option<&Payload>) -> Result<StoredProgress, Unplanned> {
    let Some(payload) = payload else { return Ok(StoredProgress::default()) };
    serde_json::from_slice(payload.bytes()).map_err(|error| Unplanned::Unreadable(reason(&error)))
}

/// Reads the plan of a checkpoint.
pub(crate) fn read(thread: &Arc<str>, checkpoint: &Checkpoint) -> Result<StoredProgress, ErrorKind> {
    parse(checkpoint.progress.as_ref()).map_err(|unplanned| unplanned_kind(thread, checkpoint, unplanned))
}

/// Returns the parent task of a checkpoint's run; `None` for a run of the thread itself.
pub(crate) fn parent_task(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
) -> Result<Option<ParentTask>, ErrorKind> {
    Ok(read(thread, checkpoint)?.parent_task)
}

/// Moves a stored plan to a run with another parent task.
pub(crate) fn moved(
    payload: Option<&Payload>,
    parent_task: Option<&ParentTask>,
) -> Result<Option<Payload>, EncodeError> {
    if parent_task.is_none() {
        return Ok(payload.cloned());
    }
    let mut stored = parse(payload).map_err(|_| unread())?;
    stored.parent_task = parent_task.cloned();
    json_payload(&stored).map(Some)
}

/// Adds the checkpoints from which planned subgraph calls continue to a stored plan.
pub(crate) fn entering(
    payload: Option<Payload>,
    enter: &BTreeMap<String, CheckpointId>,
) -> Result<Option<Payload>, EncodeError> {
    if enter.is_empty() {
        return Ok(payload);
    }
    let mut stored = parse(payload.as_ref()).map_err(|_| unread())?;
    stored.enter = enter.clone();
    json_payload(&stored).map(Some)
}

/// Adds the checkpoint that first planned the tasks, and the answers that they have, to a stored plan.
pub(crate) fn keeping(
    payload: Option<Payload>,
    planned_at: CheckpointId,
    answered: Vec<String>,
) -> Result<Option<Payload>, EncodeError> {
    let mut stored = parse(payload.as_ref()).map_err(|_| unread())?;
    (stored.planned_at, stored.answered) = (Some(planned_at), answered);
    json_payload(&stored).map(Some)
}

/// Returns `true` if the checkpoint is of a subgraph run on the parent state. `false` if an older version has stored it.
pub(crate) fn shares_state(thread: &Arc<str>, checkpoint: &Checkpoint) -> Result<bool, ErrorKind> {
    Ok(read(thread, checkpoint)?.resets.is_some())
}

/// Returns the ids of the answers that the tasks of a checkpoint had when it was written.
pub(crate) fn answers_at_first(thread: &Arc<str>, checkpoint: &Checkpoint) -> Result<Vec<String>, ErrorKind> {
    match checkpoint.source {
        CheckpointSource::Update => Ok(read(thread, checkpoint)?.answered),
        _ => Ok(Vec::new()),
    }
}

/// Returns the checkpoint that first planned the tasks of this one.
pub(crate) fn planned_at(thread: &Arc<str>, checkpoint: &Checkpoint) -> Result<CheckpointId, ErrorKind> {
    // Only an update from outside keeps tasks.
    match checkpoint.source {
        CheckpointSource::Update => Ok(read(thread, checkpoint)?.planned_at.unwrap_or(checkpoint.id)),
        _ => Ok(checkpoint.id),
    }
}

fn unread() -> EncodeError {
    EncodeError::of_plan("the stored plan cannot be read")
}

/// Returns the packets of the planned and added tasks for display, by task index.
pub(crate) fn shown_packets(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    records: &[TaskRecord],
) -> Result<BTreeMap<usize, serde_json::Value>, ErrorKind> {
    let packets = read(thread, checkpoint)?.packets;
    let shown = |(index, json): (usize, Box<RawValue>)| Some((index, serde_json::from_str(json.get()).ok()?));
    let added = StoredTask::packets(records, checkpoint.next.len());
    Ok(packets.into_iter().filter_map(shown).chain(added).collect())
}

/// Removes the planned tasks from a stored plan, and keeps its ephemeral fields.
pub(crate) fn without_tasks(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
) -> Result<Option<Payload>, ErrorKind> {
    if checkpoint.progress.is_none() {
        return Ok(None);
    }
    let StoredProgress { ephemeral, parent_task, .. } = read(thread, checkpoint)?;
    let stored = StoredProgress { ephemeral, parent_task, ..StoredProgress::default() };
    Ok(serde_json::to_string(&stored).ok().map(Payload::json))
}

impl StoredProgress {
    /// Restores the planner: the planned tasks, the waiting deferred tasks and the progress of the joins.
    pub(crate) fn resume(
        &self,
        graph: &Compiled,
        next: &[impl AsRef<str>],
    ) -> Result<(Vec<Task>, Progress), Unplanned> {
        let mut progress = Progress::new(&graph.topology);
        let tasks = next.iter().enumerate().map(|(index, name)| {
            let packet = self.packets.get(&index);
            read_task(graph, name.as_ref(), packet.map(AsRef::as_ref))
        });
        let tasks = tasks.collect::<Result<_, _>>()?;
        for waiting in &self.waiting {
            progress.waiting.push(read_task(graph, &waiting.node, waiting.packet.as_deref())?);
        }
        self.arrive(graph, &mut progress);
        Ok((tasks, progress))
    }

    /// Restores the progress of the joins.
    pub(crate) fn arrive(&self, graph: &Compiled, progress: &mut Progress) {
        for stored in &self.joins {
            stored.arrive(graph, progress);
        }
    }

    /// Restores which ephemeral fields are written.
    pub(crate) fn ephemerals(&self, graph: &Compiled) -> Ephemerals {
        let mut ephemerals = Ephemerals::new(&graph.ephemeral);
        for stored in &self.ephemeral {
            if let Some(field) = graph.state.field_named(&stored.field) {
                ephemerals.revive(field, stored.since, stored.kept);
            }
        }
        ephemerals
    }
}

impl StoredJoin {
    /// Marks the sources that have arrived. A join that the graph no longer has is ignored.
    fn arrive(&self, graph: &Compiled, progress: &mut Progress) {
        let find = |name: &String| graph.find(name);
        let sources: Vec<usize> = self.of.iter().filter_map(find).collect();
        let arrived: Vec<usize> = self.arrived.iter().filter_map(find).collect();
        let to_same = |target: Target| match target {
            Target::Node(node) => graph.find(&self.to) == Some(node),
            Target::End => self.to == "END",
        };
        // The same join, or the one with the most sources in common if its sources have changed.
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        let plans = sources.iter().filter_map(|&source| graph.topology.nodes.get(source));
        for &(index, _) in plans.flat_map(|plan| &plan.joins) {
            *shared.entry(index).or_default() += 1;
        }
        let joins = shared.into_iter().filter_map(|(index, shared)| {
            let join = graph.topology.joins.get(index).filter(|join| to_same(join.target))?;
            Some((index, join, shared))
        });
        let best = joins.max_by_key(|(index, _, shared)| (*shared, std::cmp::Reverse(*index)));
        let Some((index, join, _)) = best else { return };
        // This may fill the join: sources for which it has waited may have been removed from the graph.
        for (place, source) in join.sources.iter().enumerate() {
            if arrived.contains(source) {
                progress.arrive(index, place);
            }
        }
    }
}

pub(crate) fn target_name(graph: &Compiled, target: Target) -> String {
    match target {
        Target::Node(node) => graph.node_name(node).to_owned(),
        Target::End => "END".to_owned(),
    }
}
