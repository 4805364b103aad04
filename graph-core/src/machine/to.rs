use std::marker::PhantomData;

use crate::erased::{Packet, Payload};
use crate::state::Update as _;
use crate::step::{Choice, Exit, Leave, NodeRef, Step};

use super::{End, Machine, NodeOf, OutputOf, RunState};

/// A choice of next nodes, made by [`to`]. A node of the machine `Fives` that returns `To<Fives, (Increment,
/// End<i64>)>` leads to an `Increment` or ends the machine with an `i64`.
pub struct To<M, L: List> {
    taken: L::OneOf,
    machine: PhantomData<fn() -> M>,
}

/// The choice that was made.
#[doc(hidden)]
pub struct Way<M: Machine> {
    /// The index among the exits of the node.
    exit: usize,
    to: WayTo<M>,
}

enum WayTo<M: Machine> {
    Node(Packet),
    End(M::Output),
}

impl<M: Machine> Way<M> {
    /// Chooses a node.
    pub fn node<N: NodeOf<M> + Payload>(node: N) -> Self {
        Self { exit: 0, to: WayTo::Node(Packet::new(node)) }
    }

    /// Chooses the end.
    pub(super) fn end(output: M::Output) -> Self {
        Self { exit: 0, to: WayTo::End(output) }
    }

    /// Converts the choice into a step with this update.
    pub fn step(self, update: <M::Run as crate::GraphState>::Update) -> Step<M::Run> {
        let exit = self.exit;
        match self.to {
            WayTo::Node(packet) => Step { update, leave: Leave::By(Choice { exit, packet: Some(packet) }) },
            WayTo::End(output) => {
                let update = update.and(<M::Run as RunState>::__end(output));
                Step { update, leave: Leave::By(Choice { exit, packet: None }) }
            }
        }
    }
}

impl<M: Machine, L: Edges<M>> To<M, L> {
    pub(super) fn into_way(self) -> Way<M> {
        L::way(self.taken)
    }
}

/// Selects the next node or the [`End`], which must be in the list of the return type.
///
/// ```
/// use superstep::machine::{End, Machine, To, to};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Machine)]
/// #[machine(nodes(Half), output = u32)]
/// struct Halving;
///
/// #[derive(Serialize, Deserialize)]
/// struct Half(u32);
///
/// impl Half {
///     async fn run(&self) -> To<Halving, (Half, End<u32>)> {
///         if self.0 % 2 == 0 { to(Half(self.0 / 2)) } else { to(End(self.0)) }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// assert_eq!(Halving::compile()?.run(Half(24)).await?.ended()?.output, 3);
/// # Ok(())
/// # }
/// ```
pub fn to<M, L: List, E: OneOf<L, I>, I>(edge: E) -> To<M, L> {
    To { taken: edge.into_one(), machine: PhantomData }
}

/// A destination in the machine `M`: one of its nodes, or [`End`] with its output.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node of the machine `{M}`",
    label = "is neither in the `nodes(..)` of `{M}` nor its `End`"
)]
pub trait Edge<M: Machine>: Sized {
    /// Returns the exit that leads there.
    #[doc(hidden)]
    fn exit() -> Exit;

    /// Converts the value into a choice.
    #[doc(hidden)]
    fn into_way(self) -> Way<M>;
}

impl<M: Machine, T: OutputOf<M>> Edge<M> for End<T> {
    fn exit() -> Exit {
        Exit::__new("End", [NodeRef::End.into()])
    }

    fn into_way(self) -> Way<M> {
        Way::end(self.0.into_output())
    }
}

/// A tuple of up to eight types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of nodes",
    label = "is not a tuple of nodes and `End<_>`",
    note = "write `To<Machine, (A, B)>`; if only one node can follow, return that node itself"
)]
pub trait List {
    /// An enum of the types.
    type OneOf;
}

/// A list of destinations in the machine `M`.
pub trait Edges<M: Machine>: List {
    #[doc(hidden)]
    fn exits() -> Vec<Exit>;

    #[doc(hidden)]
    fn way(taken: Self::OneOf) -> Way<M>;
}

/// One of the types in the list `L`. The index `I` is inferred.
#[diagnostic::on_unimplemented(
    message = "the node cannot lead to `{Self}`",
    label = "is not one of `{L}`",
    note = "a node can only lead to the nodes in its return type: `To<Machine, (A, B)>`"
)]
pub trait OneOf<L: List, I> {
    #[doc(hidden)]
    fn into_one(self) -> L::OneOf;
}

/// An index in a list.
#[derive(Debug)]
#[doc(hidden)]
pub enum At<const INDEX: usize> {}

macro_rules! lists {
    ($($name:ident($($edge:ident $index:literal),+))*) => {$(
        /// One of the types of a list.
        #[doc(hidden)]
        #[derive(Debug)]
        pub enum $name<$($edge),+> {
            $(
                /// A value of this type.
                $edge($edge)
            ),+
        }

        impl<$($edge),+> List for ($($edge,)+) {
            type OneOf = $name<$($edge),+>;
        }

        impl<M: Machine, $($edge: Edge<M>),+> Edges<M> for ($($edge,)+) {
            fn exits() -> Vec<Exit> {
                vec![$($edge::exit()),+]
            }

            fn way(taken: $name<$($edge),+>) -> Way<M> {
                match taken {
                    $($name::$edge(edge) => Way { exit: $index, ..edge.into_way() }),+
                }
            }
        }

        lists!(@each $name ($($edge),+) $($edge $index)+);
    )*};
    (@each $name:ident $all:tt $($edge:ident $index:literal)+) => {
        $(lists!(@one $name $all $edge $index);)+
    };
    (@one $name:ident ($($all:ident),+) $edge:ident $index:literal) => {
        impl<$($all),+> OneOf<($($all,)+), At<$index>> for $edge {
            fn into_one(self) -> $name<$($all),+> {
                $name::$edge(self)
            }
        }
    };
}

lists! {
    Of1(A 0)
    Of2(A 0, B 1)
    Of3(A 0, B 1, C 2)
    Of4(A 0, B 1, C 2, E 3)
    Of5(A 0, B 1, C 2, E 3, F 4)
    Of6(A 0, B 1, C 2, E 3, F 4, G 5)
    Of7(A 0, B 1, C 2, E 3, F 4, G 5, H 6)
    Of8(A 0, B 1, C 2, E 3, F 4, G 5, H 6, I 7)
}

impl<M, L: List<OneOf: std::fmt::Debug>> std::fmt::Debug for To<M, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("To").field(&self.taken).finish()
    }
}
