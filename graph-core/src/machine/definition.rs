use std::fmt::Debug;

use serde::{Serialize, de::DeserializeOwned};

use crate::StateGraph;
use crate::error::Error;
use crate::node::{Exit, IsState, NodeRef, Packet, Payload, StateOrPacket};
use crate::state::{GraphState, Holds};

use super::{OutputOf, Place, StateMachine, Wiring};

/// A state machine: its nodes, its state, what it ends with; implemented by
/// [`#[derive(Machine)]`](derive@crate::machine::Machine).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a machine",
    label = "`{Self}` does not derive `Machine`",
    note = "write `#[derive(Machine)] #[machine(nodes(A, B))]` on `struct {Self};`"
)]
pub trait Machine: Send + Sync + Sized + 'static {
    /// The struct's name.
    const NAME: &'static str;
    /// What the nodes read and update; [`Stateless`](super::Stateless) if it is not said.
    type State: GraphState;
    /// What nodes read as `&ContextWith<_>`; nothing, if it is not said.
    type Context: Send + Sync + 'static;
    /// What the machine ends with; nothing, if it is not said.
    type Output: Payload + Clone + OutputOf<Self>;
    /// Any node of the machine, with its data.
    type Node: AnyNode<Machine = Self>;
    /// What a run holds: the state, and the output once there is one.
    type Run: RunState<Machine = Self>;

    #[doc(hidden)]
    fn __wire(wiring: Wiring<Self>) -> Wiring<Self>;

    /// Checks what the types cannot, and makes the machine that runs.
    ///
    /// # Errors
    /// [`Wiring`](crate::ErrorKind::Wiring) with everything that is wrong: a state that has two fields of one name.
    fn compile() -> Result<StateMachine<Self>, Error> {
        let wiring = Wiring::new(StateGraph::<Self::Run>::with_context::<Self::Context>().name(Self::NAME));
        Self::__wire(wiring).compile()
    }

    /// The input of a run that begins with `node`, for a [thread](crate::thread::Thread::run); the state gets its start
    /// values, or stays what it is on the thread.
    fn start(node: impl IntoNode<Self>) -> InputOf<Self>
    where
        StateInputOf<Self>: Unsaid,
    {
        Self::start_with(node, Unsaid::unsaid())
    }

    /// The input of a run that begins with `node`, and with this input of the state.
    fn start_with(node: impl IntoNode<Self>, state: StateInputOf<Self>) -> InputOf<Self> {
        <Self::Run as RunState>::__begin(node.into_node(), state)
    }

    /// An update that leads a thread to another node than the planned one, in the place of START:
    /// `thread.update(Fives::redirect(Increment(2)), as_node(START))`.
    fn redirect(node: impl IntoNode<Self>) -> <Self::Run as GraphState>::Update {
        <Self::Run as RunState>::__redirect(node.into_node())
    }

    /// The node itself, where one is named: for breakpoints, pictures, and updates as it.
    fn node<N: NodeOf<Self>>() -> Place<Self, N> {
        Place::new()
    }
}

/// What a run of `M` starts with.
pub type InputOf<M> = <<M as Machine>::Run as GraphState>::Input;
/// What the state of `M` starts with.
pub type StateInputOf<M> = <<M as Machine>::State as GraphState>::Input;

/// The input of a state that a run need not be given.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has required fields",
    label = "the state of this machine does not begin by itself",
    note = "give its input beside the node: `run_with(node, input)`, or `start_with(node, input)` for a thread"
)]
pub trait Unsaid {
    /// The input that gives nothing.
    #[doc(hidden)]
    fn unsaid() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> Unsaid for T {
    fn unsaid() -> Self {
        Self::default()
    }
}

/// A type that is a node of the machine `M`; implemented by [`#[derive(Machine)]`](derive@crate::machine::Machine) for each
/// of `nodes(..)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node of the machine `{M}`",
    label = "is not in the `nodes(..)` of `{M}`"
)]
pub trait NodeOf<M: Machine>: Sized + 'static {
    /// The node's name, in pictures and checkpoints.
    const NAME: &'static str;
}

/// A node of the machine `M` with its data: one of its nodes, or `M::Node`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node of the machine `{M}`",
    label = "is not in the `nodes(..)` of `{M}`"
)]
pub trait IntoNode<M: Machine> {
    /// The node as one of any.
    fn into_node(self) -> M::Node;
}

/// Any node of a machine: the enum that the derive makes, with the nodes' data in it. Cheap to clone.
pub trait AnyNode: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The machine.
    type Machine: Machine<Node = Self>;

    /// The node's name.
    fn name(&self) -> &'static str;

    /// Which of the machine's nodes it is, and its data.
    #[doc(hidden)]
    fn __sent(&self) -> (usize, Packet);

    /// The node at this place, with its data.
    #[doc(hidden)]
    fn __received(name: &str, packet: &Packet) -> Option<Self>;

    /// The nodes' names, by place.
    #[doc(hidden)]
    const __NAMES: &'static [&'static str];

    /// Reads the data of the node at this place.
    #[doc(hidden)]
    fn __read<'de, V: serde::de::VariantAccess<'de>>(place: usize, data: V) -> Result<Self, V::Error>;

    /// All of them, as ways out of START.
    #[doc(hidden)]
    fn __exits() -> Vec<Exit>;
}

/// What a run of a machine holds; the derive makes it, a state of a graph with that of the machine inside.
pub trait RunState: GraphState + StateOrPacket<Role = IsState> + Holds<Self> {
    /// The machine.
    type Machine: Machine<Run = Self>;

    #[doc(hidden)]
    fn __state(&self) -> &<Self::Machine as Machine>::State;

    #[doc(hidden)]
    fn __output(&self) -> Option<&<Self::Machine as Machine>::Output>;

    #[doc(hidden)]
    fn __into_parts(self) -> (<Self::Machine as Machine>::State, Option<<Self::Machine as Machine>::Output>);

    #[doc(hidden)]
    fn __start(&self) -> Option<&<Self::Machine as Machine>::Node>;

    #[doc(hidden)]
    fn __begin(node: <Self::Machine as Machine>::Node, state: StateInputOf<Self::Machine>) -> Self::Input;

    #[doc(hidden)]
    fn __redirect(node: <Self::Machine as Machine>::Node) -> Self::Update;

    #[doc(hidden)]
    fn __end(output: <Self::Machine as Machine>::Output) -> Self::Update;
}

/// The way to a node of the machine.
#[doc(hidden)]
pub fn exit_to<M: Machine, N: NodeOf<M> + Payload>() -> Exit {
    let read = Some(crate::node::PacketType::reader::<N>());
    Exit::__with_packet::<N, 1>(N::NAME, [NodeRef::Named(N::NAME.into())], read)
}
