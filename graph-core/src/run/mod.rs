//! Runs of a graph: options, stepping, stopping and outcomes.

mod begun;
mod into_context;
mod opening;
mod options;
pub(crate) mod run_stream;
mod stepper;

#[doc(hidden)]
pub use crate::engine::About;
pub(crate) use begun::{Begun, BoxedResult};
#[doc(hidden)]
pub use into_context::IntoContext;
#[doc(hidden)]
pub use opening::ErasedTarget;
pub(crate) use opening::{ErasedOutcome, Opened, OpenedRun, Opening, OpeningRun, Running, start_on_thread};
pub use options::Run;
pub(crate) use options::RunPlan;
#[doc(hidden)]
pub use options::{ContextGiven, HasContext, InMemory, NeedsContext, Target};

pub use crate::options::Stop;
pub use stepper::Stepper;
