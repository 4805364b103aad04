use std::time::SystemTime;

use superstep_store::store::{Get, Item};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::columns::millis;
use crate::error::Failure;

use super::name::name;
use super::row::StoredItem;
use super::{ItemError, Statements};

/// Returns the requested items, and the rows whose time to live must restart.
pub(crate) async fn get(
    client: &Client,
    statements: &Statements,
    get: &Get,
) -> Result<(Vec<Option<Item>>, Vec<Refresh>), ItemError> {
    let names: Vec<Vec<u8>> = get.keys.iter().map(name).collect();
    let now = millis(get.now);
    let rows =
        client.query_typed(&statements.get, &[(&names, Type::BYTEA_ARRAY), (&now, Type::INT8)]).await?;
    let mut items: Vec<Option<Item>> = vec![None; get.keys.len()];
    let mut refreshes = Vec::new();
    // The server returns the items in any order, and each with the position of its key, from 1.
    for row in rows {
        let nth = row.try_get::<_, i64>(8)?;
        let mut stored = StoredItem::read(&row)?;
        if get.refresh && stored.refresh(get.now) {
            refreshes.extend(Refresh::of(&stored));
        }
        let place = usize::try_from(nth).ok().and_then(|nth| items.get_mut(nth.checked_sub(1)?));
        if let Some(place) = place {
            *place = Some(stored.item);
        }
    }
    Ok((items, refreshes))
}

/// A row whose time to live must restart.
#[derive(Debug)]
pub(crate) struct Refresh {
    id: i64,
    ttl: i64,
    ends: i64,
}

impl Refresh {
    /// Returns the refresh of an item with its new expiry.
    pub(super) fn of(stored: &StoredItem) -> Option<Self> {
        let ttl = i64::try_from(stored.ttl?.as_millis()).ok()?;
        Some(Self { id: stored.id, ttl, ends: millis(stored.item.expires_at?) })
    }
}

/// Restarts the time to live of these rows. Skips rows that were deleted or have another time to live since they were
/// read, and never shortens a lifetime.
pub(crate) async fn refresh(
    client: &Client,
    statements: &Statements,
    rows: &[Refresh],
    now: SystemTime,
) -> Result<(), Failure> {
    let column = |of: fn(&Refresh) -> i64| rows.iter().map(of).collect::<Vec<_>>();
    let (ids, ttls, ends) = (column(|row| row.id), column(|row| row.ttl), column(|row| row.ends));
    let list = Type::INT8_ARRAY;
    client
        .execute_typed(
            &statements.refresh,
            &[(&ids, list.clone()), (&ttls, list.clone()), (&ends, list), (&millis(now), Type::INT8)],
        )
        .await?;
    Ok(())
}
