use futures_util::future::try_join_all;
use superstep_store::payload::Payload;
use superstep_store::store::Embedding;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::columns::Param;
use crate::error::Failure;

use super::Statements;
use super::plan::{Plan, PlannedWrite};

/// The maximum number of expired items that one write deletes.
const EXPIRED_LIMIT: i64 = 64;

/// A statement ends with the first value that reaches this size, because a message of the protocol has at most a gigabyte.
const STATEMENT_BYTES: usize = 16 << 20;

/// Makes the writes, and returns for each whether the item existed before it. Call this in a transaction.
pub(crate) async fn write(
    client: &Client,
    statements: &Statements,
    plan: &Plan,
) -> Result<Vec<bool>, Failure> {
    let mut existed = Vec::with_capacity(plan.items.len());
    let mut parts = parts(&plan.items).peekable();
    while let Some(part) = parts.next() {
        let sweep = if parts.peek().is_none() { EXPIRED_LIMIT } else { 0 };
        for row in write_part(client, statements, plan.now, part, sweep).await? {
            existed.push(row.try_get(0)?);
        }
    }
    insert_vectors(client, statements, &plan.items).await?;
    Ok(plan.answers(&existed))
}

/// Cuts the writes into statements.
fn parts(items: &[PlannedWrite]) -> impl Iterator<Item = &[PlannedWrite]> {
    let mut bytes = 0;
    items.split_inclusive(move |item| {
        bytes += item.len();
        let full = bytes >= STATEMENT_BYTES;
        if full {
            bytes = 0;
        }
        full
    })
}

async fn write_part(
    client: &Client,
    statements: &Statements,
    now: i64,
    part: &[PlannedWrite],
    sweep: i64,
) -> Result<Vec<tokio_postgres::Row>, Failure> {
    let names: Vec<&[u8]> = part.iter().map(|item| &*item.name).collect();
    let encoding = |value: &Payload| i16::from(value.encoding().code());
    let encodings: Vec<Option<i16>> = part.iter().map(|item| item.value.as_ref().map(encoding)).collect();
    let values: Vec<Option<&[u8]>> =
        part.iter().map(|item| item.value.as_ref().map(Payload::bytes)).collect();
    let anew: Vec<bool> = part.iter().map(|item| item.anew).collect();
    let ttls: Vec<Option<i64>> = part.iter().map(|item| item.ttl).collect();
    let ends: Vec<Option<i64>> = part.iter().map(|item| item.ends).collect();
    let params: [Param<'_>; 8] = [
        (&now, Type::INT8),
        (&names, Type::BYTEA_ARRAY),
        (&encodings, Type::INT2_ARRAY),
        (&values, Type::BYTEA_ARRAY),
        (&anew, Type::BOOL_ARRAY),
        (&ttls, Type::INT8_ARRAY),
        (&ends, Type::INT8_ARRAY),
        (&sweep, Type::INT8),
    ];
    Ok(client.query_typed(&statements.write, &params).await?)
}

/// The number of vectors that are sent together, in one round trip.
const VECTORS: usize = 64;

/// Stores the vectors of the items.
async fn insert_vectors(
    client: &Client,
    statements: &Statements,
    items: &[PlannedWrite],
) -> Result<(), Failure> {
    let mut inserts = Vec::new();
    for item in items {
        let Some(embedding) = &item.embedding else { continue };
        for (nth, vector) in embedding.vectors().iter().enumerate() {
            inserts.push(insert_vector(client, statements, item, embedding, nth, vector));
            if inserts.len() == VECTORS {
                try_join_all(std::mem::take(&mut inserts)).await?;
            }
        }
    }
    try_join_all(inserts).await?;
    Ok(())
}

async fn insert_vector(
    client: &Client,
    statements: &Statements,
    item: &PlannedWrite,
    embedding: &Embedding,
    nth: usize,
    vector: &Vec<f32>,
) -> Result<(), Failure> {
    let nth = i32::try_from(nth).unwrap_or(i32::MAX);
    let model = embedding.model().as_bytes();
    let params: [Param<'_>; 4] =
        [(&item.name, Type::BYTEA), (&nth, Type::INT4), (&model, Type::BYTEA), (vector, Type::FLOAT4_ARRAY)];
    client.execute_typed(&statements.insert_vector, &params).await?;
    Ok(())
}
