//! Runs: options, awaiting, stepping by hand, outcomes.

mod options;
pub(crate) mod outcome;
mod stepper;

pub use options::{ContextGiven, HasContext, InMemory, NeedsContext, Run, Target};
pub(crate) use options::{Opened, OpenedRun, Opening};
pub(crate) use outcome::Outcome;
pub use stepper::Stepper;
