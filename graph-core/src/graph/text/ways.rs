use crate::error::Failure;
use crate::state::WrittenFields;
use crate::step::{IntoLeave, ParentCommand, ParentRoute, Route, Targets};

/// The ways out of a node, as its result tells.
#[derive(Clone, Copy, Debug)]
pub enum WaysOut {
    /// The edges of the graph decide.
    ByEdges,
    /// A route decides. Its targets are unknown if no derive has implemented it.
    ByRoute(Option<Targets>),
}

/// A result of a node whose ways out are constants.
///
/// [`IntoStep`](crate::step::IntoStep) depends on the state, and this trait does not: so a node that does not fit the
/// state is reported once, by the builder.
pub trait KnownWays {
    /// The ways out.
    const WAYS: WaysOut;

    /// The fields that it can write.
    const WRITES: WrittenFields = WrittenFields::UNKNOWN;
}

#[diagnostic::do_not_recommend]
impl KnownWays for () {
    const WAYS: WaysOut = WaysOut::ByEdges;
    const WRITES: WrittenFields = WrittenFields::NONE;
}

/// A result of a node, or a `Result` of one.
// `Result` has a trait of its own, so that a function without `async` is told from one that returns a future: see
// `BlockingResult`.
#[diagnostic::on_unimplemented(
    message = "a node of this graph cannot return `{Self}`",
    label = "returns `{Self}`, which is neither an update nor a route",
    note = "a node returns an update, a route (`#[derive(Route)]`), `(update, route)` in this order, `()` or a `Result` of these"
)]
pub trait KnownResult {
    /// The ways out.
    const WAYS: WaysOut;

    /// The fields that it can write.
    const WRITES: WrittenFields;
}

#[diagnostic::do_not_recommend]
impl<T: KnownWays> KnownResult for T {
    const WAYS: WaysOut = T::WAYS;
    const WRITES: WrittenFields = T::WRITES;
}

#[diagnostic::do_not_recommend]
impl<T: KnownResult, E: Failure> KnownResult for Result<T, E> {
    const WAYS: WaysOut = T::WAYS;
    const WRITES: WrittenFields = T::WRITES;
}

#[diagnostic::do_not_recommend]
impl<U: KnownWays, R: IntoLeave> KnownWays for (U, R) {
    const WAYS: WaysOut = WaysOut::ByRoute(R::TARGETS);
    const WRITES: WrittenFields = U::WRITES;
}

#[diagnostic::do_not_recommend]
impl<R: Route> KnownWays for Vec<R> {
    const WAYS: WaysOut = WaysOut::ByRoute(R::TARGETS);
    const WRITES: WrittenFields = WrittenFields::NONE;
}

#[diagnostic::do_not_recommend]
impl<P: crate::GraphState, R: ParentRoute> KnownWays for ParentCommand<P, R> {
    const WAYS: WaysOut = WaysOut::ByEdges;
    const WRITES: WrittenFields = WrittenFields::NONE;
}

#[diagnostic::do_not_recommend]
impl<P: crate::GraphState, R: ParentRoute> KnownWays for Option<ParentCommand<P, R>> {
    const WAYS: WaysOut = WaysOut::ByEdges;
    const WRITES: WrittenFields = WrittenFields::NONE;
}
