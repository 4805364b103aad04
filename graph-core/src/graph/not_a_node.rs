//! The bounds of the builder on a value that is not a node. They never hold, and rustc says what to write instead. Here are also
//! those values that are described with types of this folder: graphs, and functions that are not async.

use std::marker::PhantomData;

use crate::StateGraph;
use crate::node::{Instead, NotANode, Shape, instead};
use crate::state::GraphState;
use crate::step::NodeRef;

use super::draft_handler::DraftHandler;
use super::text::{KnownWays, Returned};
use super::{
    Draft, Enters, Graph, HandlerReadable, Handles, Leaves, Listed, NoPacketOf, Readable, Registers,
    Returning,
};

// Bounds with the same cause are reported once. Those that come first have the words.
impl<S, D, K: Instead> Readable<S, D> for NotANode<K> {}

impl<S, D, K: Instead> HandlerReadable<S, D> for NotANode<K> {}

impl<S, K> Returning<S> for NotANode<K> {}

impl<S, K> NoPacketOf<S> for NotANode<K> {}

impl<S: GraphState, D, K: Instead> Registers<S, D, Self> for NotANode<K> {
    fn register(_: Self, _: &mut Draft) -> NodeRef {
        K::never()
    }
}

impl<S: GraphState, D, K: Instead> Leaves<S, D, Self> for NotANode<K> {
    fn leave(_: Self, _: &mut Draft) -> NodeRef {
        K::never()
    }
}

impl<S: GraphState, D, K: Instead> Enters<S, D, Self> for NotANode<K> {
    fn enter(_: Self, _: &mut Draft, _: &mut Vec<NodeRef>) {
        K::never()
    }
}

impl<S: GraphState, D, K: Instead> Listed<S, D, Self> for NotANode<K> {
    fn list(_: Self, _: &mut Draft, _: &mut Vec<NodeRef>) {
        K::never()
    }
}

impl<S: GraphState, D, K: Instead> Handles<S, D, Self> for NotANode<K> {
    fn handler(_: Self) -> DraftHandler {
        K::never()
    }
}

// The checks of a text say nothing of such a value: the builder does.
impl<K> Returned for NotANode<K> {
    type Out = ();
}

instead! {
    /// A graph that is not a node yet.
    WholeGraph, AsNodeFirst:
    "a graph is not a node", "a graph",
    ["write `graph.as_node(\"name\")`, which makes a subgraph of the compiled graph"],
    [S: GraphState, D] Graph<S, D>;
    ['a, S: GraphState, D] &'a Graph<S, D>;
    [S: GraphState, D] StateGraph<S, D>;
    ['a, S: GraphState, D] &'a StateGraph<S, D>;
}

/// A function that returns an update or a route, and not a future.
pub struct BlockingFunction<T>(PhantomData<fn(T)>);

/// Never implemented. It produces rustc's message about a function that is not async.
#[diagnostic::on_unimplemented(
    message = "this function is not async",
    label = "not an async function",
    note = "write `async fn`, even if it awaits nothing; work that blocks belongs into `tokio::task::spawn_blocking`"
)]
pub trait WriteAsync {
    /// Never called, because nothing implements the trait.
    fn never<R>() -> R;
}

impl<T: WriteAsync> Instead for BlockingFunction<T> {
    fn never<R>() -> R {
        T::never()
    }
}

/// A value that a function without `async` returns: no future, and no result with [`KnownWays`].
pub trait BlockingResult {}

#[diagnostic::do_not_recommend]
impl<T, E> BlockingResult for Result<T, E> {}

macro_rules! blocking_results {
    ($($ty:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl BlockingResult for $ty {}
    )*};
}

blocking_results! { bool char f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize &str String serde_json::Value }

/// Marks a [`BlockingFunction`] that returns a [`BlockingResult`].
pub struct ReturnsValue<T>(PhantomData<fn(T)>);

macro_rules! blocking_functions {
    ($(($($param:ident)*))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<Func, Out, $($param),*> Shape<ReturnsValue<fn($($param),*) -> Out>> for Func
        where
            Func: Fn($($param),*) -> Out,
            Out: BlockingResult,
        {
            type Signature = NotANode<BlockingFunction<Func>>;
            type Body = NotANode<BlockingFunction<Func>>;

            fn into_body(self) -> Self::Body {
                NotANode::new()
            }
        }

        #[diagnostic::do_not_recommend]
        impl<Func, Out, $($param),*> Shape<BlockingFunction<fn($($param),*) -> Out>> for Func
        where
            Func: Fn($($param),*) -> Out,
            Out: KnownWays,
        {
            type Signature = NotANode<BlockingFunction<Func>>;
            type Body = NotANode<BlockingFunction<Func>>;

            fn into_body(self) -> Self::Body {
                NotANode::new()
            }
        }
    )*};
}

blocking_functions! { () (A) (A B) (A B C) (A B C E) }
