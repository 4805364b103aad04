//! Values of results.

use superstep_store::cache::NewEntry;
use superstep_store::payload::{Encoding, Payload};

use crate::Broken;
use crate::cache::case::Target;
use crate::cache::fixture::{of, put, some};
use crate::expect::same;

pub(crate) async fn missing_result_is_none(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    same("a new cache is empty", None, fixture.get(&of("a")).await?)?;
    fixture.put(&of("a"), "1").await?;
    same("only the key that was put is found", None, fixture.get(&of("b")).await?)
}

pub(crate) async fn result_reads_back_unchanged(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let payloads = [
        Payload::json("{\"a\":[1,null,\"\u{e9}\\u0000\"]}"),
        Payload::json(""),
        Payload::new(Encoding::Bytes, [0, 255, 10, 0]),
        Payload::new(Encoding::Sealed, *b"sealed"),
    ];
    for (nth, value) in payloads.into_iter().enumerate() {
        let at = of(&nth.to_string());
        fixture.puts(vec![NewEntry::new(at.clone(), value.clone())]).await?;
        let bytes = |payload: Payload| (payload.encoding(), payload.bytes().to_vec());
        same("a result reads back unchanged", Some(bytes(value)), fixture.payload(&at).await?.map(bytes))?;
    }
    Ok(())
}

pub(crate) async fn put_replaces_the_previous_result(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture.put(&of("a"), "1").await?;
    fixture.put(&of("a"), "2").await?;
    same("the last put is found", some("2"), fixture.get(&of("a")).await?)
}

pub(crate) async fn puts_are_made_in_order(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture.puts(vec![put(&of("a"), "1"), put(&of("b"), "2"), put(&of("a"), "3")]).await?;
    same("the later of two puts with one key is found", some("3"), fixture.get(&of("a")).await?)?;
    same("the other entries are found", some("2"), fixture.get(&of("b")).await?)?;
    fixture.puts(Vec::new()).await
}

pub(crate) async fn result_of_two_megabytes_is_stored(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let long = format!("\"{}\"", "x".repeat(2_000_000));
    fixture.put(&of("a"), &long).await?;
    same("a long result is stored", Some(long), fixture.get(&of("a")).await?)
}
