//! Payloads: stored values, and the strict JSON that they are written in.
//!
//! A value is [`Storable`] if serde can write and read it. Questions, answers, packets, results of durable steps and items of the
//! long-term store are storable values.

pub use superstep_store::payload::*;
