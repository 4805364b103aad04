//! The trait of a machine, with the traits and types that it names and that name it in turn.

use std::fmt::Debug;
use std::ops::Deref;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::erased::{Packet, Payload};
use crate::error::Error;
use crate::graph::Graph;
use crate::node::{IsState, StateOrPacket};
use crate::run::{NeedsContext, Run};
use crate::state::{GraphState, Holds};
use crate::step::{Exit, NodeRef};

use super::NodeHandle;

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

    /// Checks the machine and builds it. The compiler has checked most of it already.
    ///
    /// # Errors
    /// [`Wiring`](crate::ErrorKind::Wiring) with all mistakes, such as a state with two fields of the same name.
    fn compile() -> Result<StateMachine<Self>, Error>;

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
        NodeHandle::named(N::NAME)
    }
}

/// The input of a run of `M`.
pub type InputOf<M> = <<M as Machine>::Run as GraphState>::Input;
/// The input of the state of `M`.
pub type StateInputOf<M> = <<M as Machine>::State as GraphState>::Input;

/// The output type of the machine `M`.
#[diagnostic::on_unimplemented(
    message = "the machine `{M}` does not end with `{Self}`",
    label = "is not the output type of `{M}`",
    note = "the output type of `{M}` is set by `#[machine(output = ..)]`, and is `()` by default"
)]
pub trait OutputOf<M: Machine> {
    /// Converts the value into the output.
    #[doc(hidden)]
    fn into_output(self) -> M::Output;
}

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

/// A compiled machine, made by [`Machine::compile`]. It is cheap to clone; its runs share it.
///
/// It derefs to its [`Graph`], which provides streams, [checkpointers](Graph::with_checkpointer) and pictures.
pub struct StateMachine<M: Machine>(Graph<M::Run, M::Context>);

impl<M: Machine> StateMachine<M> {
    pub(super) fn new(graph: Graph<M::Run, M::Context>) -> Self {
        Self(graph)
    }

    /// Prepares a run that begins with `node`. Set its options and its context, then await it.
    ///
    /// ```
    /// # use superstep::machine::{End, Machine, To, to};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Machine)]
    /// # #[machine(nodes(Half), output = u32)]
    /// # struct Halving;
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Half(u32);
    /// # impl Half {
    /// #     async fn run(&self) -> To<Halving, (Half, End<u32>)> {
    /// #         if self.0 % 2 == 0 { to(Half(self.0 / 2)) } else { to(End(self.0)) }
    /// #     }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// let outcome = Halving::compile()?.run(Half(24)).recursion_limit(4).await?;
    /// assert_eq!(outcome.ended()?.output, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run(&self, node: impl IntoNode<M>) -> Run<M::Run, M::Context, NeedsContext>
    where
        StateInputOf<M>: Unsaid,
    {
        self.0.run(M::start(node))
    }

    /// Prepares a run that begins with `node`, with an input for the state.
    pub fn run_with(
        &self,
        node: impl IntoNode<M>,
        state: StateInputOf<M>,
    ) -> Run<M::Run, M::Context, NeedsContext> {
        self.0.run(M::start_with(node, state))
    }

    /// Returns the machine's graph.
    pub fn graph(&self) -> &Graph<M::Run, M::Context> {
        &self.0
    }
}

impl<M: Machine> Deref for StateMachine<M> {
    type Target = Graph<M::Run, M::Context>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<M: Machine> Clone for StateMachine<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Machine> std::fmt::Debug for StateMachine<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("StateMachine").field(&self.0).finish()
    }
}

/// Returns the exit to a node of the machine.
#[doc(hidden)]
pub fn exit_to<M: Machine, N: NodeOf<M> + Payload>() -> Exit {
    let read = Some(crate::erased::PacketType::reader::<N>());
    Exit::__with_packet::<N, 1>(N::NAME, [NodeRef::Named(N::NAME.into()).into()], read)
}
