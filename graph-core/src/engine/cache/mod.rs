//! Results that are cached: how one is written and read, and when it is put. What a task has to do with them is
//! `engine/policy/cached`.

mod kept;
mod put;

pub(super) use kept::{keep, read};
pub(super) use put::contained_call;
