//! One task: its attempts under its policy, its result, and the cache.

mod attempt;
mod cache;
mod encoded;
mod policy;
mod spanned;
#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod task;

pub(crate) use attempt::{Attempt, LoneAttempt};
pub(crate) use cache::contained_call;
pub(crate) use encoded::{Builder, Encoded, EncodedWrite, Keep, NotEncoded};
pub(crate) use policy::{NO_TIMER, Work, timer};
pub(crate) use task::{Failed, Finished, Suspended, Unfinished, finish, start_failed};
