//! The ids of checkpoints, tasks and questions as clients see them.

use sha2::{Digest as _, Sha256};
use superstep::checkpoint::CheckpointId;
use superstep::interrupt::OpenInterrupt;
use uuid::Uuid;

/// Returns the id of a checkpoint as a UUID. The ids sort like those of the checkpoints, also as strings.
pub(crate) fn checkpoint_uuid(id: CheckpointId) -> String {
    Uuid::from_bytes(id.to_bytes()).to_string()
}

/// Reads the id of a checkpoint, in the form that clients see or in that of the library.
pub(crate) fn read_checkpoint_id(text: &str) -> Option<CheckpointId> {
    match Uuid::try_parse(text) {
        Ok(id) => Some(CheckpointId::from_bytes(id.into_bytes())),
        Err(_) => text.parse().ok(),
    }
}

/// Returns the id of a task as a UUID.
pub(crate) fn task_uuid(id: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, id.as_bytes()).to_string()
}

/// Returns the id of a question: 32 hexadecimal digits, by which clients recognize the id of a question.
pub(crate) fn interrupt_id(open: &OpenInterrupt) -> String {
    let digest = Sha256::digest(open.id.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
