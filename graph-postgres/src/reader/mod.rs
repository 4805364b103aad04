//! Reading: each call is one statement or one transaction, so that it sees one moment.

mod changes;
mod checkpoints;
mod get;
mod history;
mod list;
mod namespaces;
mod params;
mod threads;

pub(crate) use get::{GetPart, get};
pub(crate) use history::history;
pub(crate) use list::list;
pub(crate) use namespaces::namespaces;
pub(crate) use threads::threads;

/// The maximum page size, whatever the query asks for: a page is held in memory.
const PAGE: usize = 1_000;

/// Returns the number of rows to read for a page: one more than it has, to know if there are more.
fn rows(limit: Option<usize>) -> (usize, i64) {
    let limit = limit.unwrap_or(PAGE).min(PAGE);
    (limit, i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
}
