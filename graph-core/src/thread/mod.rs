//! Threads: runs that are stored, gone on with, looked at, and branched.

mod again;
mod as_node;
mod as_whom;
mod at;
mod begin;
mod had;
mod handle;
mod history;
mod input;
mod load;
mod no_run;
mod open_task;
mod patience;
mod persistent;
mod resuming;
mod run;
mod snapshot;
mod snapshot_json;
mod unfinished;
mod update;
mod within;

pub use as_node::{AsNode, IntoAsNode, StandsFor, as_node};
pub use at::At;
pub use handle::Thread;
pub use history::History;
#[doc(hidden)]
pub use no_run::RunsByItself;
#[doc(hidden)]
pub use open_task::OpenTask;
pub use persistent::PersistentGraph;
pub use run::{IntoAnswers, OnConflict, OnThread, Resuming, WithInput};
pub use snapshot::{JoinSnapshot, Snapshot, TaskError, TaskSnapshot};
pub use unfinished::{ThreadStatus, Unfinished, UnfinishedThread};
pub use update::UpdateThread;
pub use within::{Outer, SubgraphCall, SubgraphCallAt, UpdateSubgraphCall};
