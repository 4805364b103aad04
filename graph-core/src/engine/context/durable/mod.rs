//! Interrupts, durable steps and sleeps of a task.
//!
//! A task gets its scratch state ([`TaskScratch`]) on first use. Everything that outlives an attempt is in its [`TaskMemory`].

mod asking;
mod attempted;
mod ids;
mod interrupt;
mod order;
mod retry_progress;
mod scratch;
mod script;
mod sleep;
mod step;
mod step_log;
mod steps;
mod task_memory;
mod timed;
mod timer;
mod turns;

pub(crate) use asking::{wait_again, waits_again};
pub use attempted::Attempted;
pub use interrupt::Interrupt;
pub(crate) use retry_progress::{Due, FailedAttempt, RetryProgress};
pub(crate) use scratch::TaskScratch;
pub(crate) use script::Script;
pub use sleep::Sleep;
pub use step::DurableStep;
pub(crate) use step_log::{Logged, StepLog};
pub use steps::DurableSteps;
pub(crate) use task_memory::{Answered, CacheMemory, CacheResult, TaskMemories, TaskMemory};
pub use timed::TimedInterrupt;
pub(crate) use timer::Timer;
pub(crate) use turns::Untaken;
