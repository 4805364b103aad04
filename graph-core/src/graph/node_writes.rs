use crate::engine::ErasedNode;
use crate::state::{WrittenField, WrittenFields};

/// The fields that a node can write; `None` if it can write any.
pub(crate) struct NodeWrites(pub(super) Option<Vec<WrittenField>>);

impl NodeWrites {
    pub(super) const UNKNOWN: Self = Self(None);

    /// Returns the fields of a node whose result can write `own`.
    pub(super) fn of(own: WrittenFields, run: &dyn ErasedNode) -> Self {
        let Some(subgraph) = run.as_subgraph() else { return Self(own.all()) };
        match subgraph.graph() {
            // A parent command replaces the result of the call, and can write any field.
            Some(graph) if graph.parent_commands.is_empty() => {
                if subgraph.is_on_parent_state() {
                    Self(graph.writes.clone())
                } else {
                    Self(own.all())
                }
            }
            _ => Self::UNKNOWN,
        }
    }
}
