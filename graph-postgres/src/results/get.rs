use std::time::SystemTime;

use superstep_store::cache::{CacheError, CorruptEntry, EntryKey};
use superstep_store::payload::{Encoding, Payload};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::columns::{Param, millis};
use crate::error::Failure;

use super::Statements;

/// Returns the result under this key that is valid at `now`.
pub(crate) async fn get(
    client: &Client,
    statements: &Statements,
    at: &EntryKey,
    now: SystemTime,
) -> Result<Result<Option<Payload>, CacheError>, Failure> {
    let now = millis(now);
    let (graph, node) = (at.graph.as_bytes(), at.node.as_bytes());
    let (state, key) = (at.state.as_bytes(), at.key.as_bytes());
    let params: [Param<'_>; 5] = [
        (&graph, Type::BYTEA),
        (&node, Type::BYTEA),
        (&state, Type::BYTEA),
        (&key, Type::BYTEA),
        (&now, Type::INT8),
    ];
    let Some(row) = client.query_typed_opt(&statements.get, &params).await? else { return Ok(Ok(None)) };
    let code: i16 = row.try_get(0)?;
    let Some(encoding) = u8::try_from(code).ok().and_then(Encoding::from_code) else {
        let reason = format!("the value: unknown encoding {code}");
        return Ok(Err(CacheError::corrupt(CorruptEntry::new(at.clone(), reason))));
    };
    Ok(Ok(Some(Payload::new(encoding, row.try_get::<_, &[u8]>(1)?))))
}
