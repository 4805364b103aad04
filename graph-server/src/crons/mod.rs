//! Crons: runs that start again and again, at the times of a schedule.

mod schedule;
mod scheduler;

#[cfg(test)]
mod tests;

pub(crate) use schedule::Schedule;
pub(crate) use scheduler::{Scheduler, next_run, start};
