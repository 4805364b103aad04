use std::marker::PhantomData;
use std::sync::Arc;

use crate::node::{Body, Shape, Signature};
use crate::step::NodeRef;

/// A reference to a node of a machine. See [`Machine::node`](super::Machine::node).
pub struct NodeHandle<M, N> {
    name: &'static str,
    node: PhantomData<fn() -> (M, N)>,
}

impl<M, N> NodeHandle<M, N> {
    /// Refers to the node `N` by its name.
    pub(super) fn named(name: &'static str) -> Self {
        Self { name, node: PhantomData }
    }
}

impl<M, N> Clone for NodeHandle<M, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, N> Copy for NodeHandle<M, N> {}

impl<M, N> std::fmt::Debug for NodeHandle<M, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NodeHandle").field(&self.name).finish()
    }
}

/// Marks the shape of a [`NodeHandle`].
#[derive(Debug)]
pub enum IsNodeHandle {}

#[diagnostic::do_not_recommend]
impl<M, N> Shape<IsNodeHandle> for NodeHandle<M, N> {
    type Signature = Signature<(), ()>;
    type Body = Body<Self>;

    fn into_body(self) -> Body<Self> {
        Body { node: NodeRef::Named(self.name.into()), run: Arc::new(self) }
    }
}
