use std::any::Any;

use crate::contain::panic_message;
use crate::engine::erased::{StateType, TaskWrites};
use crate::error::{ErrorKind, NodeFailure, Panic};
use crate::interrupt::OpenInterrupt;
use crate::node::{ErasedStep, Leave, NodeError};
use crate::reducers::{ReduceError, Stamp};
use crate::state::EncodeError;

use super::Context;
use super::encoded::{Encoded, Keep, NotEncoded};
use super::halt::Halt;

/// The result of one task, ready to be applied.
#[derive(Clone)]
pub(crate) struct Finished {
    /// The prepared writes: everything that is not deterministic has been fixed.
    pub(crate) writes: TaskWrites,
    pub(super) leave: Leave,
    /// The writes as they will be stored, if they will be.
    pub(super) encoded: Option<Box<Encoded>>,
}

/// The reason why a task has no result.
pub(super) enum Failed {
    Error(NodeError),
    Panic(Panic),
    /// The node misused its context, or the store failed. Another attempt would fail as well, so none is made.
    Fault(NodeError),
    /// The failure is complete already.
    Noted(Box<NodeFailure>),
}

impl Failed {
    /// The failure of a task that panicked.
    #[cold]
    pub(super) fn caught(panic: Box<dyn Any + Send>) -> Self {
        Self::Panic(Panic(panic_message(panic)))
    }

    pub(super) fn into_failure(self, node: &str, step: u64, attempt: u32) -> NodeFailure {
        let (error, panicked) = match self {
            Self::Error(error) | Self::Fault(error) => (error.into_inner(), false),
            Self::Noted(failure) => return *failure,
            Self::Panic(panic) => (Box::from(panic), true),
        };
        NodeFailure::new(node, step, attempt, error, panicked)
    }
}

/// An attempt without a result: it failed, waits for answers, or sleeps.
///
/// An attempt that could not read an answer has failed and waits: its interrupt is open again.
pub(super) struct Unfinished {
    pub(super) failed: Option<Failed>,
    pub(super) open: Vec<OpenInterrupt>,
    /// The stop of a subgraph run inside the task.
    pub(super) halt: Option<Halt>,
}

impl Unfinished {
    /// Returns `true` if the task waits for something, even if its attempt has also failed.
    pub(super) fn is_suspended(&self) -> bool {
        self.failed.is_none() || !self.open.is_empty()
    }
}

impl From<Failed> for Box<Unfinished> {
    fn from(failed: Failed) -> Self {
        Self::new(Unfinished { failed: Some(failed), open: Vec::new(), halt: None })
    }
}

/// The first phase of a reducer refused an update.
#[derive(Debug, thiserror::Error)]
#[error("the reducer of field `{field}` refused the update")]
struct NotPrepared {
    field: &'static str,
    source: ReduceError,
}

/// Prepares the commands in a task's result, and encodes the parts that will be stored.
// Always inlined: a call would move the result through memory twice, at the cost of half a superstep.
#[inline(always)]
pub(super) fn finish<'s>(
    result: Result<ErasedStep, NodeError>,
    stamp: impl FnOnce() -> Stamp<'s>,
    keep: Keep,
) -> Result<Finished, Failed> {
    let ErasedStep { writes, mut leave } = result.map_err(Failed::Error)?;
    if let Leave::ErasedParentCommand(outward) = &mut leave {
        outward.prepare(stamp()).map_err(Failed::Error)?;
    }
    let encoded = match keep {
        Keep::Nothing => None,
        keep => encode(&writes, &leave, keep)?,
    };
    Ok(Finished { writes, leave, encoded })
}

/// The same for a result as it is in the cache, before the first phase of the reducers.
#[cold]
#[inline(never)]
pub(super) fn finish_cached(mut step: ErasedStep, cx: &Context, keep: Keep) -> Result<Finished, Failed> {
    prepare(&mut step.writes, cx.stamp()).map_err(Failed::Error)?;
    finish(Ok(step), || cx.stamp(), keep)
}

/// Encodes the result of a task. Out of line, so that a run in memory does not pay for it in every superstep.
#[inline(never)]
fn encode(writes: &TaskWrites, leave: &Leave, keep: Keep) -> Result<Option<Box<Encoded>>, Failed> {
    let refused = |error: NotEncoded| Failed::Error(error.into());
    can_be_sent(leave).map_err(|error| refused(error.into()))?;
    let encoded = Encoded::of(writes, keep).map_err(refused)?;
    Ok(encoded.map(Box::new))
}

/// Checks that the packets of a route can be stored. They are stored with the plan.
fn can_be_sent(leave: &Leave) -> Result<(), EncodeError> {
    let choices = match leave {
        Leave::ByEdges => return Ok(()),
        Leave::ErasedParentCommand(outward) => match &outward.leave {
            None => return Ok(()),
            Some(leave) => return can_be_sent(&leave.1),
        },
        Leave::By(choice) => std::slice::from_ref(choice),
        Leave::ByAll(choices) => choices.as_slice(),
    };
    let mut json = Vec::new();
    choices.iter().filter_map(|choice| choice.packet.as_ref()).try_for_each(|packet| {
        json.clear();
        packet.encode(&mut json)
    })
}

/// Runs the reducers' first phase on an update.
pub(crate) fn prepare(writes: &mut TaskWrites, stamp: Stamp<'_>) -> Result<(), NodeError> {
    let Some(writes) = writes.as_erased_mut() else { return Ok(()) };
    let state = writes.state_type();
    writes.prepare(stamp).map_err(|refused| not_prepared(state, refused))
}

/// Returns the error of an update that a reducer refused in its first phase.
#[cold]
pub(crate) fn not_prepared(state: &StateType, (field, source): (usize, ReduceError)) -> NodeError {
    NotPrepared { field: state.field_name(field), source: source.on_field(state.field(field)) }.into()
}

/// Returns the error for a failure before the first task.
pub(super) fn start_failed(failed: Failed) -> ErrorKind {
    ErrorKind::Node { first: failed.into_failure("START", 0, 1), others: Vec::new() }
}
