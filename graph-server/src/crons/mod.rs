//! Crons: runs that start again and again, at the times of a schedule.

mod schedule;
mod scheduler;
mod scheduler_task;

#[cfg(test)]
mod tests;

pub(crate) use schedule::Schedule;
pub(crate) use scheduler::Scheduler;
pub(crate) use scheduler_task::{next_run, start};
