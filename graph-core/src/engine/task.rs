use crate::error::{NodeFailure, Panic};
use crate::interrupt::OpenInterrupt;
use crate::node::{Leave, NodeError, Step};
use crate::reducers::Stamp;
use crate::state::{EncodeError, FieldWrite as _, GraphState, Update, Writes};

use super::encoded::{Encoded, Keep, NotEncoded};
use super::halt::Halt;

pub(crate) type WriteOf<S> = <<S as GraphState>::Update as Update<S>>::Write;

/// The result of one task, as it will be applied.
pub(crate) struct Finished<S: GraphState> {
    /// Prepared writes: whatever is not deterministic has been settled.
    pub(crate) writes: Writes<WriteOf<S>>,
    pub(super) leave: Leave,
    /// The writes as they will be stored, where they will be.
    pub(super) encoded: Option<Box<Encoded>>,
}

impl<S: GraphState> Clone for Finished<S> {
    fn clone(&self) -> Self {
        Self { writes: self.writes.clone(), leave: self.leave.clone(), encoded: self.encoded.clone() }
    }
}

/// Why a task has no result.
pub(super) enum Failed {
    Error(NodeError),
    Panic(Panic),
    /// What is wrong is how the node uses what it is given, or the store: another attempt would not mend it.
    Fault(NodeError),
    /// It has been made into a failure.
    Noted(Box<NodeFailure>),
}

impl Failed {
    pub(super) fn into_failure(self, node: &str, step: u64, attempt: u32) -> NodeFailure {
        let (error, panicked) = match self {
            Self::Error(error) | Self::Fault(error) => (error.into_inner(), false),
            Self::Noted(failure) => return *failure,
            Self::Panic(panic) => (Box::from(panic), true),
        };
        NodeFailure::new(node, step, attempt, error, panicked)
    }
}

/// Why an attempt has no result: it failed, or it waits for answers or sleeps. One that could not read an answer does both: its
/// question is open again.
pub(super) struct Unfinished {
    pub(super) failed: Option<Failed>,
    pub(super) open: Vec<OpenInterrupt>,
    /// Where a run within the task has stopped.
    pub(super) halt: Option<Halt>,
}

impl Unfinished {
    /// Whether it waits for something, also where it has failed.
    pub(super) fn is_suspended(&self) -> bool {
        self.failed.is_none() || !self.open.is_empty()
    }
}

impl From<Failed> for Box<Unfinished> {
    fn from(failed: Failed) -> Self {
        Self::new(Unfinished { failed: Some(failed), open: Vec::new(), halt: None })
    }
}

/// A reducer's first phase that refused an update.
#[derive(Debug, thiserror::Error)]
#[error("the update of field `{field}` cannot be used")]
struct NotPrepared {
    field: &'static str,
    source: crate::reducers::ReduceError,
}

/// Takes what a node returned, runs the reducers' first phase, and encodes what will be stored.
// Always: a call would move the result through memory twice, which costs as much as half a superstep.
#[inline(always)]
pub(super) fn finish<S: GraphState>(
    result: Result<Step<S>, NodeError>,
    stamp: Stamp<'_>,
    keep: Keep,
) -> Result<Finished<S>, Failed> {
    let mut step = result.map_err(Failed::Error)?;
    if let Leave::Outward(outward) = &mut step.leave {
        outward.prepare(stamp).map_err(Failed::Error)?;
    }
    let writes = prepare::<S>(step.update, stamp).map_err(Failed::Error)?;
    let encoded = match keep {
        Keep::Nothing => None,
        keep => encode::<S>(&writes, &step.leave, keep)?,
    };
    Ok(Finished { writes, leave: step.leave, encoded })
}

/// Encodes what a task has come to. Out of line: a run in memory shall not carry it in every superstep.
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

/// Whether the packets of a route can be stored, which they will be with what is planned.
fn can_be_sent(leave: &Leave) -> Result<(), EncodeError> {
    let choices = match leave {
        Leave::ByEdges => return Ok(()),
        Leave::Outward(outward) => match &outward.leave {
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
