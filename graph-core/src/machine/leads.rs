use crate::error::{Failure, NodeError};
use crate::state::{GraphState, IntoUpdate, Update as _};
use crate::step::{Exit, Step};

use super::to::{Edge, Way};
use super::{Edges, End, Machine, OutputOf, To};

/// A return type of a node of the machine `M`: it selects the next node.
#[diagnostic::on_unimplemented(
    message = "a node of the machine `{M}` cannot return `{Self}`",
    label = "`{Self}` does not select a next node of `{M}`",
    note = "return the next node, `End(output)`, or `To<{M}, (A, B)>` for a choice; with an update: `(update, one of these)`; or a `Result` of these"
)]
pub trait Leads<M: Machine> {
    /// Returns the possible exits.
    #[doc(hidden)]
    fn exits() -> Vec<Exit>;

    /// Converts the value into a step, after this update.
    #[doc(hidden)]
    fn leave(self, update: UpdateOf<M>) -> Result<Step<M::Run>, NodeError>;
}

type UpdateOf<M> = <<M as Machine>::Run as GraphState>::Update;

impl<M: Machine, L: Edges<M>> Leads<M> for To<M, L> {
    fn exits() -> Vec<Exit> {
        L::exits()
    }

    fn leave(self, update: UpdateOf<M>) -> Result<Step<M::Run>, NodeError> {
        Ok(self.into_way().step(update))
    }
}

impl<M: Machine, T: OutputOf<M>> Leads<M> for End<T> {
    fn exits() -> Vec<Exit> {
        vec![<Self as Edge<M>>::exit()]
    }

    fn leave(self, update: UpdateOf<M>) -> Result<Step<M::Run>, NodeError> {
        Ok(Way::<M>::end(self.0.into_output()).step(update))
    }
}

impl<M: Machine, U: IntoUpdate<M::Run>, R: Leads<M>> Leads<M> for (U, R) {
    fn exits() -> Vec<Exit> {
        R::exits()
    }

    fn leave(self, update: UpdateOf<M>) -> Result<Step<M::Run>, NodeError> {
        let own = self.0.into_update();
        self.1.leave(if update.is_empty() { own } else { update.and(own) })
    }
}

impl<M: Machine, R: Leads<M>, E: Failure> Leads<M> for Result<R, E> {
    fn exits() -> Vec<Exit> {
        R::exits()
    }

    fn leave(self, update: UpdateOf<M>) -> Result<Step<M::Run>, NodeError> {
        self.map_err(Failure::into_node_error)?.leave(update)
    }
}
