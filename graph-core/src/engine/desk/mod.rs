//! Interrupts, durable steps and sleeps of a task.
//!
//! A task gets its scratch state ([`Desk`]) on first use. Everything that outlives an attempt is in its [`Memo`].

#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod desk;
mod ids;
mod interrupt;
mod memo;
mod order;
mod script;
mod sleep;
mod step;
mod step_log;
mod steps;
mod timed;
mod timer;

pub(crate) use desk::Desk;
pub use interrupt::Interrupt;
pub(in crate::engine) use interrupt::{wait_again, waits_again};
pub(crate) use memo::{Answered, CacheMemo, CacheResult, Memo, Memos};
pub(in crate::engine) use order::Untaken;
pub use script::Attempted;
pub(crate) use script::Script;
pub use sleep::Sleep;
pub use step::DurableStep;
pub(crate) use step_log::{Logged, StepLog};
pub use steps::DurableSteps;
pub use timed::TimedInterrupt;
pub(crate) use timer::Timer;
