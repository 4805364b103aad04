use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::{CheckpointId, Conflict, StoreError};
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

    /// A field marked `from_context` is built from another context than the graph's.
    #[error("field `{field}` cannot be built from the graph's context, which is a `{context}`")]
    Context {
        /// The field.
        field: &'static str,
        /// The type of the graph's context.
        context: &'static str,
    },

    /// An answer that a run cannot be resumed with.
    #[error("the answer to question `{id}` cannot be taken: {reason}")]
    Answer {
        /// The id that it names.
        id: String,
        /// Why not.
        reason: String,
    },

    /// A run was told to stop at a node that the graph does not have.
    #[error("has no node `{node}` to stop at")]
    UnknownNode {
        /// The node.
        node: String,
    },

    /// The runtime lacks something that the run asks for.
    #[error("{0}")]
    Runtime(&'static str),

    /// Another run, or an update, has written to the thread meanwhile; this one has stopped. What is stored is whole.
    #[error("{0}")]
    Conflict(Box<Conflict>),

    /// The store of the threads failed, or what it holds cannot be read.
    #[error("cannot use the store of its threads")]
    Store(#[source] Arc<StoreError>),

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
    #[error(
        "thread `{thread}` is at {} still: resume it, or give up what is planned with `abandon_pending()`",
        names(.next)
    )]
    Pending {
        /// The thread.
        thread: String,
        /// The nodes that are planned.
        next: Vec<String>,
    },

    /// The thread has no checkpoint to go on from.
    #[error("thread `{thread}` has no checkpoint yet: give it an input with `run(..)`")]
    NoThread {
        /// The thread.
        thread: String,
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

    /// An answer to a question that is not open: it has been answered, asked again, or never asked.
    #[error("thread `{thread}` has no open question `{id}`: see `pending()` for those that it has")]
    NotOpen {
        /// The thread.
        thread: String,
        /// The question's id.
        id: String,
    },

    /// It is not clear in whose place an update is made.
    #[error(
        "an update of thread `{thread}` can be made in the place of {}: say whose with `as_node(..)`",
        names(.candidates)
    )]
    AsWhom {
        /// The thread.
        thread: String,
        /// Who came into question.
        candidates: Vec<String>,
    },

    /// An update is made in the place of a node in a way that the node does not have.
    #[error("an update cannot be made in the place of `{node}`: {reason}")]
    NotAsNode {
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
    NodeGone {
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
    pub(crate) fn store(error: Arc<StoreError>) -> Self {
        match &*error {
            StoreError::Conflict(conflict) => Self::Conflict(conflict.clone()),
            _ => Self::Store(error),
        }
    }
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

fn node_failed(first: &NodeFailure, others: &[NodeFailure]) -> String {
    if others.is_empty() {
        return first.to_string();
    }
    let others: Vec<String> = others.iter().map(|failure| failure.node.clone()).collect();
    format!("{first}; so did {}", names(&others))
}

fn list(violations: &[Violation]) -> String {
    violations.iter().map(|violation| format!("\n  {violation}")).collect()
}
