//! Tasks of nodes with a policy: retries, timeouts, error handlers, cached results.

mod cached;
mod guarded;
mod limited;
mod tries;
mod work;

pub(super) use limited::{NO_TIMER, timer};
pub(crate) use tries::{Due, Tried, Tries};
pub(super) use work::Work;
