use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::{ErasedContext, ErasedNode, ErasedSource, StepFuture};
use crate::erased::{ErasedState, Packet, TaskWrites};
use crate::error::NodeError;
use crate::state::{GraphState, WrittenFields};
use crate::step::{ErasedStep, Exit, IntoStep, ParentCommandType};

use super::function::{CallWith, ExtractAll, Fixed};

/// Parameters with which a node can run.
pub trait Runs<S: GraphState, D, F, Out> {
    /// The fields that the node can write, unless those of `Out` are meant.
    #[doc(hidden)]
    const WRITES: Option<WrittenFields> = None;

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
    fn parent_commands() -> Vec<ParentCommandType>
    where
        Out: IntoStep<S>,
    {
        Out::parent_commands()
    }
}

struct FnNode<S, D, F, Args, Out> {
    run: Arc<F>,
    signature: PhantomData<fn(S, D, Args) -> Out>,
}

/// Returns the future of a node that cannot be called.
#[cold]
fn refused<'a>(error: NodeError) -> StepFuture<'a> {
    Box::pin(std::future::ready(Err(error)))
}

impl<S, D, F, Params, Out> Runs<S, D, F, Out> for Fixed<Params>
where
    S: GraphState,
    D: Send + Sync + 'static,
    Self: ExtractAll<S, D>,
    F: for<'a> CallWith<'a, Self> + Send + Sync + 'static,
    for<'a> <F as CallWith<'a, Self>>::Out: Future<Output = Out> + Send,
    Out: IntoStep<S> + 'static,
{
    fn erase(run: Arc<F>) -> Box<dyn ErasedNode> {
        Box::new(FnNode::<S, D, F, Self, Out> { run, signature: PhantomData })
    }
}

impl<S, D, F, Args, Out> ErasedNode for FnNode<S, D, F, Args, Out>
where
    S: GraphState,
    D: Send + Sync + 'static,
    Args: ExtractAll<S, D>,
    F: for<'a> CallWith<'a, Args> + Send + Sync + 'static,
    for<'a> <F as CallWith<'a, Args>>::Out: Future<Output = Out> + Send,
    Out: IntoStep<S> + 'static,
{
    fn call<'a>(
        &'a self,
        state: &'a dyn ErasedState,
        packet: Option<&'a Packet>,
        ctx: &'a dyn ErasedContext,
        spare: TaskWrites,
    ) -> StepFuture<'a> {
        let (args, cx) = match Args::extract_all(ErasedSource { state, packet, ctx }) {
            Ok(extracted) => extracted,
            Err(error) => return refused(error),
        };
        // The future holds little else than the parameters, so that its box is small.
        let run = &*self.run;
        Box::pin(
            async move { ErasedStep::of_output::<S, Out>(run.call_with(args).await, spare, cx.preparing()) },
        )
    }
}
