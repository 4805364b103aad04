use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::contain::panic_message;
use crate::engine::context::{Context, StopPoint};
use crate::engine::spans::AttemptEnd;
use crate::erased::TaskWrites;
use crate::error::{ErrorKind, NodeError, NodeFailure, Panic};
use crate::interrupt::OpenInterrupt;
use crate::reducers::Stamp;
use crate::state::EncodeError;
use crate::step::{ErasedStep, Leave, prepare};

use super::encoded::{Encoded, Keep, NotEncoded};

/// The result of one task, ready to be applied.
#[derive(Clone)]
pub(crate) struct Finished {
    /// The prepared writes: everything that is not deterministic has been fixed.
    pub(crate) writes: TaskWrites,
    pub(crate) leave: Leave,
    /// The writes as they will be stored, if they will be.
    pub(crate) encoded: Option<Box<Encoded>>,
}

impl Finished {
    /// Returns the writes, and drops the rest.
    // Most results have nothing else to drop: then no destructor is called, which would cost more than to find that out.
    #[inline]
    pub(crate) fn into_writes(self) -> TaskWrites {
        let Self { writes, leave, encoded } = self;
        if encoded.is_none() && leave.holds_nothing() {
            std::mem::forget((leave, encoded));
        }
        writes
    }
}

/// The reason why a task has no result.
pub(crate) enum Failed {
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
    pub(crate) fn caught(panic: Box<dyn Any + Send>) -> Self {
        Self::Panic(Panic(panic_message(panic)))
    }

    pub(crate) fn into_failure(self, node: &str, step: u64, attempt: u32) -> NodeFailure {
        match self {
            Self::Error(error) | Self::Fault(error) => {
                let error_type = Cow::Borrowed(error.type_name());
                NodeFailure::new(node, step, attempt, error.into_inner(), error_type)
            }
            Self::Noted(failure) => *failure,
            Self::Panic(panic) => NodeFailure {
                panicked: true,
                ..NodeFailure::new(node, step, attempt, Box::from(panic), None)
            },
        }
    }
}

/// An attempt without a result: it failed, waits for answers, or sleeps.
///
/// An attempt that could not read an answer has failed and waits: its interrupt is open again.
pub(crate) struct Unfinished {
    pub(crate) failed: Option<Failed>,
    pub(crate) open: Vec<OpenInterrupt>,
    /// The stop of a subgraph run inside the task.
    pub(crate) stop_point: Option<StopPoint>,
}

impl Unfinished {
    /// Returns the end of the attempt for its span.
    pub(crate) fn end(&self) -> AttemptEnd {
        match &self.failed {
            None => AttemptEnd::Suspended,
            Some(Failed::Error(error) | Failed::Fault(error)) => AttemptEnd::Failed(error.type_name()),
            Some(Failed::Noted(_)) => AttemptEnd::Failed("_OTHER"),
            Some(Failed::Panic(_)) => AttemptEnd::Panicked,
        }
    }

    /// Returns `true` if the task waits for something, even if its attempt has also failed.
    pub(crate) fn is_suspended(&self) -> bool {
        self.failed.is_none() || !self.open.is_empty()
    }
}

/// The open interrupts of suspended tasks, by task.
pub(crate) type Suspended = BTreeMap<usize, Vec<OpenInterrupt>>;

impl From<Failed> for Box<Unfinished> {
    fn from(failed: Failed) -> Self {
        Self::new(Unfinished { failed: Some(failed), open: Vec::new(), stop_point: None })
    }
}

/// Prepares the commands in a task's result, and encodes the parts that will be stored.
// Always inlined: a call would move the result through memory twice, at the cost of half a superstep.
#[inline(always)]
pub(crate) fn finish<'s>(
    result: Result<ErasedStep, NodeError>,
    stamp: impl FnOnce() -> Stamp<'s>,
    keep: Keep,
) -> Result<Finished, Failed> {
    let ErasedStep { writes, mut leave } = result.map_err(Failed::Error)?;
    if let Leave::ErasedParentCommand(command) = &mut leave {
        command.prepare(stamp()).map_err(Failed::Error)?;
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
pub(crate) fn finish_cached(mut step: ErasedStep, cx: &Context, keep: Keep) -> Result<Finished, Failed> {
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
        Leave::ErasedParentCommand(command) => {
            command.leave.as_ref().map_or(&[][..], |leave| leave.1.choices())
        }
        leave => leave.choices(),
    };
    let mut json = Vec::new();
    choices.iter().filter_map(|choice| choice.packet.as_ref()).try_for_each(|packet| {
        json.clear();
        packet.encode(&mut json)
    })
}

/// Returns the error for a failure before the first task.
pub(crate) fn start_failed(failed: Failed) -> ErrorKind {
    ErrorKind::Node { first: Box::new(failed.into_failure("START", 0, 1)), others: Vec::new() }
}
