use rusqlite::{Connection, Row, params};
use superstep_store::checkpoint::Page;
use superstep_store::store::{Found, ItemKey, Near, Order, Search, StoreError};

use crate::columns::{millis, text};
use crate::error::Error;

use super::ItemError;
use super::error::corrupt_item;
use super::row::{ITEM_COLUMNS, StoredItem, in_item, item_key, item_value};

/// Returns the matching items, and the rows whose time to live must restart.
pub(crate) fn search(db: &Connection, search: &Search) -> Result<(Page<Found>, Vec<i64>), ItemError> {
    let mut page = match &search.near {
        None => in_order(db, search)?,
        Some(near) => nearest(db, search, near)?,
    };
    let mut refreshed = Vec::new();
    if search.refresh {
        for (stored, _) in &mut page.items {
            let expires_at = stored.refreshed(search.now);
            if expires_at != stored.item.expires_at {
                stored.item.expires_at = expires_at;
                refreshed.push(stored.id);
            }
        }
    }
    let items = page.items.into_iter().map(|(stored, score)| Found::new(stored.item, score));
    Ok((Page::new(items.collect(), page.more), refreshed))
}

/// Calls `visit` with every row in the scope of a search, in its order, until it returns `false`.
fn scan(
    db: &Connection,
    search: &Search,
    mut visit: impl FnMut(&Row<'_>) -> Result<bool, ItemError>,
) -> Result<(), ItemError> {
    let order = match search.order {
        Order::Newest => "i.updated DESC, n.place, i.key",
        _ => "n.place, i.key",
    };
    let after = match search.after {
        // A bound for all keys, so that the index is used.
        Some(_) => "AND i.key >= iif(n.place = ?4, ?5, '') AND NOT (n.place = ?4 AND i.key = ?5)",
        None => "",
    };
    let mut query = db.prepare_cached(&format!(
        "SELECT {ITEM_COLUMNS} FROM store_namespace n JOIN store_item i ON i.namespace = n.id \
         WHERE n.place >= ?1 AND n.place < ?2 AND (i.expires IS NULL OR i.expires > ?3) {after} ORDER BY {order}"
    ))?;
    let from = search.namespace.sort_key();
    // The range of exactly one namespace: no other sort key lies between `from` and `from` plus 00.
    let to = [&*from, &[if search.within { 0xff } else { 0 }]].concat();
    let now = millis(search.now);
    let mut rows = match &search.after {
        Some(after) => {
            let place = after.namespace.sort_key();
            query.query(params![(&from).max(&place), to, now, place, &*after.key])?
        }
        None => query.query(params![from, to, now])?,
    };
    while let Some(row) = rows.next()? {
        if !visit(row)? {
            break;
        }
    }
    Ok(())
}

/// Returns `true` if the row's value matches the conditions.
fn accepts(search: &Search, row: &Row<'_>, at: &ItemKey) -> Result<bool, ItemError> {
    if search.conditions.is_empty() {
        return Ok(true);
    }
    let accepted = search.accepts(&item_value(row, at)?);
    accepted.map_err(|reason| corrupt_item(at, reason).into())
}

type Scored = (StoredItem, Option<f32>);

fn in_order(db: &Connection, search: &Search) -> Result<Page<Scored>, ItemError> {
    let limit = search.limit.unwrap_or(usize::MAX);
    let mut page = Page::new(Vec::new(), false);
    let mut skipped = 0;
    scan(db, search, |row| {
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
    })?;
    Ok(page)
}

fn nearest(db: &Connection, search: &Search, near: &Near) -> Result<Page<Scored>, ItemError> {
    let mut scores: Vec<(i64, f32)> = Vec::new();
    scan(db, search, |row| {
        let at = item_key(row)?;
        if accepts(search, row, &at)? {
            let id = row.get(0)?;
            scores.extend(score(db, id, &at, near)?.map(|score| (id, score)));
        }
        Ok(true)
    })?;
    // A stable sort: equal scores keep the requested order.
    scores.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let mut chosen = scores.into_iter().skip(search.offset);
    let mut query = db.prepare_cached(&format!(
        "SELECT {ITEM_COLUMNS} FROM store_item i JOIN store_namespace n ON n.id = i.namespace WHERE i.id = ?1"
    ))?;
    let mut items = Vec::new();
    for (id, score) in chosen.by_ref().take(search.limit.unwrap_or(usize::MAX)) {
        let mut rows = query.query([id])?;
        if let Some(row) = rows.next()? {
            items.push((StoredItem::read(row)?, Some(score)));
        }
    }
    Ok(Page::new(items, chosen.next().is_some()))
}

/// Returns the best score of an item's vectors, or `None` if it has none.
fn score(db: &Connection, item: i64, at: &ItemKey, near: &Near) -> Result<Option<f32>, ItemError> {
    let mut query = db.prepare_cached("SELECT model, data FROM store_vector WHERE item = ?1 ORDER BY nth")?;
    let mut rows = query.query([item])?;
    let mut best: Option<f32> = None;
    let mut numbers = Vec::new();
    while let Some(row) = rows.next()? {
        let model = text(row, 0).map_err(|error| in_item(at, error))?;
        read_vector(row, &mut numbers).map_err(|error| in_item(at, error))?;
        if !near.compares(model, numbers.len()) {
            return Err(StoreError::other_model(at.clone(), model, numbers.len(), near).into());
        }
        let score = near.score(&numbers);
        best = Some(best.map_or(score, |best| best.max(score)));
    }
    Ok(best)
}

fn read_vector(row: &Row<'_>, numbers: &mut Vec<f32>) -> Result<(), Error> {
    let corrupt = |why| Error::corrupt("its embedding", None, why);
    let data = row.get_ref(1)?.as_blob().map_err(|_| corrupt("it is not a list of numbers"))?;
    let (chunks, rest) = data.as_chunks::<4>();
    if !rest.is_empty() || chunks.is_empty() {
        return Err(corrupt("it is cut off"));
    }
    numbers.clear();
    numbers.extend(chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)));
    if numbers.iter().all(|number| number.is_finite()) { Ok(()) } else { Err(corrupt("it is not finite")) }
}
