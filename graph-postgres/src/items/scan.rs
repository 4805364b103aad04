use futures_util::TryStreamExt as _;
use futures_util::future::join;
use tokio_postgres::{Client, Row};

use crate::columns::Param;
use crate::error::Failure;

use super::ItemError;

/// Begins a transaction that reads one state of the database.
///
/// The indexes have the order of every list, and a page needs only the first rows. The settings keep the server from sorting
/// whole namespaces instead, which it prefers while it has no statistics.
pub(crate) const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_bitmapscan = off; \
     SET LOCAL enable_sort = off; SET LOCAL jit = off";

/// The numbers of rows that are fetched at once: at first, and at most.
const ROWS: [usize; 2] = [32, 512];

/// Opens a cursor with a statement and calls `visit` with each of its rows, until it returns `false`.
///
/// Rows are read one by one: they may be as large as the largest value. Call this in a transaction. The cursor is closed
/// at the end.
pub(super) async fn scan(
    client: &Client,
    declare: &str,
    params: &[Param<'_>],
    mut visit: impl FnMut(&Row) -> Result<bool, ItemError> + Send,
) -> Result<(), ItemError> {
    let [mut count, max] = ROWS;
    let (declared, first) = join(client.execute_typed(declare, params), fetch(client, count)).await;
    declared?;
    let mut rows = Box::pin(first?);
    loop {
        let mut fetched = 0;
        while let Some(row) = rows.try_next().await? {
            fetched += 1;
            if !visit(&row)? {
                fetched = 0;
                break;
            }
        }
        if fetched < count {
            break;
        }
        count = (count * 2).min(max);
        rows.set(fetch(client, count).await?);
    }
    client.batch_execute("CLOSE scan").await?;
    Ok(())
}

async fn fetch(client: &Client, count: usize) -> Result<tokio_postgres::RowStream, Failure> {
    let statement = format!("FETCH FORWARD {count} FROM scan");
    Ok(client.query_typed_raw(&statement, Vec::<Param<'_>>::new()).await?)
}
