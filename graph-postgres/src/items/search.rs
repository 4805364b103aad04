use superstep_store::checkpoint::Page;
use superstep_store::store::{Found, ItemKey, Order, Search};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::millis;
use crate::database::Param;

use super::get::Refresh;
use super::name::NameRange;
use super::nearest::nearest;
use super::pgvector::Extension;
use super::row::{StoredItem, corrupt_item, item_key, item_value};
use super::scan::scan;
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

/// A found item, and its score in a semantic search.
pub(super) type Scored = (StoredItem, Option<f32>);

/// The names and the time of a search, as parameters of its statements, and the position of its order in them.
#[derive(Debug)]
pub(super) struct Scope {
    names: NameRange,
    now: i64,
    pub(super) order: usize,
}

impl Scope {
    fn new(search: &Search) -> Self {
        let mut names = if search.within {
            NameRange::within(&search.namespace)
        } else {
            NameRange::of(&search.namespace)
        };
        if let Some(after) = &search.after {
            names.begin_after(after);
        }
        let order = usize::from(search.order == Order::Newest);
        Self { names, now: millis(search.now), order }
    }

    /// Returns the statement of the order of the search.
    pub(super) fn of<'s>(&self, [name, newest]: &'s [String; 2]) -> &'s str {
        if self.order == 0 { name } else { newest }
    }

    /// Returns the parameters of a statement: those of the scope, and then others.
    pub(super) fn params<'p>(&'p self, others: impl IntoIterator<Item = Param<'p>>) -> Vec<Param<'p>> {
        let scope: [Param<'p>; 3] =
            [(&self.names.from, Type::BYTEA), (&self.names.to, Type::BYTEA), (&self.now, Type::INT8)];
        scope.into_iter().chain(others).collect()
    }
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

/// Returns `true` if the value of a row meets the conditions.
pub(super) fn accepts(search: &Search, row: &Row, at: &ItemKey) -> Result<bool, ItemError> {
    let accepted = search.accepts(&item_value(row, at)?);
    accepted.map_err(|reason| corrupt_item(at, reason).into())
}
