use crate::error::{Failure, NodeError};

use super::leave::{Choice, Exit, Leave};
use super::targets::Targets;

/// The exits of a node as an enum; implemented by `#[derive(Route)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a route",
    label = "does not implement `Route`",
    note = "derive `Route` on an enum, with `#[to(node)]` on each variant"
)]
pub trait Route: Sized + Send + 'static {
    #[doc(hidden)]
    const TARGETS: Option<Targets> = None;

    /// Returns the exits, in the order of the variants.
    fn exits() -> Vec<Exit>;

    /// Converts the value into the choice of an exit.
    fn into_choice(self) -> Choice;
}

/// A route, or a list of routes that are all taken.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a route",
    label = "does not implement `Route`",
    note = "derive `Route` on an enum, with `#[to(node)]` on each variant",
    note = "a route function is a plain `fn(&State) -> Route`; to await something, return the route from the node before"
)]
pub trait IntoLeave {
    /// The route itself, without lists and results.
    type Route: IntoLeave;

    /// The possible destinations. `None` for a route that no derive has implemented.
    const TARGETS: Option<Targets>;

    /// Returns the possible exits.
    fn exits() -> Vec<Exit>;

    /// Converts the value into the chosen exits.
    ///
    /// # Errors
    /// The list is empty. A map-reduce over no items must return a variant that leads somewhere else.
    fn into_leave(self) -> Result<Leave, NodeError>;
}

#[diagnostic::do_not_recommend]
impl<R: Route> IntoLeave for Vec<R> {
    type Route = Self;

    const TARGETS: Option<Targets> = R::TARGETS;

    fn exits() -> Vec<Exit> {
        R::exits()
    }

    fn into_leave(self) -> Result<Leave, NodeError> {
        if self.is_empty() {
            return Err(NodeError::msg(format!(
                "the list of routes `{}` is empty: when there is nothing to send, return a variant that leads to the next node or to END",
                std::any::type_name::<R>()
            )));
        }
        Ok(Leave::ByAll(self.into_iter().map(Route::into_choice).collect()))
    }
}

impl<R: IntoLeave, E: Failure> IntoLeave for Result<R, E> {
    type Route = R::Route;

    const TARGETS: Option<Targets> = R::TARGETS;

    fn exits() -> Vec<Exit> {
        R::exits()
    }

    fn into_leave(self) -> Result<Leave, NodeError> {
        self.map_err(Failure::into_node_error)?.into_leave()
    }
}
