//! Results that are there for a time.

use superstep_store::cache::Clear;

use crate::Broken;
use crate::cache::case::Here;
use crate::cache::desk::{of, some};
use crate::expect::{holds, same};

pub(crate) async fn what_has_expired_is_not_there(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    desk.put_for(&of("a"), "1", 1_000).await?;
    same("a result is there at once", some("1"), desk.get(&of("a")).await?)?;
    same("until its time is up", some("1"), desk.later(999).get(&of("a")).await?)?;
    same("and then no more", None, desk.later(1_000).get(&of("a")).await?)
}

pub(crate) async fn what_a_clock_that_is_ahead_has_put_is_not_there_yet(
    here: Here<'_>,
) -> Result<(), Broken> {
    let desk = here.open().await?;
    desk.put_for(&of("a"), "1", 1_000).await?;
    same("before it was put it is not there", None, desk.earlier(1).get(&of("a")).await?)?;
    same("a look takes nothing away", some("1"), desk.get(&of("a")).await?)
}

pub(crate) async fn without_a_time_to_live_it_is_always_there(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    desk.put(&of("a"), "1").await?;
    same("long after", some("1"), desk.later(1_000_000_000_000).get(&of("a")).await?)?;
    same("and by a clock that is behind", some("1"), desk.earlier(1_000_000).get(&of("a")).await?)
}

pub(crate) async fn a_put_takes_the_place_of_a_lifetime(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    desk.put_for(&of("a"), "1", 10).await?;
    desk.put(&of("a"), "2").await?;
    same("a put without a lifetime is for ever", some("2"), desk.later(100_000).get(&of("a")).await?)?;
    desk.put_for(&of("a"), "3", 1_000).await?;
    desk.put_for(&of("a"), "4", 10).await?;
    same("a put may shorten a life", None, desk.later(10).get(&of("a")).await?)?;
    desk.later(10).put_for(&of("a"), "5", 10).await?;
    same("and begin another", some("5"), desk.later(19).get(&of("a")).await?)?;
    same(
        "what lives again is not swept",
        0,
        desk.later(19).clear(Clear::Expired { now: desk.later(19).now }).await?,
    )
}

pub(crate) async fn what_expires_does_not_fill_the_cache(here: Here<'_>) -> Result<(), Broken> {
    let mut desk = here.open().await?;
    for n in 0..200 {
        desk = desk.later(2);
        desk.put_for(&of(&n.to_string()), "1", 1).await?;
    }
    let left = desk.clear(Clear::Expired { now: desk.later(2).now }).await?;
    holds("puts take what has expired with them", left < 100, left)
}
