use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::error::Failure;

use super::Statements;

/// The number of items that one transaction deletes. Other writers wait that long.
const ROWS_PER_TRANSACTION: i64 = 512;

/// Deletes some expired items. Returns how many were found and how many deleted: another call may have replaced an item
/// that was found.
pub(crate) async fn delete_expired(
    client: &Client,
    statements: &Statements,
    now: i64,
) -> Result<(u64, u64), Failure> {
    let params = [(&now as _, Type::INT8), (&ROWS_PER_TRANSACTION as _, Type::INT8)];
    let row = client.query_typed_one(&statements.delete_expired, &params).await?;
    let count = |column| Ok(row.try_get::<_, i64>(column)?.unsigned_abs());
    count(0).and_then(|found| Ok((found, count(1)?)))
}
