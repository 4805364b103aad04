//! What is given back.

use superstep_store::cache::NewEntry;
use superstep_store::payload::{Encoding, Payload};

use crate::Broken;
use crate::cache::case::Here;
use crate::cache::desk::{of, put, some};
use crate::expect::same;

pub(crate) async fn what_was_not_put_is_not_there(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    same("nothing is there at first", None, desk.get(&of("a")).await?)?;
    desk.put(&of("a"), "1").await?;
    same("and nothing but what was put", None, desk.get(&of("b")).await?)
}

pub(crate) async fn a_result_is_given_back_as_it_was_put(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    let payloads = [
        Payload::json("{\"a\":[1,null,\"\u{e9}\\u0000\"]}"),
        Payload::json(""),
        Payload::new(Encoding::Bytes, [0, 255, 10, 0]),
        Payload::new(Encoding::Sealed, *b"sealed"),
    ];
    for (nth, value) in payloads.into_iter().enumerate() {
        let at = of(&nth.to_string());
        desk.puts(vec![NewEntry { at: at.clone(), value: value.clone(), ttl: None }]).await?;
        let bytes = |payload: Payload| (payload.encoding(), payload.bytes().to_vec());
        same("a result is what was put", Some(bytes(value)), desk.payload(&at).await?.map(bytes))?;
    }
    Ok(())
}

pub(crate) async fn a_put_takes_the_place_of_the_one_before(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    desk.put(&of("a"), "1").await?;
    desk.put(&of("a"), "2").await?;
    same("the last put is there", some("2"), desk.get(&of("a")).await?)
}

pub(crate) async fn puts_are_made_in_their_order(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    desk.puts(vec![put(&of("a"), "1"), put(&of("b"), "2"), put(&of("a"), "3")]).await?;
    same("of two puts of one name the later counts", some("3"), desk.get(&of("a")).await?)?;
    same("and the others are there", some("2"), desk.get(&of("b")).await?)?;
    desk.puts(Vec::new()).await
}

pub(crate) async fn a_result_of_two_megabytes_is_kept(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    let long = format!("\"{}\"", "x".repeat(2_000_000));
    desk.put(&of("a"), &long).await?;
    same("a long result is kept", Some(long), desk.get(&of("a")).await?)
}
