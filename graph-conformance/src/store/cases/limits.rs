//! Items within the limits can be read back. All others are refused, and nothing of their batch is written.

use superstep_store::limits::{MAX_NAME_BYTES, MAX_PAYLOAD_BYTES};
use superstep_store::payload::{Encoding, Payload};
use superstep_store::store::{ItemWrite, ItemWrites, NamespaceQuery, StoreError};

use crate::Broken;
use crate::expect::{error_chain, same};
use crate::store::case::Target;
use crate::store::fixture::{Fixture, at, put, put_near};

fn name(bytes: usize) -> String {
    format!("{}{}", "é".repeat(bytes / 2), "x".repeat(bytes % 2))
}

pub(crate) async fn names_at_the_length_limit_are_stored(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let long = name(MAX_NAME_BYTES);
    // Each segment counts one byte more.
    let segments = [name(MAX_NAME_BYTES / 2 - 1), name(MAX_NAME_BYTES / 2 - 1)];
    let keys = [at("n", &long), at([name(MAX_NAME_BYTES - 1)], "k"), at(segments, "k")];
    for (n, key) in keys.iter().enumerate() {
        fixture.put(key, &n.to_string()).await?;
    }
    for (n, key) in keys.iter().enumerate() {
        same("an item with a long name is read back", Some(n.to_string()), fixture.read(key).await?)?;
    }
    let shorter = at("n", &long[..MAX_NAME_BYTES - 2]);
    same("names that differ at their end are distinct", None, fixture.read(&shorter).await?)?;
    let listed = fixture.namespaces(NamespaceQuery::new(fixture.now)).await?.items.len();
    same("namespaces with long names are listed", 3, listed)?;
    same("an item with a long name is deleted", true, fixture.delete(&at("n", &long)).await?)
}

async fn refuses(fixture: &Fixture, promise: &str, write: ItemWrite) -> Result<(), Broken> {
    let valid = at("n", "valid");
    let writes = vec![put(&valid, "1"), write];
    match fixture.store.write(ItemWrites::new(fixture.now, writes)).await {
        Err(StoreError::NotStorable { .. }) => {}
        Err(other) => return Err(Broken::new(promise, "`StoreError::NotStorable`", error_chain(&other))),
        Ok(_) => return Err(Broken::new(promise, "`StoreError::NotStorable`", "success")),
    }
    same(format!("{promise}: nothing of the batch is written"), None, fixture.read(&valid).await?)
}

pub(crate) async fn items_over_the_limits_are_refused(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let long = name(MAX_NAME_BYTES + 1);
    refuses(&fixture, "a key over the limit is refused", put(&at("n", &long), "1")).await?;
    let key = at([name(MAX_NAME_BYTES)], "k");
    refuses(&fixture, "a namespace over the limit is refused", put(&key, "1")).await?;
    let key = at(vec![""; MAX_NAME_BYTES + 1], "k");
    refuses(&fixture, "a namespace of too many segments is refused", put(&key, "1")).await?;
    let model = put_near(&at("n", "k"), "1", &long, &[&[1.0]]);
    refuses(&fixture, "the name of a model over the limit is refused", model).await?;
    let large = Payload::new(Encoding::Bytes, vec![0xa5; MAX_PAYLOAD_BYTES + 1]);
    refuses(&fixture, "a value over the limit is refused", ItemWrite::put(at("n", "k"), large)).await
}
