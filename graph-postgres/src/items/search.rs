use superstep_store::checkpoint::Page;
use superstep_store::store::{Found, Search};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::get::Refresh;
use super::nearest::nearest;
use super::pgvector::Extension;
use super::row::{StoredItem, item_key};
use super::scan::scan;
use super::scope::{Scope, Scored, accepts};
use super::{ItemError, Statements};

/// Returns the matching items, and the rows whose time to live must restart. Call this in a transaction.
pub(crate) async fn search(
    client: &Client,
    statements: &Statements,
    extension: &Extension,
    search: &Search,
) -> Result<(Page<Found>, Vec<Refresh>), ItemError> {
    let scope = Scope::new(search);
    let mut page = match &search.near {
        Some(near) => nearest(client, statements, extension, search, &scope, near).await?,
        None if search.conditions.is_empty() => in_order(client, statements, search, &scope).await?,
        None => accepted(client, statements, search, &scope).await?,
    };
    let mut refreshes = Vec::new();
    if search.refresh {
        for (stored, _) in &mut page.items {
            if stored.refresh(search.now) {
                refreshes.extend(Refresh::of(stored));
            }
        }
    }
    let items = page.items.into_iter().map(|(stored, score)| Found::new(stored.item, score));
    Ok((Page::new(items.collect(), page.more), refreshes))
}

/// Reads a page of items without conditions: the server skips and counts them.
async fn in_order(
    client: &Client,
    statements: &Statements,
    search: &Search,
    scope: &Scope,
) -> Result<Page<Scored>, ItemError> {
    let offset = i64::try_from(search.offset).unwrap_or(i64::MAX);
    let limit = search.limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1));
    let params = scope.params([(&offset as _, Type::INT8), (&limit as _, Type::INT8)]);
    let rows = client.query_typed(scope.of(&statements.page), &params).await?;
    let limit = search.limit.unwrap_or(usize::MAX);
    let items = rows.iter().take(limit).map(|row| Ok((StoredItem::read(row)?, None)));
    Ok(Page::new(items.collect::<Result<_, ItemError>>()?, rows.len() > limit))
}

/// Reads items until the page is full of those that meet the conditions.
async fn accepted(
    client: &Client,
    statements: &Statements,
    search: &Search,
    scope: &Scope,
) -> Result<Page<Scored>, ItemError> {
    let limit = search.limit.unwrap_or(usize::MAX);
    let mut page = Page::new(Vec::new(), false);
    let mut skipped = 0;
    let params = scope.params([(&true as _, Type::BOOL)]);
    scan(client, scope.of(&statements.scan), &params, |row| {
        if !accepts(search, row, &item_key(row)?)? {
            return Ok(true);
        }
        if skipped < search.offset {
            skipped += 1;
        } else if page.items.len() < limit {
            page.items.push((StoredItem::read(row)?, None));
        } else {
            page.more = true;
        }
        Ok(!page.more)
    })
    .await?;
    Ok(page)
}
