//! Cached node results: their stored form, and calls of the cache.

mod cached_result;
mod call;

pub(crate) use cached_result::{keep, read};
pub(crate) use call::contained_call;
