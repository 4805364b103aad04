//! The SQL of the node cache.

mod clear;
mod get;
mod put;

pub(crate) use clear::Clearing;
pub(crate) use get::get;
pub(crate) use put::put;
