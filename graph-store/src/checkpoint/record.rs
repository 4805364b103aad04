use std::sync::Arc;

use crate::payload::Payload;

use super::CheckpointId;

/// What a [`TaskRecord`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RecordKind {
    /// A write of a task that has finished; the key holds its place and the field.
    Write,
    /// That a task has finished, and how it left its node.
    Finished,
    /// How a task failed last, and how often it was tried.
    Failed,
    /// A question that a task waits for.
    Interrupt,
    /// The answer to the question of the same key.
    Answer,
    /// What a durable step of a task came to; the key is the step's.
    Step,
    /// An update that came with a resumption, to be applied before the tasks' own.
    Patch,
    /// A node that a resumption added to the superstep.
    Goto,
    /// That a run has stopped at this checkpoint's breakpoints, or is to.
    Breakpoint,
    /// That a run has stopped here, though it could have gone on, and why.
    Stopped,
    /// When a sleep of a task is over; the key says which of its sleeps.
    Sleep,
    /// A checkpoint of the thread that this one is of no use without: see [`RecordKey::retaining`].
    Retained,
}

impl RecordKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Write,
        Self::Finished,
        Self::Failed,
        Self::Interrupt,
        Self::Answer,
        Self::Step,
        Self::Patch,
        Self::Goto,
        Self::Breakpoint,
        Self::Stopped,
        Self::Sleep,
        Self::Retained,
    ];

    /// The number that a store keeps; it never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Write => 0,
            Self::Finished => 1,
            Self::Failed => 2,
            Self::Interrupt => 3,
            Self::Answer => 4,
            Self::Step => 5,
            Self::Patch => 6,
            Self::Goto => 7,
            Self::Breakpoint => 8,
            Self::Stopped => 9,
            Self::Sleep => 10,
            Self::Retained => 11,
        }
    }

    /// The kind of a number; `None` for one of a newer version.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// Which record of a checkpoint is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    /// The task's place in its superstep; [`RecordKey::NO_TASK`] for what concerns the superstep as a whole.
    pub task: u32,
    /// What it is.
    pub kind: RecordKind,
    /// Tells it from others of its kind and task: any text.
    pub key: Arc<str>,
}

impl RecordKey {
    /// The place of what concerns no single task.
    pub const NO_TASK: u32 = u32::MAX;

    /// That a checkpoint is of no use without another one of its thread, which pruning leaves there as long as the former is:
    /// one of the same namespace, or of a namespace whose name is shorter. The key is its id, a space, and its namespace.
    pub fn retaining(checkpoint: CheckpointId, namespace: &str) -> Self {
        Self {
            task: Self::NO_TASK,
            kind: RecordKind::Retained,
            key: format!("{checkpoint} {namespace}").into(),
        }
    }

    /// The checkpoint that such a record names, and its namespace.
    pub fn retained(&self) -> Option<(CheckpointId, &str)> {
        let (id, namespace) = self.key.split_once(' ').filter(|_| self.kind == RecordKind::Retained)?;
        Some((id.parse().ok()?, namespace))
    }

    /// Whether it is of a node that a resumption has added.
    pub fn adds_a_node(&self) -> bool {
        self.task == Self::NO_TASK && self.kind == RecordKind::Goto
    }
}

/// Something that is known of a task that a checkpoint has planned. A checkpoint has one for each [`RecordKey`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRecord {
    /// Which one it is.
    pub key: RecordKey,
    /// What it says.
    pub payload: Payload,
}
