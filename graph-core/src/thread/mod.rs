//! Threads: runs that are stored, gone on with, looked at, and branched.

mod as_node;
mod at;
mod begin;
mod handle;
mod history;
mod load;
mod persistent;
mod run;
mod snapshot;
mod update;

pub use as_node::{AsNode, StandsFor, as_node};
pub use at::At;
pub use handle::Thread;
pub use history::History;
pub use persistent::PersistentGraph;
pub use run::{IntoAnswers, OnConflict, OnThread, Resuming, WithInput};
pub use snapshot::{Snapshot, TaskError, TaskSnapshot};
pub use update::UpdateThread;
