use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::{Context, ErasedContext, ErasedNode, ErasedSource, StepFuture};
use crate::erased::{ErasedState, Packet, TaskWrites};
use crate::state::{GraphState, WrittenFields};
use crate::step::{ErasedStep, Exit, IntoStep, ParentCommandType};

use super::call::Runs;
use super::function::{ArgsOf, Signature};
use super::param::{NoPacket, Source};
use super::reads_packet::ReadsPacket;
use super::shape::{Body, Shape};

/// A generic node of a library, which runs over every suitable state.
///
/// A [`Node`](crate::Node) names the state that it reads. A library node runs over each `S` for which it implements
/// [`NodeFor<S>`], and the graph in which it is used determines `S`.
///
/// ```
/// use superstep::messages::{HasMessages, Message, MessagesState, MessagesUpdate};
/// use superstep::node::{LibraryNode, NodeFor};
/// use superstep::{Context, END, START, StateGraph};
///
/// /// Greets, in every graph with a conversation.
/// struct Greet;
///
/// impl LibraryNode for Greet {}
///
/// impl<S: HasMessages> NodeFor<S> for Greet {
///     type Output = S::Update;
///
///     async fn run(&self, _: &S, _: &Context) -> S::Update {
///         S::update_messages(MessagesUpdate::from_iter([Message::ai("How can I help?")]))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// let graph = StateGraph::<MessagesState>::new().edge(START, Greet).edge(Greet, END).compile()?;
/// let state = graph.run(MessagesState::input().messages("hello")).await?.into_state();
/// assert_eq!(state.messages[1].text(), "How can I help?");
/// # Ok(())
/// # }
/// ```
pub trait LibraryNode: Send + Sync + 'static {}

/// The implementation of a [`LibraryNode`] for a state.
#[diagnostic::on_unimplemented(
    message = "the node `{Self}` cannot run over the state `{S}`",
    label = "does not run over `{S}`"
)]
pub trait NodeFor<S>: LibraryNode {
    /// The result: an update, a route, both, or a `Result` of these.
    type Output: Send + 'static;

    /// Runs one attempt.
    fn run(&self, state: &S, cx: &Context) -> impl Future<Output = Self::Output> + Send;
}

/// Marks the shape of a [`LibraryNode`].
#[derive(Debug)]
pub enum IsLibraryNode {}

/// The parameters of a [`LibraryNode`].
pub struct ArgsFor<N>(PhantomData<fn(N)>);

#[diagnostic::do_not_recommend]
impl<N: LibraryNode> Shape<IsLibraryNode> for N {
    // The result depends on the state, so it is not checked here: a state that does not fit is then the only error.
    type Signature = Signature<ArgsFor<N>, ()>;
    type Body = Body<N>;

    fn into_body(self) -> Body<N> {
        Body::of(self)
    }
}

impl<N> ReadsPacket for ArgsFor<N> {
    type Packet = NoPacket;
}

impl<S, D, N: NodeFor<S>> ArgsOf<S, D> for ArgsFor<N> {
    type Fixed = Self;
}

impl<S, D, N> Runs<S, D, N, ()> for ArgsFor<N>
where
    S: GraphState,
    D: Send + Sync + 'static,
    N: NodeFor<S, Output: IntoStep<S>>,
{
    const WRITES: Option<WrittenFields> = Some(N::Output::WRITES);

    fn erase(run: Arc<N>) -> Box<dyn ErasedNode> {
        Box::new(Erased::<S, D, N>(run, PhantomData))
    }

    fn exits() -> Option<Vec<Exit>> {
        N::Output::exits()
    }

    fn parent_commands() -> Vec<ParentCommandType> {
        N::Output::parent_commands()
    }
}

struct Erased<S, D, N>(Arc<N>, PhantomData<fn(S, D)>);

impl<S, D, N> ErasedNode for Erased<S, D, N>
where
    S: GraphState,
    D: Send + Sync + 'static,
    N: NodeFor<S, Output: IntoStep<S>>,
{
    fn call<'a>(
        &'a self,
        state: &'a dyn ErasedState,
        packet: Option<&'a Packet>,
        ctx: &'a dyn ErasedContext,
        spare: TaskWrites,
    ) -> StepFuture<'a> {
        Box::pin(async move {
            let Source { state, ctx, .. } = ErasedSource { state, packet, ctx }.typed::<S, D>()?;
            ErasedStep::of_output::<S, _>(self.0.run(state, ctx).await, spare, ctx.preparing())
        })
    }
}
