//! The serialized form of events.

use std::sync::Arc;
use std::time::Duration;

use serde::ser::SerializeMap;

use crate::checkpoint::{CheckpointId, CheckpointSource};
use crate::interrupt::OpenInterrupt;
use crate::messages::MessageChunk;

use super::Custom;

/// An event without the data whose type depends on the state.
pub(crate) struct ShownEvent<'e> {
    /// The node and the index of its task.
    pub(crate) of: Option<(&'e str, usize)>,
    pub(crate) kind: ShownKind<'e>,
}

pub(crate) enum ShownKind<'e> {
    Values,
    Update {
        restored: bool,
        subgraph: bool,
    },
    Custom(&'e Custom),
    Message(&'e MessageChunk),
    Started,
    Step {
        key: &'e str,
        kept: bool,
    },
    Finished {
        cached: bool,
        restored: bool,
    },
    NotCached {
        reason: &'e str,
    },
    Retry {
        attempt: u32,
        error: &'e str,
        wait: Duration,
    },
    Handled {
        error: &'e str,
    },
    Failed {
        error: &'e str,
    },
    Interrupt(&'e OpenInterrupt),
    Checkpoint {
        id: CheckpointId,
        parent: Option<CheckpointId>,
        source: CheckpointSource,
        step: i64,
        next: &'e [Arc<str>],
        epoch: u64,
    },
}

impl<'e> ShownEvent<'e> {
    pub(crate) fn of_task(node: &'e str, task: usize, kind: ShownKind<'e>) -> Self {
        Self { of: Some((node, task)), kind }
    }

    pub(crate) fn of_run(kind: ShownKind<'e>) -> Self {
        Self { of: None, kind }
    }

    /// Returns the name of the kind in JSON.
    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            ShownKind::Values => "values",
            ShownKind::Update { .. } => "update",
            ShownKind::Custom(_) => "custom",
            ShownKind::Message(_) => "message",
            ShownKind::Started => "task_started",
            ShownKind::Step { .. } => "step_finished",
            ShownKind::Finished { .. } => "task_finished",
            ShownKind::Failed { .. } => "task_failed",
            ShownKind::NotCached { .. } => "task_not_cached",
            ShownKind::Retry { .. } => "task_retry",
            ShownKind::Handled { .. } => "task_handled",
            ShownKind::Checkpoint { .. } => "checkpoint",
            ShownKind::Interrupt(_) => "interrupt",
        }
    }

    /// Writes the entries before the data that depends on the state. Call [`write_rest`](Self::write_rest) after it.
    // Two functions, because a function with that data as a parameter would be compiled for each state.
    pub(crate) fn write_head<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("type", self.name())?;
        if let Some((node, task)) = self.of {
            map.serialize_entry("node", node)?;
            map.serialize_entry("task", &task)?;
        }
        Ok(())
    }

    pub(crate) fn write_rest<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match &self.kind {
            ShownKind::Custom(value) => map.serialize_entry("data", value)?,
            ShownKind::Message(chunk) => map.serialize_entry("data", chunk)?,
            ShownKind::Interrupt(question) => map.serialize_entry("data", question)?,
            ShownKind::Failed { error } | ShownKind::Handled { error } => {
                map.serialize_entry("error", error)?
            }
            ShownKind::Step { key, kept } => {
                map.serialize_entry("key", key)?;
                map.serialize_entry("kept", kept)?;
            }
            ShownKind::Retry { attempt, error, wait } => {
                map.serialize_entry("attempt", attempt)?;
                map.serialize_entry("error", error)?;
                map.serialize_entry("wait", &wait.as_secs_f64())?;
            }
            ShownKind::Checkpoint { id, parent, source, step, next, epoch } => {
                map.serialize_entry("checkpoint", id)?;
                map.serialize_entry("parent", parent)?;
                map.serialize_entry("source", source)?;
                map.serialize_entry("step", step)?;
                let next: Vec<&str> = next.iter().map(|node| &**node).collect();
                map.serialize_entry("next", &next)?;
                map.serialize_entry("epoch", epoch)?;
            }
            ShownKind::NotCached { reason } => map.serialize_entry("reason", reason)?,
            ShownKind::Values
            | ShownKind::Update { .. }
            | ShownKind::Started
            | ShownKind::Finished { .. } => {}
        }
        let (cached, restored, subgraph) = match self.kind {
            ShownKind::Finished { cached, restored } => (cached, restored, false),
            ShownKind::Update { restored, subgraph } => (false, restored, subgraph),
            _ => (false, false, false),
        };
        let marks = [("cached", cached), ("restored", restored), ("subgraph", subgraph)];
        for (name, _) in marks.iter().filter(|(_, is)| *is) {
            map.serialize_entry(name, &true)?;
        }
        Ok(())
    }
}
