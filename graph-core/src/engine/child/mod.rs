//! Subgraph calls: runs inside a task of a parent run.
//!
//! Such a run has its own driver. The parent run's [`ParentRun`] provides the rest: the thread on which it is stored in
//! its own namespace, the listeners, and the answers that arrived for it.
//!
//! [`ParentRun`]: super::context::ParentRun

mod call;
mod call_in_memory;
mod call_on_thread;
mod parents;
mod place;
mod run_call;

pub(crate) use call::Call;
pub(crate) use call::{CallStart, ErasedCallResult};
pub(crate) use call_in_memory::StartedCall;
pub(crate) use parents::ParentHead;
pub(crate) use parents::{call_id, journals, shared_from_outside, thread_task, withdraw, write_to_parents};
pub(crate) use place::{CallPlace, escape, namespace, stored_as, unescape};
pub(crate) use run_call::run_call;
