//! Tasks of nodes with a policy: retries, timeouts, error handlers, cached results.

mod cached;
mod guarded;
mod limited;
mod work;

pub(crate) use limited::{NO_TIMER, timer};
pub(crate) use work::Work;
