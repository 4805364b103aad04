//! Results with a time to live.

use superstep_store::cache::Clear;

use crate::Broken;
use crate::cache::case::Target;
use crate::cache::fixture::{of, some};
use crate::expect::{holds, same};

pub(crate) async fn expired_result_is_not_found(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture.put_for(&of("a"), "1", 1_000).await?;
    same("a result is found at the time of its put", some("1"), fixture.get(&of("a")).await?)?;
    same("a result is found until it expires", some("1"), fixture.later(999).get(&of("a")).await?)?;
    same("a result is not found after it expires", None, fixture.later(1_000).get(&of("a")).await?)
}

pub(crate) async fn result_is_not_found_before_its_put_time(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture.put_for(&of("a"), "1", 1_000).await?;
    same("a result is not found before the time of its put", None, fixture.earlier(1).get(&of("a")).await?)?;
    same("a read removes nothing", some("1"), fixture.get(&of("a")).await?)
}

pub(crate) async fn result_without_ttl_never_expires(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture.put(&of("a"), "1").await?;
    same(
        "a result without a time to live is found much later",
        some("1"),
        fixture.later(1_000_000_000_000).get(&of("a")).await?,
    )?;
    same(
        "a result without a time to live is found at an earlier time",
        some("1"),
        fixture.earlier(1_000_000).get(&of("a")).await?,
    )
}

pub(crate) async fn put_replaces_the_time_to_live(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture.put_for(&of("a"), "1", 10).await?;
    fixture.put(&of("a"), "2").await?;
    same(
        "a put without a time to live does not expire",
        some("2"),
        fixture.later(100_000).get(&of("a")).await?,
    )?;
    fixture.put_for(&of("a"), "3", 1_000).await?;
    fixture.put_for(&of("a"), "4", 10).await?;
    same("a put may shorten the time to live", None, fixture.later(10).get(&of("a")).await?)?;
    fixture.later(10).put_for(&of("a"), "5", 10).await?;
    same("a put after expiry starts a new time to live", some("5"), fixture.later(19).get(&of("a")).await?)?;
    same(
        "a result that was put again is not swept",
        0,
        fixture.later(19).clear(Clear::expired(fixture.later(19).now)).await?,
    )
}

pub(crate) async fn expired_results_do_not_fill_the_cache(target: Target<'_>) -> Result<(), Broken> {
    let mut fixture = target.open().await?;
    for n in 0..200 {
        fixture = fixture.later(2);
        fixture.put_for(&of(&n.to_string()), "1", 1).await?;
    }
    let left = fixture.clear(Clear::expired(fixture.later(2).now)).await?;
    holds("puts remove expired results", left < 100, left)
}
