//! Results that are there for a time.

use superstep_store::cache::Clear;

use crate::Broken;
use crate::cache::case::Target;
use crate::cache::fixture::{of, some};
use crate::expect::{holds, same};

pub(crate) async fn expired_result_is_not_found(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture.put_for(&of("a"), "1", 1_000).await?;
    same("a result is there at once", some("1"), fixture.get(&of("a")).await?)?;
    same("until its time is up", some("1"), fixture.later(999).get(&of("a")).await?)?;
    same("and then no more", None, fixture.later(1_000).get(&of("a")).await?)
}

pub(crate) async fn result_is_not_found_before_its_put_time(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture.put_for(&of("a"), "1", 1_000).await?;
    same("before it was put it is not there", None, fixture.earlier(1).get(&of("a")).await?)?;
    same("a look takes nothing away", some("1"), fixture.get(&of("a")).await?)
}

pub(crate) async fn result_without_ttl_never_expires(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture.put(&of("a"), "1").await?;
    same("long after", some("1"), fixture.later(1_000_000_000_000).get(&of("a")).await?)?;
    same("and by a clock that is behind", some("1"), fixture.earlier(1_000_000).get(&of("a")).await?)
}

pub(crate) async fn put_replaces_the_time_to_live(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture.put_for(&of("a"), "1", 10).await?;
    fixture.put(&of("a"), "2").await?;
    same("a put without a lifetime is for ever", some("2"), fixture.later(100_000).get(&of("a")).await?)?;
    fixture.put_for(&of("a"), "3", 1_000).await?;
    fixture.put_for(&of("a"), "4", 10).await?;
    same("a put may shorten a life", None, fixture.later(10).get(&of("a")).await?)?;
    fixture.later(10).put_for(&of("a"), "5", 10).await?;
    same("and begin another", some("5"), fixture.later(19).get(&of("a")).await?)?;
    same(
        "what lives again is not swept",
        0,
        fixture.later(19).clear(Clear::Expired { now: fixture.later(19).now }).await?,
    )
}

pub(crate) async fn expired_results_do_not_fill_the_cache(target: Target<'_>) -> Result<(), Broken> {
    let mut fixture = target.open().await?;
    for n in 0..200 {
        fixture = fixture.later(2);
        fixture.put_for(&of(&n.to_string()), "1", 1).await?;
    }
    let left = fixture.clear(Clear::Expired { now: fixture.later(2).now }).await?;
    holds("puts take what has expired with them", left < 100, left)
}
