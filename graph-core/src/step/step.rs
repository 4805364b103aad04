use crate::erased::{StateTypeOf as _, TaskWrites, WritesOf};
use crate::error::{Failure, NodeError};
use crate::reducers::Stamp;
use crate::state::{GraphState, IntoUpdate, WrittenFields};

use super::leave::{Exit, Leave, ParentCommandType};
use super::prepare::not_prepared;
use super::route::{IntoLeave, Route};

/// The result of a finished node: its update, and the way to the next nodes.
pub struct Step<S: GraphState> {
    /// The partial update.
    pub update: S::Update,
    /// The way to the next nodes.
    pub leave: Leave,
}

/// A [`Step`], whatever the type of its state.
#[derive(Default)]
pub struct ErasedStep {
    pub(crate) writes: TaskWrites,
    pub(crate) leave: Leave,
}

impl ErasedStep {
    /// Erases the type of a task's step, after the first phase of the reducers with `stamp`. Without one, that phase
    /// follows later. `spare` is the memory of an earlier step's writes.
    ///
    /// # Errors
    /// A reducer refused the update.
    // Always inlined: a call would move the update and the step through memory, as `finish` says.
    #[inline(always)]
    pub(crate) fn of<S: GraphState>(
        step: Step<S>,
        spare: TaskWrites,
        stamp: Option<Stamp<'_>>,
    ) -> Result<Self, NodeError> {
        let writes = WritesOf::<S>::erase_into(step.update, spare, stamp)
            .map_err(|refused| not_prepared(S::TYPE, refused))?;
        Ok(Self { writes, leave: step.leave })
    }

    /// Returns the step of a node's output.
    #[inline]
    pub(crate) fn of_output<S: GraphState, Out: IntoStep<S>>(
        output: Out,
        spare: TaskWrites,
        stamp: Option<Stamp<'_>>,
    ) -> Result<Self, NodeError> {
        match output.into_step() {
            Ok(step) => Self::of(step, spare, stamp),
            Err(error) => Err(error),
        }
    }
}

impl<S: GraphState> Step<S> {
    /// Creates a step with an update that continues along the graph's edges.
    pub fn update(update: S::Update) -> Self {
        Self { update, leave: Leave::ByEdges }
    }

    #[doc(hidden)]
    pub fn __leave(leave: Leave) -> Self {
        Self { update: S::Update::default(), leave }
    }
}

/// A value that a node may return: an update, a route, `(update, route)`, `()`, or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "a node of this graph cannot return `{Self}`",
    label = "returns `{Self}`, which is neither an update of `{S}` nor a route",
    note = "a node returns `{S}Update`, a route (`#[derive(Route)]`), `(update, route)` in this order, `()` or a `Result` of these"
)]
pub trait IntoStep<S: GraphState> {
    /// The fields that the value can write.
    #[doc(hidden)]
    const WRITES: WrittenFields = WrittenFields::UNKNOWN;

    /// Returns the exits of the value; `None` if the graph's edges decide.
    fn exits() -> Option<Vec<Exit>>;

    /// Returns the types of parent commands in the value.
    #[doc(hidden)]
    fn parent_commands() -> Vec<ParentCommandType> {
        Vec::new()
    }

    /// Converts the value into its update and its exits.
    ///
    /// # Errors
    /// The node failed.
    fn into_step(self) -> Result<Step<S>, NodeError>;
}

impl<S: GraphState> IntoStep<S> for () {
    const WRITES: WrittenFields = WrittenFields::NONE;

    fn exits() -> Option<Vec<Exit>> {
        None
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        Ok(Step::update(S::Update::default()))
    }
}

impl<S: GraphState, T: IntoStep<S>, E: Failure> IntoStep<S> for Result<T, E> {
    const WRITES: WrittenFields = T::WRITES;

    fn exits() -> Option<Vec<Exit>> {
        T::exits()
    }

    fn parent_commands() -> Vec<ParentCommandType> {
        T::parent_commands()
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        self.map_err(Failure::into_node_error)?.into_step()
    }
}

// Without this attribute, rustc reports two errors for a pair in the wrong order: one half is not an update, and the other
// is not a route.
#[diagnostic::do_not_recommend]
impl<S: GraphState, U: IntoUpdate<S>, R: IntoLeave> IntoStep<S> for (U, R) {
    const WRITES: WrittenFields = U::WRITES;

    fn exits() -> Option<Vec<Exit>> {
        Some(R::exits())
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        Ok(Step { update: self.0.into_update(), leave: self.1.into_leave()? })
    }
}

impl<S: GraphState, R: Route> IntoStep<S> for Vec<R> {
    const WRITES: WrittenFields = WrittenFields::NONE;

    fn exits() -> Option<Vec<Exit>> {
        Some(R::exits())
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        Ok(Step { update: S::Update::default(), leave: IntoLeave::into_leave(self)? })
    }
}
