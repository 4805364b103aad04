//! A run within a task of another: what a subgraph is as a node.
//!
//! It is a run like any other, with its own driver. What it needs of the run around it is in that one's [`Nest`]: the
//! thread that it is stored on, under a namespace of its own; who listens; the answers that came for it.
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
pub(super) use returned::Returned;
