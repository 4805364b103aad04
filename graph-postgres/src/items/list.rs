use superstep_store::checkpoint::Page;
use superstep_store::store::{CorruptItem, Namespace, NamespaceQuery, StoreError};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::columns::{Param, millis};

use super::name::NameRange;
use super::{ItemError, Statements};

/// The number of namespaces that are read at once.
const BATCH: i64 = 256;

/// Lists namespaces that contain an item. Call this in a transaction.
pub(crate) async fn list(
    client: &Client,
    statements: &Statements,
    query: &NamespaceQuery,
) -> Result<Page<Namespace>, ItemError> {
    let NameRange { mut from, to } = NameRange::within(&query.prefix);
    let now = millis(query.now);
    let limit = query.limit.unwrap_or(usize::MAX);
    let mut items: Vec<Namespace> = Vec::new();
    let mut skipped = 0;
    let mut last = None;
    loop {
        let params: [Param<'_>; 4] =
            [(&from, Type::BYTEA), (&to, Type::BYTEA), (&now, Type::INT8), (&BATCH, Type::INT8)];
        let rows = client.query_typed(&statements.namespaces, &params).await?;
        for row in &rows {
            let namespace = Namespace::from_sort_key(row.try_get(0)?).ok_or_else(corrupt)?;
            let Some(shown) = query.shown(&namespace) else { continue };
            // Rows are sorted, so equal results are adjacent.
            if last.as_ref() == Some(&shown) {
                continue;
            }
            last = Some(shown.clone());
            if skipped < query.offset {
                skipped += 1;
            } else if items.len() < limit {
                items.push(shown);
            } else {
                return Ok(Page::new(items, true));
            }
        }
        match rows.last() {
            Some(row) if i64::try_from(rows.len()).is_ok_and(|count| count == BATCH) => {
                from = NameRange::after(row.try_get(0)?);
            }
            _ => return Ok(Page::new(items, false)),
        }
    }
}

fn corrupt() -> ItemError {
    let why = "a namespace of the long-term store: it is not a list of segments";
    StoreError::corrupt(CorruptItem::new(None, None, why)).into()
}
