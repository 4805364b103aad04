//! Histories: checkpoints with their records, and the changes since their nearest listed ancestors.

mod distribute;
mod fetch;
mod plan;

use std::sync::Arc;

use futures_util::future::join;
use superstep_store::checkpoint::{
    CheckpointId, CheckpointQuery, HistoryEntry, Page, StoredField, TaskRecord,
};
use tokio_postgres::Client;

use crate::database::Database;
use crate::error::Error;
use crate::transaction::Work;

use super::list::{Listed, Pages};
use distribute::distribute;
use fetch::{ByteBudget, Fetch, Fetched};
use plan::Plan;

/// A page with more bytes is read again with fewer checkpoints.
const MAX_BYTES: usize = 32 << 20;

/// Lists checkpoints with their records and changes, in the order of the query.
pub(crate) fn history(
    client: &Client,
    database: Arc<Database>,
    wanted: Arc<CheckpointQuery>,
) -> Work<'_, Page<HistoryEntry>, Error> {
    Box::pin(async move {
        let mut pages = Pages::new(&wanted, wanted.limit);
        loop {
            let selection = pages.selection(&database);
            let budget = ByteBudget::new(if pages.limit == 1 { usize::MAX } else { MAX_BYTES });
            // One round trip.
            let fetch = Fetch { client, selection: &selection, budget: &budget };
            let (rows, fetched) = join(pages.read(client, &selection), fetch.all()).await;
            let is_complete = pages.add(&rows?)?;
            let Page { items, more, .. } = pages.take();
            let fetched = fetched?;
            if items.is_empty() && !is_complete {
                // Only checkpoints whose metadata have the tags of others were selected: reads on after them.
                continue;
            }
            let progress = items.iter().filter_map(|listed| listed.checkpoint.progress.as_ref());
            let fits = budget.take(progress.map(|progress| progress.len()).sum());
            if let Some(fetched) = fetched.filter(|_| fits) {
                return Ok(Page::new(entries(items, fetched)?, more || !is_complete));
            }
            pages = Pages::new(&wanted, Some((items.len() / 4).max(1)));
        }
    })
}

/// The parts of an entry that are read after its checkpoint.
#[derive(Default)]
struct Parts {
    base: Option<CheckpointId>,
    fields: Vec<StoredField>,
    records: Vec<TaskRecord>,
}

/// Makes the entries of a page from the rows that were read for it.
fn entries(listed: Vec<Listed>, fetched: Fetched) -> Result<Vec<HistoryEntry>, Error> {
    let Fetched { parents, fields, mut records, rows } = fetched;
    let members = plan::members(&listed);
    let plan = Plan::new(&members, &parents)?;
    let mut parts: Vec<Parts> = Vec::with_capacity(listed.len());
    for found in &listed {
        let records = records.remove(&found.checkpoint.id).unwrap_or_default();
        parts.push(Parts { records, ..Parts::default() });
    }
    for (id, field) in &fields {
        distribute(&plan, *id, field, &rows, &mut parts)?;
    }
    for (position, base) in plan.bases() {
        if let Some(parts) = parts.get_mut(position) {
            parts.base = base;
        }
    }
    let entry = |(found, parts): (Listed, Parts)| {
        HistoryEntry::new(found.checkpoint, parts.fields, parts.records).base(parts.base)
    };
    Ok(listed.into_iter().zip(parts).map(entry).collect())
}
