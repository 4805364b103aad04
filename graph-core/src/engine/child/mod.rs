//! Subgraph calls: runs inside a task of a parent run.
//!
//! Such a run has its own driver. The parent run's [`Nest`] provides the rest: the thread on which it is stored in
//! its own namespace, the listeners, and the answers that arrived for it.
//!
//! [`Nest`]: super::nest::Nest

mod call;
mod drive;
mod memory;
mod place;
mod returned;

pub(crate) use call::{Beginning, Call, Came, Kept};
pub(crate) use drive::visit;
pub(in crate::engine) use memory::Begun;
pub(in crate::engine) use place::Place;
pub(crate) use place::{escape, namespace, stored_as};
pub(super) use returned::CallWrites;
pub(crate) use returned::followed_by;
