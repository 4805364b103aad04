//! The JSON form of snapshots.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Serialize, Serializer};

use crate::checkpoint::{CheckpointId, CheckpointSource};
use crate::erased::UpdateJson;
use crate::interrupt::OpenInterrupt;
use crate::options::{Metadata, clock};
use crate::state::{Dump, GraphState};

use super::{JoinSnapshot, Snapshot, TaskError, TaskSnapshot};

#[derive(Serialize)]
#[serde(bound = "")]
struct SnapshotJson<'a, S: GraphState> {
    thread: &'a str,
    namespace: &'a str,
    epoch: u64,
    id: CheckpointId,
    parent: Option<CheckpointId>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parents: BTreeMap<&'a str, CheckpointId>,
    source: CheckpointSource,
    step: i64,
    run_id: &'a str,
    graph_changed: bool,
    created_at_ms: u64,
    metadata: &'a Metadata,
    state: Option<Dump<'a, S>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    updated_as: Vec<&'a str>,
    next: Vec<&'a str>,
    tasks: &'a [TaskSnapshot<S>],
    joins: Vec<JoinJson<'a>>,
}

#[derive(Serialize)]
#[serde(bound = "")]
struct TaskJson<'a, S: GraphState> {
    id: &'a str,
    node: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a TaskError>,
    interrupts: &'a [OpenInterrupt],
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<UpdateJson<'a, S>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    whole_values: Vec<&'a str>,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    text: &'a str,
    attempt: u32,
    panicked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_at_ms: Option<u64>,
}

#[derive(Serialize)]
struct JoinJson<'a> {
    to: &'a str,
    arrived: Vec<&'a str>,
    missing: Vec<&'a str>,
    optional: bool,
}

fn names(names: &[Arc<str>]) -> Vec<&str> {
    names.iter().map(|name| &**name).collect()
}

fn millis(time: SystemTime) -> u64 {
    clock::to_millis(time)
}

/// Serializes by the dump rules of the state: excluded and untracked fields are left out, of results too. Packets are left out,
/// because they have no dump rules. Times are milliseconds since the Unix epoch.
impl<S: GraphState> Serialize for Snapshot<S> {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        SnapshotJson {
            thread: &self.thread,
            namespace: &self.namespace,
            epoch: self.epoch,
            id: self.id,
            parent: self.parent,
            parents: self.parents.iter().map(|(namespace, id)| (&**namespace, *id)).collect(),
            source: self.source,
            step: self.step,
            run_id: &self.run_id,
            graph_changed: self.graph_changed,
            created_at_ms: millis(self.created_at),
            metadata: &self.metadata,
            state: self.state.as_ref().map(GraphState::dump),
            updated_as: names(&self.updated_as),
            next: names(&self.next),
            tasks: &self.tasks,
            joins: self.joins.iter().map(JoinJson::from).collect(),
        }
        .serialize(serializer)
    }
}

/// Serializes as in a [`Snapshot`].
impl<S: GraphState> Serialize for TaskSnapshot<S> {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        TaskJson::<S> {
            id: &self.id,
            node: &self.node,
            status: self.status().name(),
            error: self.error.as_ref(),
            interrupts: &self.interrupts,
            result: self.result.as_ref().map(UpdateJson::<S>),
            whole_values: names(&self.whole_values),
        }
        .serialize(serializer)
    }
}

/// Serializes as in a [`Snapshot`].
impl Serialize for TaskError {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        ErrorJson {
            text: &self.text,
            attempt: self.attempt,
            panicked: self.panicked,
            error_type: self.error_type.as_deref(),
            retry_at_ms: self.retry_at.map(millis),
        }
        .serialize(serializer)
    }
}

/// Serializes as in a [`Snapshot`].
impl Serialize for JoinSnapshot {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        JoinJson::from(self).serialize(serializer)
    }
}

impl<'a> From<&'a JoinSnapshot> for JoinJson<'a> {
    fn from(join: &'a JoinSnapshot) -> Self {
        Self {
            to: &join.to,
            arrived: names(&join.arrived),
            missing: names(&join.missing),
            optional: join.optional,
        }
    }
}
