//! Runs: options, awaiting, stepping by hand, outcomes.

mod options;
mod outcome;
mod stepper;

pub use options::{ContextGiven, HasContext, NeedsContext, Run};
pub use outcome::Outcome;
pub use stepper::Stepper;
