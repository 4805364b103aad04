//! A task of a node with a policy: tried again, timed. Nodes without one know nothing of it.

mod cached;
mod guarded;
mod limited;
mod tries;
mod work;

pub(super) use limited::{NO_TIMER, timer};
pub(crate) use tries::{Due, Tried, Tries};
pub(super) use work::Work;
