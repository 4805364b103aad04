//! Nodes and route functions on their way from the text of a graph to the builder.
//!
//! The builder and the constant that checks the text call the same function on a node. So rustc says the same of both if
//! the node has no shape, and says it once.

use std::marker::PhantomData;

use crate::node::{Decide, Shape, Signature};
use crate::step::IntoLeave;

/// A node. `M` is the marker of its shape.
pub struct Known<N, M> {
    /// The node itself.
    pub node: N,
    marker: PhantomData<fn(M)>,
}

/// Recognises a node.
pub const fn known<N: Shape<M>, M>(node: N) -> Known<N, M> {
    Known { node, marker: PhantomData }
}

/// A signature with a result.
pub trait Returned {
    /// The result.
    type Out;
}

#[diagnostic::do_not_recommend]
impl<Args, Out> Returned for Signature<Args, Out> {
    type Out = Out;
}

/// The result of a node.
pub(super) type OutOf<N, M> = <<N as Shape<M>>::Signature as Returned>::Out;

/// A route function. `R` is its route.
pub struct Decided<F, R> {
    /// The function itself.
    pub decide: F,
    route: PhantomData<fn(R)>,
}

type RouteOf<F, M> = <<F as Decide<M>>::Signature as Returned>::Out;

/// Recognises a route function.
// In the result, the route is a projection: if the bound does not hold, rustc says nothing more about the value.
pub const fn decided<F, M>(decide: F) -> Decided<F, <RouteOf<F, M> as IntoLeave>::Route>
where
    F: Decide<M>,
    F::Signature: Returned,
    RouteOf<F, M>: IntoLeave,
{
    Decided { decide, route: PhantomData }
}
