//! The context of a task: its place in the run, its interrupts, durable steps and sleeps, and the data it shares with
//! the other tasks of the run.

#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod context;
mod counted_waker;
mod durable;
mod erased;
mod parent_run;
mod reported_stops;
mod run_metadata;
mod stop_point;

pub(crate) use context::RunShared;
pub use context::{Context, ContextWith};
pub(crate) use counted_waker::CountedWaker;
pub(crate) use durable::{
    Answered, CacheMemory, CacheResult, Due, FailedAttempt, Logged, RetryProgress, StepLog, TaskMemories,
    TaskMemory, TaskScratch, Timer, Untaken, wait_again, waits_again,
};
pub use durable::{Attempted, DurableStep, DurableSteps, Interrupt, Sleep, TimedInterrupt};
pub(crate) use erased::{AppContext, ErasedContext, ErasedContexts};
pub(crate) use parent_run::{Inherited, ParentRun};
pub(crate) use run_metadata::RunMetadata;
pub(crate) use stop_point::StopPoint;
