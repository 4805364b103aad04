use crate::engine::Decider;
use crate::state::GraphState;
use crate::step::{Exit, IntoLeave};

use super::function::{ArgsOf, CallWith, ExtractAll, Signature};

/// A route function that fits a graph over `S` with context `D`.
pub trait Decides<S: GraphState, D, F> {
    /// Returns the function's exits.
    fn exits() -> Vec<Exit>;

    /// Boxes the function.
    #[doc(hidden)]
    fn erase(decide: F) -> Decider;
}

impl<S, D, F, Args, Out> Decides<S, D, F> for Signature<Args, Out>
where
    S: GraphState,
    D: Send + Sync + 'static,
    Args: ArgsOf<S, D, Fixed: ExtractAll<S, D>>,
    Out: IntoLeave + 'static,
    F: for<'a> CallWith<'a, Args::Fixed, Out = Out> + Send + Sync + 'static,
{
    fn exits() -> Vec<Exit> {
        Out::exits()
    }

    fn erase(decide: F) -> Decider {
        Box::new(move |from| {
            let (args, _) = Args::Fixed::extract_all(from)?;
            decide.call_with(args).into_leave()
        })
    }
}
