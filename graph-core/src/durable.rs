//! The futures of durable steps and sleeps.
//!
//! - [`Context::step`](crate::Context::step) runs a future once, even if the node runs again.
//! - [`Context::steps`](crate::Context::steps) runs several such steps at the same time.
//! - [`Context::sleep`](crate::Context::sleep) and [`Context::sleep_until`](crate::Context::sleep_until) wait for a time that
//!   is stored, so that the wait survives a restart.

pub use crate::engine::{DurableStep, DurableSteps, Sleep};
