use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use superstep::checkpoint::CheckpointId;
use superstep::run::Stop;
use superstep::{Durability, StreamMode};

use super::RunContext;

/// The key of the run's id in the metadata of its checkpoints.
pub(super) const RUN_ID: &str = "run_id";

/// A run as a client requests it. JSON is not read yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunSpec {
    pub(crate) run_id: Arc<str>,
    pub(crate) begin: BeginSpec,
    /// The checkpoint from which the run forks.
    pub(crate) at: Option<CheckpointId>,
    pub(crate) context: RunContext,
    pub(crate) options: RunOptions,
}

/// The beginning of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct BeginSpec {
    /// The input. With it, the other fields are empty.
    pub(crate) input: Option<Value>,
    pub(crate) update: Option<Value>,
    pub(crate) resume: Option<Value>,
    pub(crate) goto: Vec<GotoSpec>,
}

/// A node to run in addition, with its packet.
#[derive(Clone, Debug)]
pub(crate) struct GotoSpec {
    pub(crate) node: String,
    pub(crate) packet: Option<Value>,
}

/// The options of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunOptions {
    pub(crate) durability: Durability,
    pub(crate) recursion_limit: Option<u64>,
    pub(crate) before: Breakpoints,
    pub(crate) after: Breakpoints,
    /// Stored with the checkpoints of the run.
    pub(crate) metadata: Map<String, Value>,
}

/// The nodes at which a run stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Breakpoints {
    All,
    Named(Vec<String>),
}

impl Default for Breakpoints {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

/// The way in which a run begins, decided on the state of its thread. It is stored before the run starts, so that a run
/// that is started again begins in the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Way {
    pub(crate) kind: WayKind,
    /// The latest checkpoint of the thread before the run, if it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<CheckpointId>,
}

/// The kinds of a [`Way`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WayKind {
    /// The run has an input.
    Input,
    /// The run continues from the latest checkpoint, with these answers: the ids of questions, and the JSON.
    Resume(Vec<(String, Value)>),
    /// The thread has nothing left to run, so its update is written first.
    UpdateFirst,
    /// The thread has no state. The update is its first write, and the run begins at the chosen nodes.
    Fresh,
    /// The run repeats the tasks that an older checkpoint has planned.
    Replay,
    /// The thread has no state and the request gives none.
    Nothing,
}

impl Way {
    pub(crate) fn of(kind: WayKind) -> Self {
        Self { kind, base: None }
    }
}

/// The circumstances of an execution of a run.
pub(crate) struct Execution {
    /// The thread; `None` executes the run on a thread of its own in memory.
    pub(crate) thread: Option<Arc<str>>,
    pub(crate) way: Way,
    /// The kinds of events that are needed.
    pub(crate) modes: Vec<StreamMode>,
    pub(crate) stop: Stop,
    /// `true` if an earlier process may have started the run.
    pub(crate) again: bool,
}
