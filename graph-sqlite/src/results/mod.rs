//! Results of nodes: what the calls of the cache do with a connection.

mod clear;
mod get;
mod put;

pub(crate) use clear::Clearing;
pub(crate) use get::get;
pub(crate) use put::put;
