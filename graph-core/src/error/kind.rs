// This file is long because it lists every kind with its message, so that the messages can be compared.

use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::{CheckpointError, CheckpointId, Conflict};
use crate::erased::OtherState;
use crate::state::validate::Violation;
use crate::state::{EncodeError, InputError, MigrationError};

use super::kind_texts::{
    ambiguous_node, cancelled, empty_update, names, no_cache, no_subgraph_call, node_failed, not_ended,
    not_open, not_planned_again, pending_tasks, violation_list, write_conflict,
};
use super::{NodeFailure, UnfinishedSuperstep, WiringProblem};

/// The kind of an [`Error`](crate::Error), to match on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The graph cannot be built. Holds every mistake in its wiring.
    #[error("cannot be built{}", WiringProblem::list(.0))]
    Wiring(Vec<WiringProblem>),

    /// A JSON input or update does not fit the state. The source lists every missing, unknown and ill-typed field.
    #[error("{}", .0.refusal())]
    Input(#[source] InputError),

    /// A node failed.
    #[error("{}", node_failed(.first, .others))]
    #[non_exhaustive]
    Node {
        /// The failure. If several nodes failed, the first in the order of the superstep.
        first: Box<NodeFailure>,
        /// The other nodes that failed in the same superstep.
        others: Vec<NodeFailure>,
    },

    /// Several tasks of one superstep wrote a field that has no reducer, or overwrote the same field.
    #[error("{}", write_conflict(.field, .nodes, *.step, *.overwrite))]
    #[non_exhaustive]
    WriteConflict {
        /// The field.
        field: &'static str,
        /// The nodes that wrote it, one name for each task, in application order.
        nodes: Vec<String>,
        /// The superstep.
        step: u64,
        /// `true` if the writes were overwrites. A reducer does not resolve this conflict.
        overwrite: bool,
    },

    /// A value breaks a rule of the state. Nothing of the superstep was applied.
    #[error("the writes of {} in superstep {step} break the rules of the state{}", names(.nodes), violation_list(.violations))]
    #[non_exhaustive]
    Validation {
        /// The nodes that wrote the fields concerned; `START` for the run's input.
        nodes: Vec<String>,
        /// The superstep; 0 for the run's input.
        step: u64,
        /// Every broken rule.
        violations: Vec<Violation>,
    },

    /// A reducer refused a write. Nothing of the superstep was applied.
    #[error("the reducer of field `{field}` refused the write of node `{node}` in superstep {step}")]
    #[non_exhaustive]
    Reducer {
        /// The field.
        field: &'static str,
        /// The node that wrote it; `START` for the run's input.
        node: String,
        /// The superstep; 0 for the run's input.
        step: u64,
        /// The reducer's error.
        #[source]
        source: crate::reducers::ReduceError,
    },

    /// The run was not finished when it reached its [recursion limit](crate::run::Run::recursion_limit).
    #[error(
        "the run is not finished after {limit} supersteps (next: {}): raise `recursion_limit(..)` if it needs more",
        names(.next)
    )]
    #[non_exhaustive]
    RecursionLimit {
        /// The limit, in supersteps.
        limit: u64,
        /// The nodes of the next superstep.
        next: Vec<String>,
    },

    /// Nothing is left to run, but a join still waits for some of its sources.
    ///
    /// A thread stays in this state, and its snapshot lists the waiting [`joins`](crate::thread::Snapshot::joins). There are
    /// four ways to continue:
    ///
    /// - `update(.., as_node(source))` takes the place of a missing source.
    /// - `resume(()).goto(as_node(source))` runs a missing source.
    /// - `update(.., as_node(END))` finishes the thread.
    /// - A run with new input starts with empty joins.
    #[error(
        "the run finished while the join into `{target}` still waits for {}: use `join_optional` if the source may be skipped",
        names(.missing)
    )]
    #[non_exhaustive]
    JoinNotFilled {
        /// The join's target.
        target: String,
        /// The sources that have not finished.
        missing: Vec<String>,
    },

    /// A superstep exceeded the run's [superstep timeout](crate::run::Run::superstep_timeout). Tasks that had finished keep
    /// their results.
    #[error(
        "superstep {step} exceeded its timeout of {limit:?} before {} finished: raise `superstep_timeout(..)` if that is too short",
        names(.unfinished)
    )]
    #[non_exhaustive]
    SuperstepTimeout {
        /// The superstep.
        step: u64,
        /// The superstep timeout of the run.
        limit: Duration,
        /// The nodes that had not finished.
        unfinished: Vec<String>,
    },

    /// The run was [cancelled](crate::run::Stop::cancel), or stopped before it began.
    ///
    /// Tasks that had finished keep their results, as after [`SuperstepTimeout`](Self::SuperstepTimeout). On a thread the
    /// results are durable, and a resumption runs the remaining tasks.
    #[error("{}", cancelled(.step.as_ref(), .unfinished))]
    #[non_exhaustive]
    Cancelled {
        /// The superstep; `None` if the run had not begun. Nothing of such a run is stored.
        step: Option<u64>,
        /// The nodes that had not finished.
        unfinished: Vec<String>,
    },

    /// A field marked `from_context` expects another context type than the graph's.
    #[error(
        "field `{field}` is marked `from_context`, but cannot be built from the graph's context type `{context}`: use the \
         same context type in both"
    )]
    #[non_exhaustive]
    ContextMismatch {
        /// The field.
        field: &'static str,
        /// The name of the graph's context type.
        context: &'static str,
    },

    /// An answer was refused.
    #[error("the answer to question `{id}` was refused: {reason}")]
    #[non_exhaustive]
    InvalidAnswer {
        /// The id of the question that the answer names.
        id: String,
        /// The reason.
        reason: String,
    },

    /// The output of a machine or a workflow was requested, and the run has not produced one.
    #[error("{}", not_ended(.waits))]
    #[non_exhaustive]
    NoOutput {
        /// The answers and breakpoints that the run waits for. Empty if the run was stopped, sleeps, or was finished by an
        /// update as END.
        waits: Vec<String>,
    },

    /// A picture refers to nodes or edges that the graph does not have.
    #[error("the picture cannot be drawn: {}", problems.join("; "))]
    #[non_exhaustive]
    InvalidPicture {
        /// Every mistake in the picture's options.
        problems: Vec<String>,
    },

    /// A node returned a command for the parent graph, and the graph does not run as a subgraph.
    #[error(
        "a node returned a `ParentCommand` in superstep {step}, but this run has no parent graph: run the graph as a \
         subgraph, with `graph.as_node(..)`"
    )]
    #[non_exhaustive]
    NoParentGraph {
        /// The superstep.
        step: u64,
    },

    /// A breakpoint, or a request to clear the cache, names a node that the graph does not have.
    #[error("has no node `{node}` {what}, but {}", names(.known))]
    #[non_exhaustive]
    UnknownNode {
        /// The node.
        node: String,
        /// The end of the message, which names the purpose: "to stop at".
        what: &'static str,
        /// The nodes of the graph. Those of its subgraphs are not among them.
        known: Vec<String>,
    },

    /// The graph has no cache: nodes with a cache policy cannot run, and there is nothing to clear.
    #[error("{}", no_cache(.nodes))]
    #[non_exhaustive]
    NoCache {
        /// The nodes that have a cache policy; may be empty if the cache was to be cleared.
        nodes: Vec<String>,
    },

    /// Clearing the graph's cache failed. (A run does not fail when its cache does.)
    #[error("its cache could not be cleared")]
    Cache(#[source] Arc<crate::cache::CacheError>),

    /// The application's code panicked outside of a node, for example in `Clone`, `Drop` or `Serialize` of a value.
    ///
    /// The run has ended. On a thread, everything that was accepted is stored: correct the code, and continue with
    /// `resume(())`. (A panic in a node, a reducer, a rule or a policy has an error that names its place.)
    #[error(
        "the code of a value panicked outside of a node (`{message}`), so the call was ended: correct the code, and continue \
         a thread with `resume(())`"
    )]
    #[non_exhaustive]
    Panicked {
        /// The message of the panic.
        message: String,
    },

    /// The operation is not possible in this runtime (for example, without tokio's timer) or with these arguments.
    #[error("{0}")]
    Runtime(&'static str),

    /// Another run or update has committed to the thread, so this one was stopped.
    ///
    /// The stored thread is consistent: the refused write left nothing behind.
    #[error("{0}")]
    Conflict(Box<Conflict>),

    /// The checkpointer failed, or a stored checkpoint cannot be read.
    #[error("cannot read or write checkpoints")]
    Checkpoint(#[source] Arc<CheckpointError>),

    /// A value that a node wrote cannot be stored. Nothing of the superstep was applied.
    #[error("a value that {} wrote in superstep {step} cannot be stored", names(.nodes))]
    #[non_exhaustive]
    NotStorable {
        /// The nodes that wrote the field; `START` for the run's input.
        nodes: Vec<String>,
        /// The superstep.
        step: u64,
        /// The field, and the reason.
        #[source]
        source: EncodeError,
    },

    /// A thread received new input while it has pending tasks.
    #[error("{}", pending_tasks(.thread, .at.as_ref(), .pending, .superstep))]
    #[non_exhaustive]
    PendingTasks {
        /// The thread.
        thread: String,
        /// The checkpoint that the input should follow, if the caller named one.
        at: Option<CheckpointId>,
        /// The nodes of the pending tasks, one name for each task.
        pending: Vec<String>,
        /// The finished tasks of the same superstep, and the answers that the pending ones wait for.
        superstep: Box<UnfinishedSuperstep>,
    },

    /// The thread has no checkpoint to continue from.
    #[error("thread `{thread}` has no checkpoint yet: start it with `run(input)`")]
    #[non_exhaustive]
    NoThread {
        /// The thread.
        thread: String,
    },

    /// An update addresses a subgraph call, and no call is waiting for one.
    #[error("{}", no_subgraph_call(.thread, .namespace, *.ended))]
    #[non_exhaustive]
    NoSubgraphCall {
        /// The thread.
        thread: String,
        /// The namespace of the call: the path of subgraph nodes, with the call's key or task number.
        namespace: String,
        /// `true` if the last call has finished, `false` if there was no call.
        ended: bool,
    },

    /// The first update of a thread does not give every required field, so there is no state to start with.
    #[error(
        "thread `{thread}` has no state yet, and the update lacks the required fields {}: give all required fields, or \
         start the thread with `run(input)`",
        names(.fields)
    )]
    #[non_exhaustive]
    MissingFields {
        /// The thread.
        thread: String,
        /// The required fields that the update lacks.
        fields: Vec<String>,
    },

    /// The thread has no such checkpoint.
    #[error("thread `{thread}` has no checkpoint {checkpoint}: it may have been pruned")]
    #[non_exhaustive]
    NoCheckpoint {
        /// The thread.
        thread: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
    },

    /// A resumption names a checkpoint that is no longer the thread's head.
    #[error(
        "checkpoint {checkpoint} of thread `{thread}` is no longer its head: branch from it with `run_again()`, or resume \
         the thread itself"
    )]
    #[non_exhaustive]
    NotHead {
        /// The thread.
        thread: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
    },

    /// A run was started again by its id, but another run or update took its place before it finished.
    #[error(
        "run `{run}` of thread `{thread}` was abandoned at checkpoint {checkpoint}, where another run or update took its \
         place: branch from that checkpoint with `run_again()`"
    )]
    #[non_exhaustive]
    RunAbandoned {
        /// The thread.
        thread: String,
        /// The run's id.
        run: String,
        /// The newest checkpoint of the run.
        checkpoint: CheckpointId,
    },

    /// A request has the idempotency key of another request that the thread has accepted.
    #[error(
        "thread `{thread}` has accepted another request with the idempotency key `{key}`: nothing was written; give each \
         request its own key, and repeat a request without changes"
    )]
    #[non_exhaustive]
    IdempotencyKeyReused {
        /// The thread.
        thread: String,
        /// The key.
        key: String,
    },

    /// A run carries an update, but has nothing to run. No checkpoint would hold the update.
    #[error(
        "thread `{thread}` has nothing left to run, so a run cannot apply an update: write it with \
         `thread.update(.., as_node(..))`, or choose a node to run with `resume(..).goto(..)`"
    )]
    #[non_exhaustive]
    NothingToRun {
        /// The thread.
        thread: String,
    },

    /// An answer names a question that is not open, or that has changed since it was read.
    ///
    /// A question is not open if it was answered, has expired, is no longer asked, or was never asked. It is also not open
    /// while its task works on something else, such as a reminder, before it asks again.
    #[error("{}", not_open(.thread, .id, *.changed))]
    #[non_exhaustive]
    InterruptNotOpen {
        /// The thread.
        thread: String,
        /// The question's id.
        id: String,
        /// `true` if a question with this id is open, but differs from the one that was answered.
        changed: bool,
    },

    /// An update does not name a node, and the node that ran last is not unique or not known.
    #[error("{}", ambiguous_node(.thread, .candidates))]
    #[non_exhaustive]
    AmbiguousNode {
        /// The thread.
        thread: String,
        /// The nodes that ran last; empty if that is not stored.
        candidates: Vec<String>,
    },

    /// An update does not name a node. In the place of the node that ran last, it would not plan the same tasks again.
    #[error("{}", not_planned_again(.thread, .node, .pending, .planned))]
    #[non_exhaustive]
    NotPlannedAgain {
        /// The thread.
        thread: String,
        /// The node that ran last.
        node: String,
        /// The pending tasks, by the names of their nodes.
        pending: Vec<String>,
        /// The tasks that the update would plan.
        planned: Vec<String>,
    },

    /// An update has no supersteps, or a superstep without updates.
    #[error("{}", empty_update(.thread, *.superstep, *.count))]
    #[non_exhaustive]
    EmptyUpdate {
        /// The thread.
        thread: String,
        /// The number of the empty superstep, from 1; 0 if there are no supersteps.
        superstep: usize,
        /// The number of supersteps.
        count: usize,
    },

    /// An update names a node or a route that is not possible there.
    #[error("`{node}` cannot be used with `as_node(..)`: {reason}")]
    #[non_exhaustive]
    InvalidAsNode {
        /// The node.
        node: String,
        /// The reason.
        reason: String,
    },

    /// A resumption adds a node that the graph does not have, or that does not take the given packet.
    #[error("`{node}` cannot be run with `goto(..)`: {reason}")]
    #[non_exhaustive]
    InvalidGoto {
        /// The node.
        node: String,
        /// The reason.
        reason: String,
    },

    /// A checkpoint names a node that the graph does not have.
    #[error(
        "checkpoint {checkpoint} of thread `{thread}` needs node `{node}`, which is not in the graph: give the node that \
         replaced it this name with `alias(.., \"{node}\")`"
    )]
    #[non_exhaustive]
    NodeRemoved {
        /// The node.
        node: String,
        /// The thread.
        thread: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
    },

    /// A checkpoint holds data that another version of the program wrote and that this one cannot read or migrate: a
    /// state, a packet, or the route of a finished task.
    #[error("checkpoint {checkpoint} of thread `{thread}` cannot be read by this version of the program")]
    #[non_exhaustive]
    Migration {
        /// The thread.
        thread: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// The migration's error.
        #[source]
        source: MigrationError,
    },
}

impl From<OtherState> for ErrorKind {
    fn from(_: OtherState) -> Self {
        Self::Runtime("internal error: the state of the run is of another type; please report this")
    }
}

impl ErrorKind {
    /// Returns the kind for an error of the checkpointer. A conflict has its own kind.
    pub(crate) fn store(error: Arc<CheckpointError>) -> Self {
        match &*error {
            CheckpointError::Conflict(conflict) => Self::Conflict(conflict.clone()),
            _ => Self::Checkpoint(error),
        }
    }

    /// Returns the kind's name, for logs and metrics. It contains no value of the state.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Wiring(..) => "Wiring",
            Self::Input(..) => "Input",
            Self::Node { .. } => "Node",
            Self::WriteConflict { .. } => "WriteConflict",
            Self::Validation { .. } => "Validation",
            Self::Reducer { .. } => "Reducer",
            Self::RecursionLimit { .. } => "RecursionLimit",
            Self::JoinNotFilled { .. } => "JoinNotFilled",
            Self::SuperstepTimeout { .. } => "SuperstepTimeout",
            Self::NoParentGraph { .. } => "NoParentGraph",
            Self::Cancelled { .. } => "Cancelled",
            Self::ContextMismatch { .. } => "ContextMismatch",
            Self::InvalidAnswer { .. } => "InvalidAnswer",
            Self::NoOutput { .. } => "NoOutput",
            Self::InvalidPicture { .. } => "InvalidPicture",
            Self::UnknownNode { .. } => "UnknownNode",
            Self::NoCache { .. } => "NoCache",
            Self::Cache(..) => "Cache",
            Self::Panicked { .. } => "Panicked",
            Self::Runtime(..) => "Runtime",
            Self::Conflict(..) => "Conflict",
            Self::Checkpoint(..) => "Checkpoint",
            Self::NotStorable { .. } => "NotStorable",
            Self::PendingTasks { .. } => "PendingTasks",
            Self::NoThread { .. } => "NoThread",
            Self::NoSubgraphCall { .. } => "NoSubgraphCall",
            Self::MissingFields { .. } => "MissingFields",
            Self::NoCheckpoint { .. } => "NoCheckpoint",
            Self::NotHead { .. } => "NotHead",
            Self::RunAbandoned { .. } => "RunAbandoned",
            Self::IdempotencyKeyReused { .. } => "IdempotencyKeyReused",
            Self::NothingToRun { .. } => "NothingToRun",
            Self::InterruptNotOpen { .. } => "InterruptNotOpen",
            Self::AmbiguousNode { .. } => "AmbiguousNode",
            Self::NotPlannedAgain { .. } => "NotPlannedAgain",
            Self::EmptyUpdate { .. } => "EmptyUpdate",
            Self::InvalidAsNode { .. } => "InvalidAsNode",
            Self::InvalidGoto { .. } => "InvalidGoto",
            Self::NodeRemoved { .. } => "NodeRemoved",
            Self::Migration { .. } => "Migration",
        }
    }
}
