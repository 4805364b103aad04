//! The engine: executes the tasks of a superstep, applies their updates and plans the next superstep.

mod also_null;
mod apply;
mod at;
mod attempt;
mod begin;
mod broken;
mod cache;
pub(crate) mod child;
pub(crate) mod clock;
mod commit;
mod crew;
mod cx;
mod decide;
mod desk;
mod driver;
mod encoded;
mod ephemeral;
mod erased;
mod execute;
mod gates;
mod halt;
mod ledger;
mod nest;
mod options;
mod parts;
pub(crate) mod persist;
mod policy;
mod probe;
mod reject;
mod spans;
mod spares;
mod stopping;
mod superstep;
mod task;

pub(crate) use attempt::contained;
pub(crate) use begin::{started, updated};
pub(crate) use broken::{caught, caught_call};
pub(crate) use commit::own;
pub(crate) use cx::RunShared;
pub use cx::{Context, ContextWith};
pub(crate) use desk::Memos;
pub use desk::{Attempted, DurableStep, DurableSteps, Interrupt, Sleep, TimedInterrupt};
pub(crate) use driver::{Driver, not_filled};
pub(crate) use erased::StateTypeOf;
#[doc(hidden)]
pub(crate) use erased::{
    AppContext, ErasedContext, ErasedInput, ErasedStart, ErasedState, ErasedUndos, ErasedWrites, StateType,
    TaskWrites,
};
pub(crate) use nest::Nest;
pub(crate) use options::RunOptions;
pub use options::{DEFAULT_RECURSION_LIMIT, Durability, FailureMode};
pub(crate) use parts::rebuild;
pub(crate) use spans::RunSpan;
pub(crate) use spares::SparePool;
pub use superstep_store::Metadata;
pub(crate) use task::{not_prepared, prepare};
