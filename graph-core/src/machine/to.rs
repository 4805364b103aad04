use std::marker::PhantomData;

use crate::node::{Choice, Exit, Leave, NodeRef, Packet, Payload, Step};
use crate::state::Update as _;

use super::{End, Machine, NodeOf, OutputOf, RunState};

/// One of several ways on: `To<Fives, (Increment, End<i64>)>` is what a node of the machine `Fives` returns that leads to
/// an `Increment` or ends the machine with an `i64`. [`to`] makes it.
pub struct To<M, L: List> {
    taken: L::OneOf,
    machine: PhantomData<fn() -> M>,
}

/// The way on that was taken.
#[doc(hidden)]
pub struct Way<M: Machine> {
    /// Which of the ways out of the node.
    exit: usize,
    to: WayTo<M>,
}

enum WayTo<M: Machine> {
    Node(Packet),
    End(M::Output),
}

impl<M: Machine> Way<M> {
    /// To a node.
    pub fn node<N: NodeOf<M> + Payload>(node: N) -> Self {
        Self { exit: 0, to: WayTo::Node(Packet::new(node)) }
    }

    /// To the end.
    pub(super) fn end(output: M::Output) -> Self {
        Self { exit: 0, to: WayTo::End(output) }
    }

    /// What is left behind by a node that goes this way.
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

/// Goes to a node, or to the [`End`]: one of those that the node's return type names.
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

/// Where a node of the machine `M` may lead to: one of its nodes, or [`End`] with its output.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node of the machine `{M}`",
    label = "is not in the `nodes(..)` of `{M}`, nor its `End`"
)]
pub trait Edge<M: Machine>: Sized {
    /// The way there.
    #[doc(hidden)]
    fn exit() -> Exit;

    /// The same, taken.
    #[doc(hidden)]
    fn into_way(self) -> Way<M>;
}

impl<M: Machine, T: OutputOf<M>> Edge<M> for End<T> {
    fn exit() -> Exit {
        Exit::__new("End", [NodeRef::End])
    }

    fn into_way(self) -> Way<M> {
        Way::end(self.0.into_output())
    }
}

/// A list of types: a tuple of up to eight.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of nodes",
    label = "is not a tuple of nodes and `End<_>`",
    note = "write `To<Machine, (A, B)>`; a node that leads to one other returns that node itself"
)]
pub trait List {
    /// A value of one of them.
    type OneOf;
}

/// A list of what a node of the machine `M` may lead to.
pub trait Edges<M: Machine>: List {
    #[doc(hidden)]
    fn exits() -> Vec<Exit>;

    #[doc(hidden)]
    fn way(taken: Self::OneOf) -> Way<M>;
}

/// One of the types in the list `L`, at the place `I`, which is inferred.
#[diagnostic::on_unimplemented(
    message = "the node cannot lead to `{Self}`",
    label = "is not one of `{L}`",
    note = "what a node can lead to is what its return type lists: `To<Machine, (A, B)>`"
)]
pub trait OneOf<L: List, I> {
    #[doc(hidden)]
    fn into_one(self) -> L::OneOf;
}

/// A place in a list.
#[derive(Debug)]
#[doc(hidden)]
pub enum At<const INDEX: usize> {}

macro_rules! lists {
    ($($name:ident($($edge:ident $index:literal),+))*) => {$(
        /// One of so many.
        #[doc(hidden)]
        #[derive(Debug)]
        pub enum $name<$($edge),+> {
            $(
                /// This one.
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
