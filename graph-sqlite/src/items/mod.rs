//! The long-term store: what its calls do with a connection.

mod fault;
mod get;
mod list;
mod place;
mod put;
mod row;
mod search;
mod sweep;

pub(crate) use fault::{Fault, about, error, settle};
pub(crate) use get::{get, refresh};
pub(crate) use list::list;
pub(crate) use put::write;
pub(crate) use search::search;
pub(crate) use sweep::Sweep;
