//! The SQL of the long-term store.

mod error;
mod expired;
mod get;
mod list;
mod name;
mod nearest;
mod pgvector;
mod plan;
mod row;
mod scan;
mod scope;
mod search;
mod statements;
mod write;

pub(crate) use error::{ItemError, separate_refusal};
pub(crate) use expired::delete_expired;
pub(crate) use get::{Refresh, get, refresh};
pub(crate) use list::list;
pub(crate) use pgvector::Extension;
pub(crate) use plan::Plan;
pub(crate) use scan::BEGIN;
pub(crate) use search::search;
pub(crate) use statements::Statements;
pub(crate) use write::write;
