//! Runs graphs: execute a superstep's tasks, apply what they wrote, plan the next.

mod apply;
mod attempt;
mod begin;
pub(crate) mod child;
mod commit;
mod cx;
mod decide;
mod desk;
mod driver;
mod encoded;
mod ephemeral;
mod execute;
mod gates;
mod halt;
mod ledger;
mod nest;
mod options;
mod parts;
pub(crate) mod persist;
mod policy;
mod reject;
mod spans;
mod stopping;
mod task;

pub(crate) use attempt::contained;
pub(crate) use begin::{started, updated};
pub(crate) use cx::RunShared;
pub use cx::{Ctx, Cx};
pub(crate) use desk::Memos;
pub use desk::{Attempted, DurableStep, Interrupt};
pub(crate) use driver::{Driver, not_filled};
pub(crate) use nest::Nest;
pub(crate) use options::RunOptions;
pub use options::{DEFAULT_RECURSION_LIMIT, Durability, FailureMode, Metadata};
pub(crate) use parts::rebuild;
pub(crate) use spans::RunSpan;
