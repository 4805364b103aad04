use crate::engine::child::{CallStart, ErasedCallResult};
use crate::erased::{Packet, TaskWrites, WritesOf};
use crate::error::NodeError;
use crate::node::{NoPacket, PacketKind};
use crate::state::{GraphState, PartOf};
use crate::step::{IntoStep, Step};

/// The part of a subgraph's wiring that is independent of its parent graph.
pub trait Wiring<C>: Send + Sync + 'static {
    /// The part of the parent state that it reads.
    type Reads;
    /// The node's result.
    type Output: Send + 'static;
    /// The packet that it is sent, if any.
    type Packet: PacketKind;
    /// The function that selects one of several states on a thread.
    type Key: ?Sized + Send + Sync + 'static;
}

/// Implemented if a subgraph over `C` can get its state from a graph over `S`.
#[diagnostic::on_unimplemented(
    message = "a subgraph on the state `{C}` cannot be a node of a graph on `{S}`",
    label = "its state is neither `{S}` nor flattened into it",
    note = "give it a state of its own, with `.mapped(|outer: &{S}| .., |returned| ..)`"
)]
pub trait Fits<C, S>: Wiring<C> {}

#[diagnostic::do_not_recommend]
impl<C: GraphState + PartOf<S>, S> Fits<C, S> for Here {}

/// The wiring of a subgraph over `C` in a graph over `S`.
pub trait WiredTo<C: GraphState, S: GraphState>: Wiring<C> {
    /// `true` if a call works on the parent state.
    #[doc(hidden)]
    const HERE: bool = false;

    #[doc(hidden)]
    fn start<'a>(&'a self, state: &'a S, packet: Option<&'a Packet>) -> Option<CallStart<'a>>;

    #[doc(hidden)]
    fn key(_: &Self::Key, _: &S, _: Option<&Packet>) -> Option<String> {
        None
    }

    #[doc(hidden)]
    fn finish(&self, call_result: ErasedCallResult) -> Result<Step<S>, NodeError>;

    /// Returns the part of the result that is written even if the call ends with a parent command.
    #[doc(hidden)]
    fn written(_: TaskWrites) -> Result<TaskWrites, NodeError> {
        Ok(TaskWrites::default())
    }

    /// Returns the part of the parent state that a call works on, or `None` if it has a state of its own.
    #[doc(hidden)]
    fn base(_: &S) -> Option<&C> {
        None
    }
}

/// The wiring of a subgraph on the parent state, or on a state that is flattened into it.
#[derive(Clone, Copy, Debug)]
pub struct Here;

impl<C: GraphState> Wiring<C> for Here {
    type Reads = C;
    // The only requirement is that the state fits, so rustc reports nothing else.
    type Output = ();
    type Packet = NoPacket;
    type Key = ();
}

impl<C, S> WiredTo<C, S> for Here
where
    C: GraphState + PartOf<S>,
    C::Update: IntoStep<S>,
    S: GraphState,
{
    const HERE: bool = true;

    fn start<'a>(&'a self, state: &'a S, _: Option<&'a Packet>) -> Option<CallStart<'a>> {
        Some(CallStart::OnParentState(C::part(state)))
    }

    fn finish(&self, call_result: ErasedCallResult) -> Result<Step<S>, NodeError> {
        WritesOf::<C>::typed(call_result.update).into_step()
    }

    fn written(update: TaskWrites) -> Result<TaskWrites, NodeError> {
        let step: Step<S> = WritesOf::<C>::typed(update).into_step()?;
        Ok(WritesOf::<S>::erase(step.update))
    }

    fn base(state: &S) -> Option<&C> {
        Some(C::part(state))
    }
}
