//! Runs: options, awaiting, stepping by hand, outcomes.

mod options;
pub(crate) mod outcome;
mod stepper;

pub use options::{ContextGiven, HasContext, NeedsContext, Run};
pub(crate) use outcome::Outcome;
pub use stepper::Stepper;
