use std::collections::BTreeMap;
use std::time::SystemTime;

use futures_util::future::try_join;
use superstep_store::cache::{EntryKey, NewEntry};
use superstep_store::payload::Payload;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::columns::{Param, millis};
use crate::error::Failure;

use super::Statements;

/// The maximum number of expired results that one put deletes, and that of old ones beyond the number that it has put.
const SWEEP_LIMIT: i64 = 64;

/// A statement ends with the first result that reaches this size, because a message of the protocol has at most a gigabyte.
const STATEMENT_BYTES: usize = 16 << 20;

/// Results to put, once for each key and in the order of the keys: two calls that lock results in the same order never wait
/// for each other.
#[derive(Debug)]
pub(crate) struct Puts {
    now: i64,
    entries: Vec<(EntryKey, Payload, Option<i64>)>,
}

impl Puts {
    pub(crate) fn new(puts: Vec<NewEntry>, now: SystemTime) -> Self {
        let now = millis(now);
        let mut last = BTreeMap::new();
        for NewEntry { at, value, ttl, .. } in puts {
            let ttl = ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
            last.insert(at, (value, ttl.and_then(|ttl| now.checked_add(ttl))));
        }
        Self { now, entries: last.into_iter().map(|(at, (value, ends))| (at, value, ends)).collect() }
    }
}

/// Stores results, and deletes some that are expired or, beyond `max_results`, old. Call this in a transaction.
pub(crate) async fn put(
    client: &Client,
    statements: &Statements,
    puts: &Puts,
    max_results: u64,
) -> Result<(), Failure> {
    let mut bytes = 0;
    let parts = puts.entries.split_inclusive(|(at, value, _)| {
        bytes += at.graph.len() + at.node.len() + at.state.len() + at.key.len() + value.len();
        let full = bytes >= STATEMENT_BYTES;
        if full {
            bytes = 0;
        }
        full
    });
    let parts: Vec<_> = parts.collect();
    for part in parts {
        put_part(client, statements, puts.now, part).await?;
    }
    let count = i64::try_from(puts.entries.len()).unwrap_or(i64::MAX);
    let oldest = SWEEP_LIMIT.saturating_add(count.saturating_mul(2));
    let max_results = i64::try_from(max_results).unwrap_or(i64::MAX);
    let expired: [Param<'_>; 2] = [(&puts.now, Type::INT8), (&SWEEP_LIMIT, Type::INT8)];
    let old: [Param<'_>; 2] = [(&max_results, Type::INT8), (&oldest, Type::INT8)];
    try_join(
        client.execute_typed(&statements.delete_some_expired, &expired),
        client.execute_typed(&statements.delete_oldest, &old),
    )
    .await?;
    Ok(())
}

async fn put_part(
    client: &Client,
    statements: &Statements,
    now: i64,
    part: &[(EntryKey, Payload, Option<i64>)],
) -> Result<(), Failure> {
    fn column(part: &[(EntryKey, Payload, Option<i64>)], of: fn(&EntryKey) -> &str) -> Vec<&[u8]> {
        part.iter().map(|(at, ..)| of(at).as_bytes()).collect()
    }
    let (graphs, nodes) = (column(part, |at| &at.graph), column(part, |at| &at.node));
    let (states, keys) = (column(part, |at| &at.state), column(part, |at| &at.key));
    let encodings: Vec<i16> = part.iter().map(|(_, value, _)| i16::from(value.encoding().code())).collect();
    let values: Vec<&[u8]> = part.iter().map(|(_, value, _)| value.bytes()).collect();
    let ends: Vec<Option<i64>> = part.iter().map(|(.., ends)| *ends).collect();
    let params: [Param<'_>; 8] = [
        (&now, Type::INT8),
        (&graphs, Type::BYTEA_ARRAY),
        (&nodes, Type::BYTEA_ARRAY),
        (&states, Type::BYTEA_ARRAY),
        (&keys, Type::BYTEA_ARRAY),
        (&encodings, Type::INT2_ARRAY),
        (&values, Type::BYTEA_ARRAY),
        (&ends, Type::INT8_ARRAY),
    ];
    let stored = client.execute_typed(&statements.put, &params).await?;
    if usize::try_from(stored).is_ok_and(|stored| stored == part.len()) {
        return Ok(());
    }
    Err(Failure::unavailable("the transaction of the put has not begun"))
}
