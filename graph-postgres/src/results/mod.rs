//! The SQL of the node cache.

mod clear;
mod get;
mod put;
mod statements;

pub(crate) use clear::clear;
pub(crate) use get::get;
pub(crate) use put::{Puts, put};
pub(crate) use statements::Statements;
