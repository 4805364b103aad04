use std::any::TypeId;
use std::sync::Arc;

use crate::engine::ErasedNode;
use crate::erased::PacketType;
use crate::state::WrittenFields;
use crate::step::{Exit, NodeRef, ParentCommandType};

use super::node_writes::NodeWrites;

/// A node as it is handed to the draft.
pub(crate) struct Registration {
    pub(crate) node: NodeRef,
    pub(crate) value: ValueId,
    pub(crate) run: Box<dyn ErasedNode>,
    pub(crate) exits: Option<Vec<Exit>>,
    pub(crate) parent_commands: Vec<ParentCommandType>,
    pub(crate) received_commands: Vec<ParentCommandType>,
    pub(crate) packet: Option<PacketType>,
    pub(crate) writes: NodeWrites,
}

/// The functions that describe the types of a node.
// Called in `register_node`, which is compiled once: their results would have to be dropped here if a later one panicked.
pub(super) struct NodeTypes {
    pub(super) exits: fn() -> Option<Vec<Exit>>,
    pub(super) parent_commands: fn() -> Vec<ParentCommandType>,
    pub(super) packet: fn() -> Option<PacketType>,
    pub(super) writes: WrittenFields,
}

impl Registration {
    /// Describes the only node of a graph.
    pub(super) fn alone(node: NodeRef, run: Box<dyn ErasedNode>, value: TypeId) -> Self {
        let value = ValueId(value, None);
        Self {
            node,
            value,
            run,
            exits: None,
            parent_commands: Vec::new(),
            received_commands: Vec::new(),
            packet: None,
            writes: NodeWrites::UNKNOWN,
        }
    }
}

/// The identity of the value that a node was made from: its type, and its address if values of that type can differ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueId(TypeId, Option<usize>);

impl ValueId {
    pub(super) fn of<F: 'static>(run: &Arc<F>) -> Self {
        let carries = size_of::<F>() > 0;
        Self(TypeId::of::<F>(), carries.then(|| Arc::as_ptr(run).addr()))
    }
}
