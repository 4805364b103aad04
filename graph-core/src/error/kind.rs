// Long by its list: every kind stands here with its text, so that the texts can be read side by side.

use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::{CheckpointError, CheckpointId, Conflict};
use crate::state::{EncodeError, InputError, MigrationError, validate::Violation};

use super::{NodeFailure, WiringProblem};

/// What went wrong, to match on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The graph cannot be built: every mistake in its wiring.
    #[error("cannot be built{}", WiringProblem::list(.0))]
    Wiring(Vec<WiringProblem>),

    /// A JSON input is not one: every missing, unknown and ill-typed field.
    #[error("cannot start")]
    Input(#[source] InputError),

    /// A node failed.
    #[error("{}", node_failed(.first, .others))]
    Node {
        /// The failure; of several the first in the order of the superstep.
        first: NodeFailure,
        /// The other nodes that failed in the same superstep.
        others: Vec<NodeFailure>,
    },

    /// Several tasks of one superstep wrote a field that has no reducer, or overwrote the same field.
    #[error(
        "{} wrote field `{field}` in superstep {step}{}: give it a reducer, or let one node write it",
        names(.nodes),
        if *.overwrite { ", each with `Overwrite`" } else { "" }
    )]
    WriteConflict {
        /// The field.
        field: &'static str,
        /// Everybody who wrote it, in application order.
        nodes: Vec<String>,
        /// The superstep.
        step: u64,
        /// Whether the writes were overwrites, which a reducer would not help.
        overwrite: bool,
    },

    /// A value breaks a rule of the state. Nothing of the superstep was applied.
    #[error("the writes of {} in superstep {step} break the rules of the state{}", names(.nodes), list(.violations))]
    Validation {
        /// Who wrote the fields concerned; `START` for the run's input.
        nodes: Vec<String>,
        /// The superstep; 0 for the run's input.
        step: u64,
        /// Every broken rule.
        violations: Vec<Violation>,
    },

    /// A reducer refused a write. Nothing of the superstep was applied.
    #[error("the reducer of field `{field}` refused the write of node `{node}` in superstep {step}")]
    Reducer {
        /// The field.
        field: &'static str,
        /// Who wrote it; `START` for the run's input.
        node: String,
        /// The superstep; 0 for the run's input.
        step: u64,
        /// What it says.
        #[source]
        source: crate::reducers::ReduceError,
    },

    /// The run was not complete after as many supersteps as it may have.
    #[error("is not complete after {limit} supersteps, next would be {}: raise the run's recursion limit if that is meant", names(.next))]
    RecursionLimit {
        /// The limit.
        limit: u64,
        /// The nodes that are planned.
        next: Vec<String>,
    },

    /// Nothing is left to run, but a join still waits for some of its sources.
    ///
    /// A thread stays so, as its snapshot's [`joins`](crate::thread::Snapshot::joins) say, until somebody says what shall
    /// become of it: `update(.., as_node(source))` stands for a source that is missing, `resume(()).goto(as_node(source))`
    /// runs it, `update(.., as_node(END))` finishes the thread, and a run with new input begins with empty joins.
    #[error("came to rest while the join into `{target}` still waits for {}: declare it optional if that is meant", names(.missing))]
    JoinNotFilled {
        /// The join's target.
        target: String,
        /// The sources that have not finished.
        missing: Vec<String>,
    },

    /// A superstep took longer than it may.
    #[error("superstep {step} did not end within {limit:?}, {} had not finished", names(.unfinished))]
    SuperstepTimeout {
        /// The superstep.
        step: u64,
        /// The run's limit.
        limit: Duration,
        /// The nodes that had not finished.
        unfinished: Vec<String>,
    },

    /// The run was [cancelled](crate::run::Stop::cancel). What had finished is kept, as after a superstep that was late; on a
    /// thread it is durable, and a resumption runs the rest.
    #[error("{}", cancelled(.step.as_ref(), .unfinished))]
    Cancelled {
        /// The superstep; nothing if the run had not begun, so that nothing of it is stored.
        step: Option<u64>,
        /// The nodes that had not finished.
        unfinished: Vec<String>,
    },

    /// A field marked `from_context` is built from another context than the graph's.
    #[error("field `{field}` cannot be built from the graph's context, which is a `{context}`")]
    ContextMismatch {
        /// The field.
        field: &'static str,
        /// The type of the graph's context.
        context: &'static str,
    },

    /// An answer that a run cannot be resumed with.
    #[error("the answer to question `{id}` cannot be taken: {reason}")]
    InvalidAnswer {
        /// The id that it names.
        id: String,
        /// Why not.
        reason: String,
    },

    /// The output of a machine that has none yet.
    #[error("has not ended{}", waits_for(.waits))]
    MachineNotEnded {
        /// What it waits for; nothing where it was finished from outside.
        waits: Vec<String>,
    },

    /// A picture was asked for that shows what the graph does not have.
    #[error("cannot be drawn like this: {}", problems.join("; "))]
    Picture {
        /// Everything that is wrong with it.
        problems: Vec<String>,
    },

    /// A node returned something for the graph around its own, and there is none.
    #[error(
        "in superstep {step} a node has returned `ParentCommand`, and no graph is around this one: it runs as a subgraph only"
    )]
    NoParentGraph {
        /// The superstep.
        step: u64,
    },
    /// A run was told to stop at a node that the graph does not have, or its results were to be taken out of the cache.
    #[error("has no node `{node}` {what}")]
    UnknownNode {
        /// The node.
        node: String,
        /// What was asked of it: "to stop at".
        what: &'static str,
    },

    /// The graph has nodes whose results are cached, and was given no cache.
    #[error("has no cache for the results of {}: give it one with `graph.with_cache(..)`", names(.nodes))]
    NoCache {
        /// The nodes that have a cache policy.
        nodes: Vec<String>,
    },

    /// The graph's cache failed when it was told to clear something. (A run does not fail with its cache.)
    #[error("cannot clear its cache")]
    CacheFailed(#[source] Arc<crate::cache::CacheError>),

    /// The runtime lacks something that the run asks for.
    #[error("{0}")]
    Runtime(&'static str),

    /// Another run, or an update, has written to the thread meanwhile; this one has stopped. What is stored is whole.
    #[error("{0}")]
    Conflict(Box<Conflict>),

    /// The store of the threads failed, or what it holds cannot be read.
    #[error("cannot use the store of its threads")]
    Checkpoint(#[source] Arc<CheckpointError>),

    /// A value that a node has made cannot be stored. Nothing of the superstep was applied.
    #[error("what {} wrote in superstep {step} cannot be stored", names(.nodes))]
    NotStorable {
        /// Who wrote it; `START` for the run's input.
        nodes: Vec<String>,
        /// The superstep.
        step: u64,
        /// Which field, and why not.
        #[source]
        source: EncodeError,
    },

    /// A thread got new input while something is left to run on it.
    #[error("{}", pending(.thread, .at.as_ref(), .next))]
    PendingTasks {
        /// The thread.
        thread: String,
        /// The checkpoint that the input was to follow, where it was named.
        at: Option<CheckpointId>,
        /// The nodes that are planned.
        next: Vec<String>,
    },

    /// The thread has no checkpoint to go on from.
    #[error("thread `{thread}` has no checkpoint yet: give it an input with `run(..)`")]
    NoThread {
        /// The thread.
        thread: String,
    },

    /// An update was written to a call of a subgraph, and none is under way.
    #[error("{}", no_call(.thread, .namespace, *.ended))]
    NoSubgraphCall {
        /// The thread.
        thread: String,
        /// The nodes on the way to the call, with its key or its task's place.
        namespace: String,
        /// The last call has come to its end; if not, there has been none.
        ended: bool,
    },

    /// The first update of a thread does not give every required field, so that no state can begin with it.
    #[error(
        "thread `{thread}` has no state yet, and the update does not give {}, which a state needs to begin with: write all \
         required fields, or begin with an input, `run(..)`",
        names(.fields)
    )]
    MissingFields {
        /// The thread.
        thread: String,
        /// The required fields that it does not give.
        fields: Vec<String>,
    },

    /// The thread has no such checkpoint.
    #[error("thread `{thread}` has no checkpoint {checkpoint}: it may have been pruned")]
    NoCheckpoint {
        /// The thread.
        thread: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
    },

    /// A resumption of a checkpoint that others have followed.
    #[error(
        "checkpoint {checkpoint} of thread `{thread}` is not its head any more: `run_again()` makes a branch of it"
    )]
    NotHead {
        /// The thread.
        thread: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
    },

    /// A run was to be started again by its id, and something else has been begun on its thread before it was complete.
    #[error(
        "run `{run}` of thread `{thread}` was given up for another one at checkpoint {checkpoint}: `run_again()` there \
         makes a branch of it"
    )]
    RunAbandoned {
        /// The thread.
        thread: String,
        /// The run's id.
        run: String,
        /// Where it has come to.
        checkpoint: CheckpointId,
    },

    /// An update came with a run that has nothing to run: it would be stored nowhere.
    #[error(
        "nothing is left to run on thread `{thread}`, so that no run can take an update with it: write it with \
         `update(.., as_node(..))`, or say with `goto(..)` what a resumption shall run"
    )]
    NothingToRun {
        /// The thread.
        thread: String,
    },

    /// An answer to a question that is not open: it has been answered, asked again, or never asked; or to one that asks
    /// something else by now.
    #[error("{}", not_open(.thread, .id, *.changed))]
    InterruptNotOpen {
        /// The thread.
        thread: String,
        /// The question's id.
        id: String,
        /// The question is open, and is another than the one that was answered.
        changed: bool,
    },

    /// It is not clear in whose place an update is made.
    #[error(
        "an update of thread `{thread}` can be made in the place of {}: say whose with `as_node(..)`",
        names(.candidates)
    )]
    AmbiguousNode {
        /// The thread.
        thread: String,
        /// Who came into question.
        candidates: Vec<String>,
    },

    /// An update is made in the place of a node in a way that the node does not have.
    #[error("an update cannot be made in the place of `{node}`: {reason}")]
    InvalidAsNode {
        /// The node.
        node: String,
        /// Why not.
        reason: String,
    },

    /// A checkpoint names a node that the graph does not have.
    #[error(
        "checkpoint {checkpoint} of thread `{thread}` is at node `{node}`, which the graph does not have: give the node \
         that took its place an alias"
    )]
    NodeRemoved {
        /// The node.
        node: String,
        /// The thread.
        thread: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
    },

    /// A checkpoint of another version of the state cannot be brought to this program's.
    #[error("checkpoint {checkpoint} of thread `{thread}` cannot be read by this version of the program")]
    Migration {
        /// The thread.
        thread: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// Why not.
        #[source]
        source: MigrationError,
    },
}

impl ErrorKind {
    /// The failure of a store: a conflict is a kind of its own.
    pub(crate) fn store(error: Arc<CheckpointError>) -> Self {
        match &*error {
            CheckpointError::Conflict(conflict) => Self::Conflict(conflict.clone()),
            _ => Self::Checkpoint(error),
        }
    }

    /// The kind's name, for logs and metrics: it says nothing of the values that the error is about.
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
            Self::MachineNotEnded { .. } => "MachineNotEnded",
            Self::Picture { .. } => "Picture",
            Self::UnknownNode { .. } => "UnknownNode",
            Self::NoCache { .. } => "NoCache",
            Self::CacheFailed(..) => "CacheFailed",
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
            Self::NothingToRun { .. } => "NothingToRun",
            Self::InterruptNotOpen { .. } => "InterruptNotOpen",
            Self::AmbiguousNode { .. } => "AmbiguousNode",
            Self::InvalidAsNode { .. } => "InvalidAsNode",
            Self::NodeRemoved { .. } => "NodeRemoved",
            Self::Migration { .. } => "Migration",
        }
    }
}

/// ": it waits for an answer to `a` and an answer to `b`"
fn waits_for(waits: &[String]) -> String {
    if waits.is_empty() { String::new() } else { format!(": it waits for {}", waits.join(" and ")) }
}

/// "`a`", "`a` and `b`", "`a`, `b` and `c`", "`a`, `b`, `c` and 97 more".
fn names(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let quoted: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match (quoted.split_last(), names.len().saturating_sub(SHOWN)) {
        (None, _) => "nobody".to_owned(),
        (Some(_), more @ 1..) => format!("{} and {more} more", quoted.join(", ")),
        (Some((last, [])), 0) => last.clone(),
        (Some((last, rest)), 0) => format!("{} and {last}", rest.join(", ")),
    }
}

fn cancelled(step: Option<&u64>, unfinished: &[String]) -> String {
    match step {
        Some(step) => format!("was cancelled in superstep {step}, {} had not finished", names(unfinished)),
        None => "was told to stop before it had begun: nothing of it is stored".to_owned(),
    }
}

fn node_failed(first: &NodeFailure, others: &[NodeFailure]) -> String {
    if others.is_empty() {
        return first.to_string();
    }
    let others: Vec<String> = others.iter().map(|failure| failure.node.clone()).collect();
    format!("{first}; so did {}", names(&others))
}

fn pending(thread: &str, at: Option<&CheckpointId>, next: &[String]) -> String {
    let next = names(next);
    match at {
        None => format!(
            "thread `{thread}` is at {next} still: resume it, or give up what is planned with `abandon_pending()`"
        ),
        Some(at) => format!(
            "checkpoint {at} of thread `{thread}` has planned {next}: `run_again()` runs that on a new branch, and with \
             `abandon_pending()` the input takes its place there"
        ),
    }
}

fn not_open(thread: &str, id: &str, changed: bool) -> String {
    if changed {
        format!(
            "question `{id}` of thread `{thread}` has changed since it was shown, and the answer to what it was is not \
             taken: see `pending()` for what it asks now"
        )
    } else {
        format!("thread `{thread}` has no open question `{id}`: see `pending()` for those that it has")
    }
}

fn no_call(thread: &str, namespace: &str, ended: bool) -> String {
    if ended {
        format!(
            "no call `{namespace}` is under way on thread `{thread}`, the last one has come to its end: what it has left can \
             only be written to where the subgraph keeps its state, once the superstep is over that has called it"
        )
    } else {
        format!(
            "no call `{namespace}` is under way on thread `{thread}`, there has been none: of several `.task(..)` or \
             `.key(..)` says which is meant"
        )
    }
}

fn list(violations: &[Violation]) -> String {
    violations.iter().map(|violation| format!("\n  {violation}")).collect()
}
