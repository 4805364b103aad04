//! The events of runs, for any number of readers that come and go.

mod event_id;
mod event_log;
mod log_budget;
mod log_reader;

pub(crate) use event_id::{EventId, Position, Resume};
pub(crate) use event_log::{EventLog, LoggedEvent};
pub(crate) use log_budget::LogBudget;
pub(crate) use log_reader::LogReader;
#[cfg(test)]
pub(crate) use log_reader::Missed;
