use rusqlite::{Connection, Row, params};
use superstep_store::checkpoint::Page;
use superstep_store::store::{Found, ItemKey, Near, Order, Search, StoreError};

use crate::stored::{millis, text};
use crate::trouble::Trouble;

use super::Fault;
use super::place::{end, place};
use super::row::{ITEM, Stored, at, named, value};

/// What is found, and the rows of those items that are to live on.
pub(crate) fn search(db: &Connection, search: &Search) -> Result<(Page<Found>, Vec<i64>), Fault> {
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
    let items = page.items.into_iter().map(|(stored, score)| Found { item: stored.item, score });
    Ok((Page { items: items.collect(), more: page.more }, refreshed))
}

/// Shows every row that a search is about, in its order, until one is enough.
fn each(
    db: &Connection,
    search: &Search,
    mut show: impl FnMut(&Row<'_>) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let order = match search.order {
        Order::Newest => "i.updated DESC, n.place, i.key",
        _ => "n.place, i.key",
    };
    let mut query = db.prepare_cached(&format!(
        "SELECT {ITEM} FROM store_namespace n JOIN store_item i ON i.namespace = n.id \
         WHERE n.place >= ?1 AND n.place < ?2 AND (i.expires IS NULL OR i.expires > ?3) ORDER BY {order}"
    ))?;
    let from = place(&search.namespace);
    // Bytes that only the namespace's own are: nothing stands between them and these.
    let to = if search.within { end(&from) } else { [&*from, &[0]].concat() };
    let mut rows = query.query(params![from, to, millis(search.now)])?;
    while let Some(row) = rows.next()? {
        if !show(row)? {
            break;
        }
    }
    Ok(())
}

/// Whether the row's value fulfils the conditions.
fn accepts(search: &Search, row: &Row<'_>, at: &ItemKey) -> Result<bool, Fault> {
    if search.conditions.is_empty() {
        return Ok(true);
    }
    let accepted = search.accepts(&value(row, at)?);
    accepted.map_err(|reason| StoreError::corrupt(&at.namespace, &at.key, reason).into())
}

type Scored = (Stored, Option<f32>);

fn in_order(db: &Connection, search: &Search) -> Result<Page<Scored>, Fault> {
    let limit = search.limit.unwrap_or(usize::MAX);
    let mut page = Page { items: Vec::new(), more: false };
    let mut skipped = 0;
    each(db, search, |row| {
        if !accepts(search, row, &at(row)?)? {
            return Ok(true);
        }
        if skipped < search.offset {
            skipped += 1;
        } else if page.items.len() < limit {
            page.items.push((Stored::read(row)?, None));
        } else {
            page.more = true;
        }
        Ok(!page.more)
    })?;
    Ok(page)
}

fn nearest(db: &Connection, search: &Search, near: &Near) -> Result<Page<Scored>, Fault> {
    let mut scores: Vec<(i64, f32)> = Vec::new();
    each(db, search, |row| {
        let at = at(row)?;
        if accepts(search, row, &at)? {
            let id = row.get(0)?;
            scores.extend(score(db, id, &at, near)?.map(|score| (id, score)));
        }
        Ok(true)
    })?;
    // They come in the order that was asked for, which stays among equals.
    scores.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let mut chosen = scores.into_iter().skip(search.offset);
    let mut query = db.prepare_cached(&format!(
        "SELECT {ITEM} FROM store_item i JOIN store_namespace n ON n.id = i.namespace WHERE i.id = ?1"
    ))?;
    let mut items = Vec::new();
    for (id, score) in chosen.by_ref().take(search.limit.unwrap_or(usize::MAX)) {
        let mut rows = query.query([id])?;
        if let Some(row) = rows.next()? {
            items.push((Stored::read(row)?, Some(score)));
        }
    }
    Ok(Page { items, more: chosen.next().is_some() })
}

/// How near an item is, if it has vectors.
fn score(db: &Connection, item: i64, at: &ItemKey, near: &Near) -> Result<Option<f32>, Fault> {
    let mut query = db.prepare_cached("SELECT model, data FROM store_vector WHERE item = ?1 ORDER BY nth")?;
    let mut rows = query.query([item])?;
    let mut best: Option<f32> = None;
    let mut numbers = Vec::new();
    while let Some(row) = rows.next()? {
        let model = text(row, 0).map_err(|trouble| named(at, trouble))?;
        read_vector(row, &mut numbers).map_err(|trouble| named(at, trouble))?;
        if !near.compares(model, numbers.len()) {
            return Err(Fault::Answer(StoreError::OtherModel {
                namespace: at.namespace.clone(),
                key: at.key.clone(),
                indexed: model.into(),
                indexed_dimensions: numbers.len(),
                asked: near.model().clone(),
                asked_dimensions: near.vector().len(),
            }));
        }
        let score = near.score(&numbers);
        best = Some(best.map_or(score, |best| best.max(score)));
    }
    Ok(best)
}

fn read_vector(row: &Row<'_>, numbers: &mut Vec<f32>) -> Result<(), Trouble> {
    let damaged = |why| Trouble::damaged("its embedding", None, why);
    let data = row.get_ref(1)?.as_blob().map_err(|_| damaged("it is no list of numbers"))?;
    let (chunks, rest) = data.as_chunks::<4>();
    if !rest.is_empty() || chunks.is_empty() {
        return Err(damaged("it is cut off"));
    }
    numbers.clear();
    numbers.extend(chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)));
    if numbers.iter().all(|number| number.is_finite()) { Ok(()) } else { Err(damaged("it is not finite")) }
}
