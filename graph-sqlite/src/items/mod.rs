//! The SQL of the long-term store.

mod error;
mod expired;
mod get;
mod list;
mod row;
mod search;
mod write;

pub(crate) use error::{ItemError, operation, separate_refusal, store_error};
pub(crate) use expired::ExpiredDeletion;
pub(crate) use get::{get, refresh};
pub(crate) use list::list;
pub(crate) use search::search;
pub(crate) use write::write;
