//! Threads: what is stored, and how it is gone on with.

mod answers;
mod basics;
mod breakpoints;
mod ephemeral;
mod evolution;
mod first_use;
mod going_on;
mod golden;
mod growth;
mod model;
mod names;
mod questions;
mod resuming;
mod secrets;
mod steps;
mod stores;
mod story;
mod time_travel;
mod unstorable;
