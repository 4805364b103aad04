//! Functions of the user: node functions, error handlers, route functions, key functions and the functions of workflows.
//!
//! A use of functions has its own bounds on the parameters and the result. The call is the same for all: [`Fixed`] has
//! the parameters without lifetimes, [`ExtractAll`] gets their values from a task, and [`CallWith`] calls the function.
//! `function_shapes!` implements the traits for each number of parameters.

use std::future::Future;
use std::marker::PhantomData;

use crate::engine::{Context, ErasedSource};
use crate::error::NodeError;

use super::param::{Extract, FixedParam, Param};
use super::shape::{Body, Decide, KeyBy, Shape};

/// The parameters and the result of a function. The result of an async function is the output of its future.
pub struct Signature<Args, Out>(PhantomData<fn(Args) -> Out>);

/// Parameters that a graph over `S` with context `D` can provide.
pub trait ArgsOf<S, D> {
    /// The parameters without lifetimes.
    type Fixed;
}

/// The parameters of a function without their lifetimes, from a tuple of [`FixedParam`]s.
// Its own type, so that rustc does not compare it with the parameters of nodes that are structs: it would report a node
// that does not fit a second time, as unable to run.
pub struct Fixed<Params>(PhantomData<fn(Params)>);

/// A parameter list without lifetimes.
pub trait FixedArgs: 'static {
    /// The parameters borrowed for `'a`.
    type At<'a>: Send;
}

/// Calls a function with its parameters borrowed for `'a`.
pub trait CallWith<'a, Args: FixedArgs> {
    /// The result, which may borrow from the parameters: a future if the function is async.
    type Out;

    /// Calls the function.
    fn call_with(&self, args: Args::At<'a>) -> Self::Out;
}

/// Parameters whose values come from a task of a graph over `S` with context `D`.
pub trait ExtractAll<S: 'static, D: 'static>: FixedArgs {
    /// Returns the values of the parameters, and the context.
    ///
    /// # Errors
    /// The task does not have the packet that a parameter reads, or the types differ. The checks of a graph prevent both.
    // Not a part of the call, so that it is compiled for each list of parameters and not for each function.
    fn extract_all(from: ErasedSource<'_>) -> Result<(Self::At<'_>, &Context), NodeError>;
}

/// The error of a task without the packet that one of its functions reads. `compile()` and the types prevent it.
#[derive(Debug, thiserror::Error)]
#[error("the task has no packet of the type that its node reads")]
pub(crate) struct PacketMissing;

macro_rules! function_shapes {
    ($(($($param:ident $value:ident),*))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<F, Fut, $($param),*> Shape<fn($($param),*) -> Fut> for F
        where
            F: Fn($($param),*) -> Fut + 'static,
            Fut: Future,
        {
            type Signature = Signature<($($param,)*), Fut::Output>;
            type Body = Body<F>;

            fn into_body(self) -> Body<F> {
                Body::of(self)
            }
        }

        // With a single implementation for all numbers of parameters, rustc would report a value that is no function
        // three times.
        #[diagnostic::do_not_recommend]
        impl<F, Out, $($param),*> Decide<fn($($param),*) -> Out> for F
        where
            F: Fn($($param),*) -> Out,
        {
            type Signature = Signature<($($param,)*), Out>;
        }

        #[diagnostic::do_not_recommend]
        impl<F, Out, $($param),*> KeyBy<fn($($param),*) -> Out> for F
        where
            F: Fn($($param),*) -> Out,
        {
            type Signature = Signature<($($param,)*), Out>;
        }

        impl<S, D, $($param),*> ArgsOf<S, D> for ($($param,)*)
        where
            $($param: Param<Fixed: Extract<S, D>>),*
        {
            type Fixed = Fixed<($($param::Fixed,)*)>;
        }

        impl<$($param: FixedParam),*> FixedArgs for Fixed<($($param,)*)> {
            type At<'a> = ($($param::At<'a>,)*);
        }

        impl<'a, F, Out, $($param: FixedParam),*> CallWith<'a, Fixed<($($param,)*)>> for F
        where
            F: Fn($($param::At<'a>),*) -> Out,
        {
            type Out = Out;

            fn call_with(&self, ($($value,)*): ($($param::At<'a>,)*)) -> Out {
                self($($value),*)
            }
        }

        impl<S: 'static, D: 'static, $($param: Extract<S, D>),*> ExtractAll<S, D> for Fixed<($($param,)*)> {
            #[inline]
            fn extract_all(from: ErasedSource<'_>) -> Result<(Self::At<'_>, &Context), NodeError> {
                let from = from.typed::<S, D>()?;
                $(let Some($value) = $param::extract(from) else { return Err(PacketMissing.into()) };)*
                Ok((($($value,)*), from.ctx))
            }
        }
    )*};
}

function_shapes! { () (A a) (A a, B b) (A a, B b, C c) (A a, B b, C c, E e) }
