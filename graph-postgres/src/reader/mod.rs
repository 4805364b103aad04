//! Reading: each call is one statement or one transaction, so that it sees one moment.

mod changes;
mod checkpoints;
mod get;
mod history;
mod list;
mod namespaces;
mod params;
mod threads;

use std::sync::Arc;

use tokio_postgres::Client;

use crate::database::Database;
use crate::error::Error;
use crate::transaction::Work;

pub(crate) use get::{GetPart, get};
pub(crate) use history::history;
pub(crate) use list::list;
pub(crate) use namespaces::namespaces;
pub(crate) use threads::threads;

/// The function that answers a query.
pub(crate) type Reader<Q, T> = for<'c> fn(&'c Client, Arc<Database>, Arc<Q>) -> Work<'c, T, Error>;

/// Begins a transaction that only reads.
///
/// Rows come from an index in their order, and a page ends early. The planner knows nothing about new tables. It might read
/// and sort all rows of a thread or of a status instead.
pub(crate) const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
     SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off; SET LOCAL jit = off";

/// The maximum page size, whatever the query asks for: a page is held in memory.
const PAGE: usize = 1_000;

/// Returns the number of rows to read for a page: one more than it has, to know if there are more.
fn rows(limit: Option<usize>) -> (usize, i64) {
    let limit = limit.unwrap_or(PAGE).min(PAGE);
    (limit, i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
}
