//! Cached node results: their stored form, and storing them after a superstep was applied. The lookup is in
//! `engine/policy/cached`.

mod kept;
mod put;

pub(super) use kept::{keep, read};
pub(super) use put::contained_call;
