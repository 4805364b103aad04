use std::marker::PhantomData;

use crate::state::GraphState;

use super::param::{ErasedSource, Extract, FixedParam, Param};
use super::{Exit, IntoLeave, Leave, NodeError};

/// A function that chooses the next nodes: it reads the state (or a view of it, `&Context`, `&ContextWith<_>`) and returns
/// a route, a `Vec` of routes, or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a route function",
    label = "not a function that reads the state and returns a route",
    note = "a route function is a plain `fn(&State) -> Route`; to await something, return the route from the node"
)]
pub trait Decide<M>: Sized {
    /// The function's parameters and result.
    type Signature;
}

/// The parameters and the result of a route function.
pub struct Decision<Args, Out>(PhantomData<fn(Args) -> Out>);

pub(crate) type Decider = Box<dyn for<'a> Fn(ErasedSource<'a>) -> Result<Leave, NodeError> + Send + Sync>;

/// A route function that fits a graph over `S` with context `D`.
pub trait Decides<S: GraphState, D, F> {
    /// Returns the function's exits.
    fn exits() -> Vec<Exit>;

    /// Boxes the function.
    #[doc(hidden)]
    fn erase(decide: F) -> Decider;
}

/// Calls a function with its parameters borrowed for `'a`.
pub trait DecideWith<'a, Args, Out> {
    /// The parameters.
    type At;

    /// Calls the function.
    fn decide_with(&self, args: Self::At) -> Out;
}

/// The error of a missing argument. The types prevent it.
#[derive(Debug, thiserror::Error)]
#[error("the route function was called without a value that it reads")]
struct SourceMissing;

macro_rules! decisions {
    ($(($($param:ident $value:ident),+))*) => {$(
        impl<F, Out, $($param),+> Decide<fn($($param),+) -> Out> for F
        where
            F: Fn($($param),+) -> Out,
        {
            type Signature = Decision<($($param,)+), Out>;
        }

        impl<'a, F, Out, $($param: FixedParam),+> DecideWith<'a, ($($param,)+), Out> for F
        where
            F: Fn($($param::At<'a>),+) -> Out,
        {
            type At = ($($param::At<'a>,)+);

            fn decide_with(&self, ($($value,)+): Self::At) -> Out {
                self($($value),+)
            }
        }

        impl<S, D, F, Out, $($param),+> Decides<S, D, F> for Decision<($($param,)+), Out>
        where
            S: GraphState,
            D: Send + Sync + 'static,
            $($param: Param, $param::Fixed: Extract<S, D>,)+
            Out: IntoLeave + 'static,
            F: for<'a> DecideWith<
                    'a,
                    ($($param::Fixed,)+),
                    Out,
                    At = ($(<$param::Fixed as FixedParam>::At<'a>,)+),
                > + Send + Sync + 'static,
        {
            fn exits() -> Vec<Exit> {
                Out::exits()
            }

            fn erase(decide: F) -> Decider {
                Box::new(move |from| {
                    let from = from.typed::<S, D>()?;
                    $(let Some($value) = <$param::Fixed as Extract<S, D>>::extract(from) else {
                        return Err(SourceMissing.into());
                    };)+
                    decide.decide_with(($($value,)+)).into_leave()
                })
            }
        }
    )*};
}

decisions! { (A a) (A a, B b) }
