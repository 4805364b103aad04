use std::borrow::Cow;

use super::identity::NodeRef;
use super::read_state::ReadState;

/// A function that collects the states that a node reads.
pub(crate) type States = fn(&mut Vec<ReadState>);

/// A destination of an exit.
#[derive(Clone, Debug)]
pub struct ExitTarget {
    pub(crate) node: NodeRef,
    /// Collects the states that the node reads. `None` for a name.
    pub(crate) states: Option<States>,
}

impl ExitTarget {
    /// Refers to the node with this name.
    #[doc(hidden)]
    pub fn named(name: &'static str) -> Self {
        NodeRef::Named(Cow::Borrowed(name)).into()
    }
}

impl From<NodeRef> for ExitTarget {
    fn from(node: NodeRef) -> Self {
        Self { node, states: None }
    }
}
