use std::any::Any;

use crate::contain::panic_message;
use crate::error::{NodeFailure, Panic};
use crate::interrupt::OpenInterrupt;
use crate::node::{Leave, NodeError, Step};
use crate::reducers::Stamp;
use crate::state::{EncodeError, FieldWrite as _, GraphState, Update, Writes};

use super::encoded::{Encoded, Keep, NotEncoded};
use super::halt::Halt;

pub(crate) type WriteOf<S> = <<S as GraphState>::Update as Update<S>>::Write;

/// The result of one task, ready to be applied.
pub(crate) struct Finished<S: GraphState> {
    /// The prepared writes: everything that is not deterministic has been fixed.
    pub(crate) writes: Writes<WriteOf<S>>,
    pub(super) leave: Leave,
    /// The writes as they will be stored, if they will be.
    pub(super) encoded: Option<Box<Encoded>>,
}

impl<S: GraphState> Clone for Finished<S> {
    fn clone(&self) -> Self {
        Self { writes: self.writes.clone(), leave: self.leave.clone(), encoded: self.encoded.clone() }
    }
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
    source: crate::reducers::ReduceError,
}

/// Runs the reducers' first phase on a node's result, and encodes the parts that will be stored.
// Always inlined: a call would move the result through memory twice, at the cost of half a superstep.
#[inline(always)]
pub(super) fn finish<S: GraphState>(
    result: Result<Step<S>, NodeError>,
    stamp: Stamp<'_>,
    keep: Keep,
) -> Result<Finished<S>, Failed> {
    let mut step = result.map_err(Failed::Error)?;
    if let Leave::ErasedParentCommand(outward) = &mut step.leave {
        outward.prepare(stamp).map_err(Failed::Error)?;
    }
    let writes = prepare::<S>(step.update, stamp).map_err(Failed::Error)?;
    let encoded = match keep {
        Keep::Nothing => None,
        keep => encode::<S>(&writes, &step.leave, keep)?,
    };
    Ok(Finished { writes, leave: step.leave, encoded })
}

/// Encodes the result of a task. Out of line, so that a run in memory does not pay for it in every superstep.
#[inline(never)]
fn encode<S: GraphState>(
    writes: &Writes<WriteOf<S>>,
    leave: &Leave,
    keep: Keep,
) -> Result<Option<Box<Encoded>>, Failed> {
    let refused = |error: NotEncoded| Failed::Error(error.into());
    can_be_sent(leave).map_err(|error| refused(error.into()))?;
    let encoded = Encoded::of::<S>(writes, keep).map_err(refused)?;
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
pub(crate) fn prepare<S: GraphState>(
    update: S::Update,
    mut stamp: Stamp<'_>,
) -> Result<Writes<WriteOf<S>>, NodeError> {
    update.__into_writes().try_map(|write| {
        let field = write.field();
        let prepared = write.prepare(&stamp);
        stamp.write += 1;
        prepared.map_err(|source| {
            let source = source.on_field::<S>(field);
            let field = S::field(field).map_or("?", |field| field.name);
            NotPrepared { field, source }.into()
        })
    })
}
