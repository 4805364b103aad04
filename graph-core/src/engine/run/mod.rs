//! A run: the loop over supersteps, the execution of its tasks, stops, and what of it is stored.

mod answer;
mod at_breakpoint;
mod breakpoints;
mod broken;
mod cache_results;
mod commit;
mod driver;
mod execute;
mod lent_contexts;
mod outcomes;
mod pause;
mod status;
mod stopping;
mod store;
mod superstep;
mod task_pool;

pub(crate) use breakpoints::RunBreakpoints;
pub(crate) use broken::{caught, caught_call};
pub(crate) use driver::{Driver, not_filled};
pub(crate) use store::run_record;
