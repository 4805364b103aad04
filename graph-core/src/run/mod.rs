//! Runs of a graph: options, stepping, stopping and outcomes.

mod opening;
mod options;
pub(crate) mod outcome;
mod stepper;
mod stop;

#[doc(hidden)]
pub use opening::{About, ErasedTarget};
pub(crate) use opening::{ErasedOutcome, Opened, OpenedRun, Opening, OpeningRun, Running, start_on_thread};
pub use options::Run;
#[doc(hidden)]
pub use options::{ContextGiven, HasContext, InMemory, NeedsContext, Target};
pub(crate) use outcome::Outcome;
pub use stepper::Stepper;
pub use stop::Stop;
