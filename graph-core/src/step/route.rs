use crate::error::{Failure, NodeError};

use super::leave::{Choice, Exit, Leave};

/// The exits of a node as an enum; implemented by `#[derive(Route)]`.
pub trait Route: Sized + Send + 'static {
    /// Returns the exits, in the order of the variants.
    fn exits() -> Vec<Exit>;

    /// Converts the value into the choice of an exit.
    fn into_choice(self) -> Choice;
}

/// A route, or a list of routes that are all taken.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a route",
    label = "does not implement `Route`",
    note = "derive `Route` on an enum, with `#[to(node)]` on each variant"
)]
pub trait IntoLeave {
    /// Returns the possible exits.
    fn exits() -> Vec<Exit>;

    /// Converts the value into the chosen exits.
    ///
    /// # Errors
    /// The list is empty. A map-reduce over no items must return a variant that leads somewhere else.
    fn into_leave(self) -> Result<Leave, NodeError>;
}

impl<R: Route> IntoLeave for Vec<R> {
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
    fn exits() -> Vec<Exit> {
        R::exits()
    }

    fn into_leave(self) -> Result<Leave, NodeError> {
        self.map_err(Failure::into_node_error)?.into_leave()
    }
}
