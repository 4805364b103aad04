//! Threads: what is stored, and how it is gone on with.

mod basics;
mod questions;
mod time_travel;
