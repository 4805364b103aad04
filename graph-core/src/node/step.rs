use crate::state::GraphState;

use super::{Exit, Leave, NodeError, OutwardType};

/// What a finished node has to say: its update, and where to go when it decides that itself.
pub struct Step<S: GraphState> {
    /// The partial update.
    pub update: S::Update,
    /// Where to go next.
    pub leave: Leave,
}

impl<S: GraphState> Step<S> {
    /// An update; the graph's edges say where to go.
    pub fn update(update: S::Update) -> Self {
        Self { update, leave: Leave::ByEdges }
    }

    #[doc(hidden)]
    pub fn __leave(leave: Leave) -> Self {
        Self { update: S::Update::default(), leave }
    }
}

/// What a node may return: an update, a route, `(update, route)`, nothing, or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "a node of this graph cannot return `{Self}`",
    label = "returns `{Self}`, which is neither an update of `{S}` nor a route",
    note = "a node returns `{S}Update`, a route (`#[derive(Route)]`), `(update, route)` in this order, `()` or a `Result` of these"
)]
pub trait IntoStep<S: GraphState> {
    /// Where the value itself can lead to; `None` when the graph's edges decide.
    fn exits() -> Option<Vec<Exit>>;

    /// What the value itself can say to the graph around a subgraph.
    #[doc(hidden)]
    fn outward() -> Vec<OutwardType> {
        Vec::new()
    }

    /// The update and the way on.
    ///
    /// # Errors
    /// The node failed.
    fn into_step(self) -> Result<Step<S>, NodeError>;
}

impl<S: GraphState> IntoStep<S> for () {
    fn exits() -> Option<Vec<Exit>> {
        None
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        Ok(Step::update(S::Update::default()))
    }
}

impl<S: GraphState, T: IntoStep<S>, E: super::Failure> IntoStep<S> for Result<T, E> {
    fn exits() -> Option<Vec<Exit>> {
        T::exits()
    }

    fn outward() -> Vec<OutwardType> {
        T::outward()
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        self.map_err(super::Failure::into_node_error)?.into_step()
    }
}

// Without this, rustc says of a pair in the wrong order, or of one that is none, that one half is no update and the other no
// route, each in an error of its own.
#[diagnostic::do_not_recommend]
impl<S: GraphState, U: crate::state::IntoUpdate<S>, R: super::IntoLeave> IntoStep<S> for (U, R) {
    fn exits() -> Option<Vec<Exit>> {
        Some(R::exits())
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        Ok(Step { update: self.0.into_update(), leave: self.1.into_leave()? })
    }
}

impl<S: GraphState, R: super::Route> IntoStep<S> for Vec<R> {
    fn exits() -> Option<Vec<Exit>> {
        Some(R::exits())
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        Ok(Step { update: S::Update::default(), leave: super::IntoLeave::into_leave(self)? })
    }
}
