//! Results within the limits can be read back. All others are refused.

use superstep_store::cache::{CacheError, EntryKey, NewEntry};
use superstep_store::limits::{MAX_NAME_BYTES, MAX_PAYLOAD_BYTES};
use superstep_store::payload::{Encoding, Payload};

use crate::Broken;
use crate::cache::case::Target;
use crate::cache::fixture::{Fixture, at, of, put, some};
use crate::expect::{error_chain, same};

pub(crate) async fn names_at_the_length_limit_are_stored(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let long = "x".repeat(MAX_NAME_BYTES);
    for (nth, at) in
        [at(&long, "n", "s", "k"), at("g", &long, "s", "k"), at("g", "n", &long, "k")].iter().enumerate()
    {
        fixture.put(at, &nth.to_string()).await?;
        same("a result with a long name is read back", some(&nth.to_string()), fixture.get(at).await?)?;
    }
    Ok(())
}

async fn refuses(fixture: &Fixture, promise: &str, entry: NewEntry) -> Result<(), Broken> {
    let valid = of("valid");
    match fixture.cache.put(vec![put(&valid, "1"), entry], fixture.now).await {
        Err(CacheError::NotStorable { .. }) => {}
        Err(other) => return Err(Broken::new(promise, "`CacheError::NotStorable`", error_chain(&other))),
        Ok(()) => return Err(Broken::new(promise, "`CacheError::NotStorable`", "success")),
    }
    same(format!("{promise}: no result is stored"), None, fixture.get(&valid).await?)
}

pub(crate) async fn results_over_the_limits_are_refused(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let long = "x".repeat(MAX_NAME_BYTES + 1);
    let named = |at: EntryKey| put(&at, "1");
    refuses(&fixture, "the name of a graph over the limit is refused", named(at(&long, "n", "s", "k")))
        .await?;
    refuses(&fixture, "the name of a node over the limit is refused", named(at("g", &long, "s", "k")))
        .await?;
    refuses(&fixture, "the name of a state over the limit is refused", named(at("g", "n", &long, "k")))
        .await?;
    let large = Payload::new(Encoding::Bytes, vec![0xa5; MAX_PAYLOAD_BYTES + 1]);
    refuses(&fixture, "a result over the limit is refused", NewEntry::new(of("k"), large)).await
}
