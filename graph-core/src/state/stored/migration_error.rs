/// The reason why stored data cannot be used by the program's version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// A newer version of the program has stored the state or the question.
    #[error(
        "`{state}` is stored in version {found}, but this program supports versions up to {known}: use a newer version of it"
    )]
    Newer {
        /// The name of the state or the question.
        state: &'static str,
        /// The stored version.
        found: u32,
        /// The program's version.
        known: u32,
    },

    /// The migration function of the state or the question failed.
    #[error("the migration of `{state}` from version {from} failed: {reason}")]
    Failed {
        /// The name of the state or the question.
        state: &'static str,
        /// The stored version.
        from: u32,
        /// The message of the function's error.
        reason: String,
    },

    /// A stored value could not be changed.
    #[error("the stored field `{field}` cannot be changed: {reason}")]
    Change {
        /// The field's stored name.
        field: String,
        /// The reason.
        reason: String,
    },

    /// A stored packet, or the stored data of a node, does not fit its type.
    #[error(
        "the packet of {of} cannot be read: {reason}; let its type read the old JSON, for example with `#[serde(default)]` \
         on a new field, or discard the pending tasks with `abandon_pending()`"
    )]
    Packet {
        /// The node that the packet is for, or the exit of the route that sent it.
        of: String,
        /// The reason.
        reason: String,
    },

    /// A finished task has taken a way out of its node that does not exist any more.
    #[error(
        "the stored route of node `{node}` cannot be taken: {reason}; restore the way, give a renamed variant its old name \
         with `#[route(label = \"..\")]`, or discard the pending tasks with `abandon_pending()`"
    )]
    Route {
        /// The node.
        node: String,
        /// The reason.
        reason: String,
    },
}
