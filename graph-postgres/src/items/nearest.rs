use std::collections::HashMap;

use superstep_store::checkpoint::Page;
use superstep_store::store::{ItemKey, Near, Search, StoreError};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::pgvector::Extension;
use super::row::{StoredItem, corrupt_item, item_key};
use super::scan::scan;
use super::scope::{Scope, Scored, accepts};
use super::{ItemError, Statements};

/// Reads the items whose vectors are nearest to that of the search.
///
/// Scores are always computed here, from the stored vectors, so that they are the same with every server. With the extension
/// pgvector, the server selects the items whose vectors are worth sending.
pub(super) async fn nearest(
    client: &Client,
    statements: &Statements,
    extension: &Extension,
    search: &Search,
    scope: &Scope,
    near: &Near,
) -> Result<Page<Scored>, ItemError> {
    let accepted = match search.conditions.is_empty() {
        true => None,
        false => Some(accepted(client, statements, search, scope).await?),
    };
    let candidates = extension.candidates(client, statements, search, scope, near, accepted.as_ref()).await?;
    let mut scores = scores(client, statements, scope, near, candidates.or(accepted)).await?;
    // A stable sort: equal scores keep the requested order.
    scores.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let mut chosen = scores.into_iter().skip(search.offset);
    let page: Vec<(i64, f32)> = chosen.by_ref().take(search.limit.unwrap_or(usize::MAX)).collect();
    Ok(Page::new(items(client, statements, page).await?, chosen.next().is_some()))
}

/// Returns the rows of the items with vectors that meet the conditions.
async fn accepted(
    client: &Client,
    statements: &Statements,
    search: &Search,
    scope: &Scope,
) -> Result<Vec<i64>, ItemError> {
    let mut accepted = Vec::new();
    let params = scope.params([(&false as _, Type::BOOL)]);
    scan(client, scope.of(&statements.scan), &params, |row| {
        if accepts(search, row, &item_key(row)?)? {
            accepted.push(row.try_get(0)?);
        }
        Ok(true)
    })
    .await?;
    Ok(accepted)
}

/// Returns the best score of each item with vectors, in the order of the search. `only` selects rows.
async fn scores(
    client: &Client,
    statements: &Statements,
    scope: &Scope,
    near: &Near,
    only: Option<Vec<i64>>,
) -> Result<Vec<(i64, f32)>, ItemError> {
    let mut scores: Vec<(i64, f32)> = Vec::new();
    let params = scope.params([(&only as _, Type::INT8_ARRAY)]);
    scan(client, scope.of(&statements.scan_vectors), &params, |row| {
        let (id, score) = (row.try_get(0)?, score(row, near)?);
        match scores.last_mut() {
            // The vectors of an item are adjacent.
            Some((last, best)) if *last == id => *best = best.max(score),
            _ => scores.push((id, score)),
        }
        Ok(true)
    })
    .await?;
    Ok(scores)
}

/// Returns the score of a row with the columns `id`, `name`, `model` and `numbers`.
fn score(row: &Row, near: &Near) -> Result<f32, ItemError> {
    let at = item_key(row)?;
    let corrupt = |reason: &str| corrupt_item(&at, format!("its embedding: {reason}"));
    let model = std::str::from_utf8(row.try_get(2)?).map_err(|_| corrupt("its model is not UTF-8"))?;
    let numbers: Vec<f32> = row.try_get(3).map_err(|_| corrupt("it is not a list of numbers"))?;
    if numbers.is_empty() {
        return Err(corrupt("it is empty").into());
    }
    if !numbers.iter().all(|number| number.is_finite()) {
        return Err(corrupt("it is not finite").into());
    }
    if !near.compares(model, numbers.len()) {
        return Err(StoreError::other_model(ItemKey::clone(&at), model, numbers.len(), near).into());
    }
    Ok(near.score(&numbers))
}

/// Reads the items of these rows, in their order.
async fn items(
    client: &Client,
    statements: &Statements,
    page: Vec<(i64, f32)>,
) -> Result<Vec<Scored>, ItemError> {
    let ids: Vec<i64> = page.iter().map(|(id, _)| *id).collect();
    let rows = client.query_typed(&statements.by_ids, &[(&ids, Type::INT8_ARRAY)]).await?;
    let mut by_id = HashMap::with_capacity(rows.len());
    for row in &rows {
        let stored = StoredItem::read(row)?;
        by_id.insert(stored.id, stored);
    }
    Ok(page.into_iter().filter_map(|(id, score)| Some((by_id.remove(&id)?, Some(score)))).collect())
}
