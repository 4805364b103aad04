use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StateGraph;
use crate::erased::{Packet, Payload};
use crate::error::Error;
use crate::node::{IsState, StateOrPacket};
use crate::state::{GraphState, Holds};
use crate::step::{Exit, NodeRef};

use super::{NodeHandle, OutputOf, StateMachine, Wiring};

/// A state machine, with its nodes, its state and its output. Implemented by
/// [`#[derive(Machine)]`](derive@crate::machine::Machine).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a machine",
    label = "`{Self}` does not derive `Machine`",
    note = "write `#[derive(Machine)] #[machine(nodes(A, B))]` on `struct {Self};`"
)]
pub trait Machine: Send + Sync + Sized + 'static {
    /// The name of the struct.
    const NAME: &'static str;
    /// The state that the nodes read and update. The default is [`Stateless`](super::Stateless).
    type State: GraphState;
    /// The application context, which nodes read as `&ContextWith<_>`. The default is `()`.
    type Context: Send + Sync + 'static;
    /// The output of the machine. The default is `()`.
    type Output: Payload + Clone + OutputOf<Self>;
    /// The generated enum of all nodes with their data.
    type Node: AnyNode<Machine = Self>;
    /// The state of a run: the machine's state, and its output once it has ended.
    type Run: RunState<Machine = Self>;

    #[doc(hidden)]
    fn __wire(wiring: Wiring<Self>) -> Wiring<Self>;

    /// Checks the machine and builds it. The compiler has checked most of it already.
    ///
    /// # Errors
    /// [`Wiring`](crate::ErrorKind::Wiring) with all mistakes, such as a state with two fields of the same name.
    fn compile() -> Result<StateMachine<Self>, Error> {
        let wiring = Wiring::new(StateGraph::<Self::Run>::with_context::<Self::Context>().name(Self::NAME));
        Self::__wire(wiring).compile()
    }

    /// Returns the input of a run that begins with `node`, for a [thread](crate::thread::Thread::run). The state keeps
    /// the thread's values, or gets its start values on a new thread.
    fn start(node: impl IntoNode<Self>) -> InputOf<Self>
    where
        StateInputOf<Self>: Unsaid,
    {
        Self::start_with(node, Unsaid::unsaid())
    }

    /// Returns the input of a run that begins with `node` and has this input for the state.
    fn start_with(node: impl IntoNode<Self>, state: StateInputOf<Self>) -> InputOf<Self> {
        <Self::Run as RunState>::__begin(node.into_node(), state)
    }

    /// Returns an update that replaces the planned node of a thread with `node`. Apply it as [`START`](crate::START):
    /// `thread.update(Fives::redirect(Increment(2)), as_node(START))`.
    fn redirect(node: impl IntoNode<Self>) -> <Self::Run as GraphState>::Update {
        <Self::Run as RunState>::__redirect(node.into_node())
    }

    /// Refers to a node by its type, for breakpoints, pictures, and updates as a node.
    fn node<N: NodeOf<Self>>() -> NodeHandle<Self, N> {
        NodeHandle::new()
    }
}

/// The input of a run of `M`.
pub type InputOf<M> = <<M as Machine>::Run as GraphState>::Input;
/// The input of the state of `M`.
pub type StateInputOf<M> = <<M as Machine>::State as GraphState>::Input;

/// An input without required fields.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has required fields",
    label = "the state of this machine needs an input",
    note = "pass the input after the node: `run_with(node, input)`, or `start_with(node, input)` for a thread"
)]
pub trait Unsaid {
    /// Returns the empty input.
    #[doc(hidden)]
    fn unsaid() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> Unsaid for T {
    fn unsaid() -> Self {
        Self::default()
    }
}

/// A node type of the machine `M`. Implemented by [`#[derive(Machine)]`](derive@crate::machine::Machine) for each of
/// `nodes(..)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node of the machine `{M}`",
    label = "add it to the `nodes(..)` of `{M}`"
)]
pub trait NodeOf<M: Machine>: Sized + 'static {
    /// The node's name in pictures and checkpoints.
    const NAME: &'static str;
}

/// A value that is a node of the machine `M`: one of its node types, or the enum `M::Node`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node of the machine `{M}`",
    label = "add it to the `nodes(..)` of `{M}`"
)]
pub trait IntoNode<M: Machine> {
    /// Converts the node into the enum.
    fn into_node(self) -> M::Node;
}

/// The generated enum of a machine's nodes with their data. Cheap to clone.
pub trait AnyNode: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The machine.
    type Machine: Machine<Node = Self>;

    /// Returns the node's name.
    fn name(&self) -> &'static str;

    /// Returns the node's index and its data.
    #[doc(hidden)]
    fn __sent(&self) -> (usize, Packet);

    /// Returns the node with this name and data.
    #[doc(hidden)]
    fn __received(name: &str, packet: &Packet) -> Option<Self>;

    /// The names of the nodes, by index.
    #[doc(hidden)]
    const __NAMES: &'static [&'static str];

    /// Reads the data of the node with this index.
    #[doc(hidden)]
    fn __read<'de, V: serde::de::VariantAccess<'de>>(place: usize, data: V) -> Result<Self, V::Error>;

    /// Returns the exits of START: one to each node.
    #[doc(hidden)]
    fn __exits() -> Vec<Exit>;
}

/// The generated state of a machine's run, into which the machine's own state is flattened.
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

/// Returns the exit to a node of the machine.
#[doc(hidden)]
pub fn exit_to<M: Machine, N: NodeOf<M> + Payload>() -> Exit {
    let read = Some(crate::erased::PacketType::reader::<N>());
    Exit::__with_packet::<N, 1>(N::NAME, [NodeRef::Named(N::NAME.into()).into()], read)
}
