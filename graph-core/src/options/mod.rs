//! The options of a run.

mod breakpoints;
pub(crate) mod clock;
mod run_options;
mod stop;

pub(crate) use breakpoints::{AddedBreakpoints, Breakpoints};
pub(crate) use clock::{from_millis, now, to_millis};
pub(crate) use run_options::RunOptions;
pub use run_options::{DEFAULT_RECURSION_LIMIT, Durability, FailureMode};
pub use stop::Stop;
pub use superstep_store::Metadata;
