use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AssistantId, Object, RunId, ThreadId, Timestamp, names};

names! {
    /// The status of a run.
    pub(crate) enum RunStatus {
        /// The run waits for its turn or its time.
        Pending = "pending",
        /// The run is active.
        Running = "running",
        /// The run has ended, or has stopped at a question or a breakpoint.
        Success = "success",
        /// The run has failed.
        Error = "error",
        /// The run has exceeded its time.
        Timeout = "timeout",
        /// The run was cancelled.
        Interrupted = "interrupted",
    }
}

impl RunStatus {
    /// Returns `true` if the run has not ended.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Running)
    }
}

names! {
    /// The treatment of a run on a thread that has unfinished runs.
    pub(crate) enum MultitaskStrategy {
        /// The new run is refused.
        Reject = "reject",
        /// The unfinished runs are cancelled, and their work is kept.
        Interrupt = "interrupt",
        /// The unfinished runs are cancelled and removed.
        Rollback = "rollback",
        /// The new run waits.
        Enqueue = "enqueue",
    }
}

names! {
    /// The treatment of a run that is cancelled.
    pub(crate) enum CancelAction {
        /// Its work is kept.
        Interrupt = "interrupt",
        /// The run and its checkpoints are removed.
        Rollback = "rollback",
    }
}

names! {
    /// The treatment of a run whose client disconnects.
    pub(crate) enum OnDisconnect {
        /// It is cancelled.
        Cancel = "cancel",
        /// It continues.
        Continue = "continue",
    }
}

names! {
    /// The treatment of the thread of a stateless run at its end.
    pub(crate) enum OnCompletion {
        /// It is deleted.
        Delete = "delete",
        /// It is kept.
        Keep = "keep",
    }
}

names! {
    /// The treatment of a run on a thread that does not exist.
    pub(crate) enum IfNotExists {
        /// The thread is created.
        Create = "create",
        /// The run is refused.
        Reject = "reject",
    }
}

names! {
    /// The time at which the steps of a run are stored.
    pub(crate) enum DurabilityName {
        /// Each step before the next one.
        Sync = "sync",
        /// While the next one runs.
        Async = "async",
        /// At the end.
        Exit = "exit",
    }
}

names! {
    /// The kinds of events of a stream.
    pub(crate) enum StreamMode {
        /// The whole state after each step.
        Values = "values",
        /// The update of each node.
        Updates = "updates",
        /// Parts of messages, with their metadata.
        MessagesTuple = "messages-tuple",
        /// Messages as they grow.
        Messages = "messages",
        /// Values that nodes emit.
        Custom = "custom",
        /// The start and the end of each task.
        Tasks = "tasks",
        /// Each checkpoint.
        Checkpoints = "checkpoints",
        /// Tasks and checkpoints.
        Debug = "debug",
        /// Events of nodes and models.
        Events = "events",
        /// The calls of tools.
        Tools = "tools",
    }
}

names! {
    /// The kinds of events of a thread's stream.
    pub(crate) enum ThreadStreamMode {
        /// The events of its runs, as each run has chosen them, and the start and the end of runs.
        RunModes = "run_modes",
        /// The start and the end of runs.
        Lifecycle = "lifecycle",
        /// The state when it has changed.
        StateUpdate = "state_update",
    }
}

/// A run, as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Run {
    /// The id.
    pub(crate) run_id: RunId,
    /// The thread.
    pub(crate) thread_id: ThreadId,
    /// The assistant.
    pub(crate) assistant_id: AssistantId,
    /// The time of creation.
    pub(crate) created_at: Timestamp,
    /// The time of the last change.
    pub(crate) updated_at: Timestamp,
    /// The status.
    pub(crate) status: RunStatus,
    /// The metadata.
    pub(crate) metadata: Object,
    /// The treatment of the run on a busy thread.
    pub(crate) multitask_strategy: MultitaskStrategy,
    /// The request.
    pub(crate) kwargs: Object,
    /// The reason that the client gave when it cancelled the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cancel_reason: Option<String>,
}

names! {
    /// The fields of a run, as `select` names them.
    pub(crate) enum RunField {
        /// The id.
        RunId = "run_id",
        /// The thread.
        ThreadId = "thread_id",
        /// The assistant.
        AssistantId = "assistant_id",
        /// The time of creation.
        CreatedAt = "created_at",
        /// The time of the last change.
        UpdatedAt = "updated_at",
        /// The status.
        Status = "status",
        /// The metadata.
        Metadata = "metadata",
        /// The treatment of the run on a busy thread.
        MultitaskStrategy = "multitask_strategy",
        /// The request.
        Kwargs = "kwargs",
        /// The reason of the cancellation.
        CancelReason = "cancel_reason",
    }
}
