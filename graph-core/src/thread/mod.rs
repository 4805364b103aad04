//! Threads: stored runs that can be resumed, inspected, updated, and branched.

mod as_node;
mod at;
mod call_reader;
mod call_snapshot;
mod call_tasks;
mod calls;
mod checkpointer_first;
mod conflict_wait;
mod copy;
mod cut_calls;
mod delete;
pub(crate) mod erased;
pub(crate) mod find_request;
mod find_run;
mod goto;
mod handle;
mod history;
pub(crate) mod history_pages;
mod listed_thread;
pub(crate) mod load;
mod on_conflict;
mod other_names;
mod persistent;
pub(crate) mod picture;
mod raw_snapshot;
pub(crate) mod request_digest;
pub(crate) mod resolve_as_node;
mod resolve_goto;
mod resolve_route;
mod resuming;
mod roll_back;
pub(crate) mod run;
mod run_again;
mod run_hint;
mod snapshot;
mod snapshot_json;
mod start_run;
mod status;
mod thread_cursor;
mod thread_list;
mod thread_run;
mod undo;
mod update;
mod with_input;

#[doc(hidden)]
pub use crate::subgraph::calls::CallParent;
pub use crate::subgraph::calls::{SubgraphCall, SubgraphCallAt, UpdateSubgraphCall};
pub use as_node::{AsNode, as_node, keep_plan};
#[doc(hidden)]
pub use as_node::{AsNodeTarget, IntoAsNode};
pub use at::ThreadAt;
pub use call_snapshot::{CallSnapshot, CallTask};
pub use calls::CallHistory;
#[doc(hidden)]
pub use checkpointer_first::CheckpointerFirst;
pub use copy::CopyThread;
pub use delete::DeleteThread;
pub use goto::{Goto, IntoGoto, send};
pub use handle::Thread;
pub use history::History;
pub use listed_thread::ListedThread;
pub use on_conflict::OnConflict;
#[doc(hidden)]
pub use other_names::{GetStateHistory, GetThreadState, InvokeThread, UpdateState};
pub use persistent::PersistentGraph;
pub use roll_back::RollBack;
pub use run::{IntoAnswers, OnThread, Resuming, RunAgain, WithInput};
#[doc(hidden)]
pub use run_hint::RunHint;
pub use snapshot::{JoinSnapshot, Snapshot, TaskError, TaskSnapshot, TaskStatus};
pub use status::ThreadStatus;
pub use thread_cursor::{InvalidThreadCursor, ThreadCursor};
pub use thread_list::ThreadList;
pub use update::UpdateThread;
