use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::message::add_kind;
use super::{Message, Part, TaskId, Version};
use crate::protocol::{Place, Problems, Read, Timestamp};

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskState {
    Submitted,
    Working,
    InputRequired,
    Completed,
    Canceled,
    Failed,
}

impl TaskState {
    const ALL: [(Self, &str, &str); 6] = [
        (Self::Submitted, "submitted", "TASK_STATE_SUBMITTED"),
        (Self::Working, "working", "TASK_STATE_WORKING"),
        (Self::InputRequired, "input-required", "TASK_STATE_INPUT_REQUIRED"),
        (Self::Completed, "completed", "TASK_STATE_COMPLETED"),
        (Self::Canceled, "canceled", "TASK_STATE_CANCELED"),
        (Self::Failed, "failed", "TASK_STATE_FAILED"),
    ];

    pub(crate) fn name(self, version: Version) -> &'static str {
        let names = Self::ALL.iter().find(|(state, ..)| *state == self);
        names.map_or("unknown", |(_, old, new)| if version == Version::V0_3 { old } else { new })
    }

    /// Returns `true` if nothing happens until the client acts.
    pub(crate) fn has_stopped(self) -> bool {
        !matches!(self, Self::Submitted | Self::Working)
    }
}

impl Read for TaskState {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let name = value.as_str().unwrap_or_default();
        let found = Self::ALL.iter().find(|(_, old, new)| name == *old || name == *new);
        if found.is_none() {
            problems.add(at, "expected the state of a task, such as `TASK_STATE_COMPLETED`");
        }
        found.map(|(state, ..)| *state)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Self::ALL.iter().flat_map(|(_, old, new)| [*old, *new]).collect();
        json_schema!({ "enum": names })
    }
}

/// A result of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Artifact {
    /// The id, unique within the task.
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) part: Part,
}

/// A task.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) id: TaskId,
    pub(crate) state: TaskState,
    /// The question of a task that waits, or the reason of a failure.
    pub(crate) message: Option<Message>,
    pub(crate) at: Timestamp,
    pub(crate) history: Vec<Message>,
    pub(crate) artifacts: Vec<Artifact>,
}

impl Task {
    pub(crate) fn to_json(&self, version: Version) -> Value {
        let history = self.history.iter().map(|message| message.to_json(&self.id, version));
        let artifacts = self.artifacts.iter().map(|artifact| artifact.to_json(version));
        let mut task = json!({
            "id": self.id.to_string(),
            "contextId": self.id.thread,
            "status": self.status(version),
            "history": history.collect::<Vec<_>>(),
            "artifacts": artifacts.collect::<Vec<_>>(),
        });
        add_kind(&mut task, "task", version);
        task
    }

    fn status(&self, version: Version) -> Value {
        // Timestamps of the protocol end with `Z`.
        let at = self.at.to_string().replace("+00:00", "Z");
        let mut status = json!({ "state": self.state.name(version), "timestamp": at });
        if let (Some(message), Some(status)) = (&self.message, status.as_object_mut()) {
            status.insert("message".to_owned(), message.to_json(&self.id, version));
        }
        status
    }
}

impl Artifact {
    fn to_json(&self, version: Version) -> Value {
        json!({ "artifactId": self.id, "name": self.name, "parts": [self.part.to_json(version)] })
    }
}

/// Returns the event that announces the status of a task.
pub(crate) fn status_update(task: &Task, version: Version) -> Value {
    let mut update = json!({
        "taskId": task.id.to_string(), "contextId": task.id.thread, "status": task.status(version),
    });
    add_kind(&mut update, "status-update", version);
    if let (Version::V0_3, Some(update)) = (version, update.as_object_mut()) {
        update.insert("final".to_owned(), task.state.has_stopped().into());
    }
    stream_item("statusUpdate", update, version)
}

/// Returns the event that announces a whole artifact.
pub(crate) fn artifact_update(id: &TaskId, artifact: &Artifact, version: Version) -> Value {
    let mut update = json!({
        "taskId": id.to_string(),
        "contextId": id.thread,
        "artifact": artifact.to_json(version),
        "append": false,
        "lastChunk": true,
    });
    add_kind(&mut update, "artifact-update", version);
    stream_item("artifactUpdate", update, version)
}

/// Returns an object with its name around it, as version 1.0 writes results and events.
pub(crate) fn stream_item(name: &str, item: Value, version: Version) -> Value {
    match version {
        Version::V0_3 => item,
        Version::V1_0 => json!({ name: item }),
    }
}
