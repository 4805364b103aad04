//! Threads: stored runs that can be resumed, inspected, updated, and branched.

mod as_node;
mod at;
mod conflict_wait;
pub(crate) mod erased;
mod find_run;
mod handle;
mod history;
mod load;
mod open_task;
mod persistent;
mod raw_snapshot;
mod resolve_as_node;
mod resuming;
mod run;
mod run_again;
mod run_hint;
mod snapshot;
mod snapshot_json;
mod start_run;
mod status;
mod subgraph_calls;
mod thread_run;
mod unfinished;
mod update;
mod with_input;

pub use as_node::{AsNode, as_node};
#[doc(hidden)]
pub use as_node::{AsNodeTarget, IntoAsNode};
pub use at::ThreadAt;
pub use handle::Thread;
pub use history::History;
#[doc(hidden)]
pub use open_task::OpenTask;
pub use persistent::PersistentGraph;
pub use run::{IntoAnswers, OnConflict, OnThread, Resuming, RunAgain, WithInput};
#[doc(hidden)]
pub use run_hint::RunHint;
pub use snapshot::{JoinSnapshot, Snapshot, TaskError, TaskSnapshot, TaskStatus};
pub use status::ThreadStatus;
#[doc(hidden)]
pub use subgraph_calls::CallParent;
pub use subgraph_calls::{SubgraphCall, SubgraphCallAt, UpdateSubgraphCall};
pub use unfinished::{Unfinished, UnfinishedThread};
pub use update::UpdateThread;
