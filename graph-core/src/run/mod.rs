//! Runs of a graph: options, stepping, stopping and outcomes.

mod options;
pub(crate) mod outcome;
mod stepper;
mod stop;

pub use options::Run;
#[doc(hidden)]
pub use options::{About, ContextGiven, HasContext, InMemory, NeedsContext, Target};
pub(crate) use options::{Opened, OpenedRun, Opening};
pub(crate) use outcome::Outcome;
pub use stepper::Stepper;
pub use stop::Stop;
