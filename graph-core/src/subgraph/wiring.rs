use crate::engine::child::{Beginning, Came};
use crate::node::{IntoStep, NoPacket, NodeError, Packet, PacketKind, Step};
use crate::state::{GraphState, PartOf};

/// What a subgraph over `C` reads and returns, whatever graph it is put into.
pub trait Wiring<C>: Send + Sync + 'static {
    /// What it reads of the graph around it.
    type Reads;
    /// What it returns.
    type Output: Send + 'static;
    /// Whether it is sent a packet.
    type Packet: PacketKind;
    /// The function that says which of several states on a thread a call goes on with.
    type Key: ?Sized + Send + Sync + 'static;
}

/// A subgraph over `C` can get its state from a graph over `S`.
#[diagnostic::on_unimplemented(
    message = "a subgraph on the state `{C}` cannot be put into a graph on `{S}` as it is",
    label = "its state is neither `{S}`, nor flattened into it",
    note = "give it a state of its own, with `.mapped(|outer: &{S}| .., |returned| ..)`"
)]
pub trait Fits<C, S>: Wiring<C> {}

#[diagnostic::do_not_recommend]
impl<C: GraphState + PartOf<S>, S> Fits<C, S> for Here {}

/// How a subgraph over `C` gets its state from a graph over `S`, and gives it back.
pub trait WiredTo<C: GraphState, S: GraphState>: Wiring<C> {
    /// Whether a call goes on with the state around it.
    #[doc(hidden)]
    const HERE: bool = false;

    #[doc(hidden)]
    fn beginning<'a>(&'a self, state: &'a S, packet: Option<&'a Packet>) -> Option<Beginning<'a, C>>;

    #[doc(hidden)]
    fn key(_: &Self::Key, _: &S, _: Option<&Packet>) -> Option<String> {
        None
    }

    #[doc(hidden)]
    fn finish(&self, came: Came<C>) -> Result<Step<S>, NodeError>;

    /// What is written in any case, also where the call ends with what it says to the graph around it.
    #[doc(hidden)]
    fn written(_: C::Update) -> Result<S::Update, NodeError> {
        Ok(S::Update::default())
    }

    /// What a call goes on with of the state around it; nothing where it has a state of its own.
    #[doc(hidden)]
    fn base(_: &S) -> Option<&C> {
        None
    }
}

/// On the state of the graph around it, or on a part that is flattened into that.
#[derive(Clone, Copy, Debug)]
pub struct Here;

impl<C: GraphState> Wiring<C> for Here {
    type Reads = C;
    // Nothing is asked of it but that the state fits, which is all that can be wrong.
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

    fn beginning<'a>(&'a self, state: &'a S, _: Option<&'a Packet>) -> Option<Beginning<'a, C>> {
        Some(Beginning::On(C::part(state)))
    }

    fn finish(&self, came: Came<C>) -> Result<Step<S>, NodeError> {
        came.update.into_step()
    }

    fn written(update: C::Update) -> Result<S::Update, NodeError> {
        update.into_step().map(|step: Step<S>| step.update)
    }

    fn base(state: &S) -> Option<&C> {
        Some(C::part(state))
    }
}
