use std::any::TypeId;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use crate::engine::{Context, ErasedContext, ErasedState, TaskWrites};
use crate::error::Error;
use crate::graph::{Inside, KeptState, Marked};
use crate::state::GraphState;
use crate::thread::OpenTask;

use super::param::{ErasedSource, Extract, FixedParam, Param, Source};
use super::{ErasedStep, Exit, IntoStep, NodeError, Packet, ParentCommandType};

/// A node's boxed future. It is the only allocation of a task.
pub(crate) type StepFuture<'a> = Pin<Box<dyn Future<Output = Result<ErasedStep, NodeError>> + Send + 'a>>;

/// The future of the marks inside a node.
pub(crate) type MarkedFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<Marked>, Error>> + Send + 'a>>;

/// A type-erased node.
pub trait ErasedNode: Send + Sync {
    /// Starts one attempt.
    ///
    /// The parts of its [`Source`] are separate arguments, which are passed in registers. A struct would be read back right
    /// after it was written, which stalls.
    #[doc(hidden)]
    fn call<'a>(
        &'a self,
        state: &'a dyn ErasedState,
        packet: Option<&'a Packet>,
        ctx: &'a dyn ErasedContext,
        spare: TaskWrites,
    ) -> StepFuture<'a>;

    /// Returns the node as a subgraph, if it runs a graph.
    // One method with a default, because each is compiled for each node.
    #[doc(hidden)]
    fn as_subgraph(&self) -> Option<&dyn SubgraphNode> {
        None
    }
}

/// A type-erased node that runs a graph.
pub trait SubgraphNode: Send + Sync {
    /// Returns the types of parent commands that its nodes can return to the parent graph.
    #[doc(hidden)]
    fn heard(&self) -> Vec<ParentCommandType>;

    /// Sets, for each route of a parent command, the number of its first exit among the exits of this node.
    #[doc(hidden)]
    fn hears_at(&self, exits: Vec<(TypeId, usize)>);

    /// Returns the picture of its graph; `None` if the subgraph is lazy.
    #[doc(hidden)]
    fn inside(&self) -> Option<Inside>;

    /// Returns the states that it keeps on the thread.
    #[doc(hidden)]
    fn kept_state(&self) -> KeptState;

    /// Returns the marks inside it, for an unfinished task of it.
    #[doc(hidden)]
    fn marked<'a>(&'a self, task: OpenTask<'a>) -> MarkedFuture<'a>;
}

/// Parameters that a graph over `S` with context `D` can provide.
pub trait ArgsOf<S, D> {
    /// The parameters without lifetimes.
    type Fixed;
}

/// Calls an async function with its parameters borrowed for `'a`.
pub trait CallWith<'a, Args, Out> {
    /// The function's future.
    type Fut: Future<Output = Out>;
    /// The parameters.
    type At;

    /// Calls the function.
    fn call_with(&self, args: Self::At) -> Self::Fut;
}

/// Parameters with which a node can run.
pub trait Runs<S: GraphState, D, F, Out> {
    /// Boxes the node.
    fn erase(run: Arc<F>) -> Box<dyn ErasedNode>;

    /// Returns the exits of its result; see [`IntoStep::exits`].
    fn exits() -> Option<Vec<Exit>>
    where
        Out: IntoStep<S>,
    {
        Out::exits()
    }

    /// Returns the types of parent commands in its result.
    #[doc(hidden)]
    fn outward() -> Vec<ParentCommandType>
    where
        Out: IntoStep<S>,
    {
        Out::outward()
    }
}

/// Parameters of a function that is not a node by itself.
pub trait Calls<S, D, F, Out> {
    /// Calls the function; `None` if the packet that it reads is missing.
    fn start<'a>(run: &'a F, from: Source<'a, S, D>) -> Option<impl Future<Output = Out> + Send + 'a>
    where
        S: 'a,
        D: 'a,
        F: 'a,
        Out: 'a;
}

/// A list of parameters.
// Apart from the call, so that it is compiled for each list and not for each node.
trait ExtractAll<S, D> {
    type All<'a>;

    fn extract_all(from: ErasedSource<'_>) -> Result<(Self::All<'_>, &Context), NodeError>;
}

struct FnNode<S, D, F, Args, Out> {
    run: Arc<F>,
    signature: PhantomData<fn(S, D, Args) -> Out>,
}

/// The error of a task without the packet that its node reads. `compile()` and the types prevent it.
#[derive(Debug, thiserror::Error)]
#[error("the node was started without the packet that it reads")]
pub(crate) struct PacketMissing;

/// Returns the future of a node that cannot be called.
#[cold]
fn refused<'a>(error: NodeError) -> StepFuture<'a> {
    Box::pin(std::future::ready(Err(error)))
}

macro_rules! callable {
    ($(($($param:ident $value:ident),*))*) => {$(
        impl<S, D, $($param),*> ArgsOf<S, D> for ($($param,)*)
        where
            $($param: Param, $param::Fixed: Extract<S, D>),*
        {
            type Fixed = ($($param::Fixed,)*);
        }

        impl<'a, F, Fut, Out, $($param),*> CallWith<'a, ($($param,)*), Out> for F
        where
            $($param: FixedParam,)*
            F: Fn($($param::At<'a>),*) -> Fut,
            Fut: Future<Output = Out>,
        {
            type Fut = Fut;
            type At = ($($param::At<'a>,)*);

            fn call_with(&self, ($($value,)*): Self::At) -> Fut {
                self($($value),*)
            }
        }

        impl<S: 'static, D: 'static, $($param: Extract<S, D>),*> ExtractAll<S, D> for ($($param,)*) {
            type All<'a> = ($($param::At<'a>,)*);

            #[inline]
            fn extract_all(from: ErasedSource<'_>) -> Result<(Self::All<'_>, &Context), NodeError> {
                let from = from.typed::<S, D>()?;
                $(let Some($value) = $param::extract(from) else { return Err(PacketMissing.into()) };)*
                Ok((($($value,)*), from.ctx))
            }
        }

        impl<S, D, F, Out, $($param),*> Calls<S, D, F, Out> for ($($param,)*)
        where
            $($param: Extract<S, D>,)*
            F: for<'a> CallWith<'a, ($($param,)*), Out, At = ($($param::At<'a>,)*)>,
            for<'a> <F as CallWith<'a, ($($param,)*), Out>>::Fut: Send,
        {
            fn start<'a>(run: &'a F, from: Source<'a, S, D>) -> Option<impl Future<Output = Out> + Send + 'a>
            where
                S: 'a,
                D: 'a,
                F: 'a,
                Out: 'a,
            {
                let _ = from;
                Some(run.call_with(($($param::extract(from)?,)*)))
            }
        }

        impl<S, D, F, Out, $($param),*> Runs<S, D, F, Out> for ($($param,)*)
        where
            S: GraphState,
            D: Send + Sync + 'static,
            $($param: Extract<S, D>,)*
            F: for<'a> CallWith<'a, ($($param,)*), Out, At = ($($param::At<'a>,)*)> + Send + Sync + 'static,
            for<'a> <F as CallWith<'a, ($($param,)*), Out>>::Fut: Send,
            Out: IntoStep<S> + 'static,
        {
            fn erase(run: Arc<F>) -> Box<dyn ErasedNode> {
                Box::new(FnNode::<S, D, F, ($($param,)*), Out> { run, signature: PhantomData })
            }
        }

        impl<S, D, F, Out, $($param),*> ErasedNode for FnNode<S, D, F, ($($param,)*), Out>
        where
            S: GraphState,
            D: Send + Sync + 'static,
            $($param: Extract<S, D>,)*
            F: for<'a> CallWith<'a, ($($param,)*), Out, At = ($($param::At<'a>,)*)> + Send + Sync + 'static,
            for<'a> <F as CallWith<'a, ($($param,)*), Out>>::Fut: Send,
            Out: IntoStep<S> + 'static,
        {
            fn call<'a>(&'a self, state: &'a dyn ErasedState, packet: Option<&'a Packet>, ctx: &'a dyn ErasedContext, spare: TaskWrites) -> StepFuture<'a> {
                let from = ErasedSource { state, packet, ctx };
                let (args, cx) = match <($($param,)*) as ExtractAll<S, D>>::extract_all(from) {
                    Ok(extracted) => extracted,
                    Err(error) => return refused(error),
                };
                // The future holds little else than the parameters, so that its box is small.
                let run = &*self.run;
                Box::pin(async move {
                    ErasedStep::of_output::<S, Out>(run.call_with(args).await, spare, cx)
                })
            }
        }
    )*};
}

callable! { () (A a) (A a, B b) (A a, B b, C c) (A a, B b, C c, E e) }
