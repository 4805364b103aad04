//! Items that live for a time.

use std::time::{Duration, SystemTime};

use superstep_store::store::{NamespaceQuery, Search};

use crate::Broken;
use crate::expect::{holds, same};
use crate::store::case::Target;
use crate::store::fixture::{Fixture, at, put, put_for};

pub(crate) async fn expired_item_does_not_exist(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let (short, long) = (at("short", "k"), at("long", "k"));
    fixture.write(vec![put_for(&short, "1", 10), put(&long, "2")]).await?;
    let expires_at = fixture.item(&short).await?.map(|item| item.expires_at);
    same("an item says when it expires", Some(Some(fixture.now + Duration::from_secs(10))), expires_at)?;
    let last = Fixture { now: fixture.now + Duration::from_millis(9_999), ..fixture.clone() };
    holds("an item lives until its time is up", last.item(&short).await?.is_some(), "nothing")?;
    let fixture = fixture.later(10);
    same("what has expired is not read", None, fixture.item(&short).await?)?;
    same(
        "what has expired is not found",
        vec![long.clone()],
        fixture.found(fixture.within([""; 0])).await?.0,
    )?;
    let listed = fixture.namespaces(NamespaceQuery::all(fixture.now)).await?.items;
    same("where all has expired is not listed", vec![long.namespace], listed)?;
    same("what has expired is not there to be deleted", false, fixture.delete(&short).await?)
}

pub(crate) async fn put_after_expiry_creates_a_new_item(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let at = at("n", "k");
    fixture.put_for(&at, "1", 10).await?;
    let later = fixture.later(10);
    same("what has expired was not there", false, later.put(&at, "2").await?)?;
    let item = later.item(&at).await?.map(|item| (item.created_at, item.expires_at));
    same("what has expired is created anew", Some((later.now, None)), item)
}

pub(crate) async fn put_replaces_the_time_to_live(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let at = at("n", "k");
    fixture.put_for(&at, "1", 10).await?;
    fixture.put(&at, "2").await?;
    same(
        "a put without a lifetime is for ever",
        Some("2".to_owned()),
        fixture.later(1_000_000_000).read(&at).await?,
    )?;
    fixture.put_for(&at, "3", 100).await?;
    fixture.put_for(&at, "4", 10).await?;
    same("a put may shorten a life", None, fixture.later(10).read(&at).await?)?;
    fixture.put_for(&at, "5", 100).await?;
    same("and prolong it", Some("5".to_owned()), fixture.later(99).read(&at).await?)?;
    same("what lives for ever again is not swept", 0, fixture.later(99).sweep().await?)
}

async fn expires(fixture: &Fixture, key: &str) -> Result<Option<SystemTime>, Broken> {
    Ok(fixture.item(&at("n", key)).await?.and_then(|item| item.expires_at))
}

pub(crate) async fn refresh_restarts_the_time_to_live(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    fixture
        .write(vec![
            put_for(&at("n", "a"), "1", 10),
            put_for(&at("n", "b"), "1", 10),
            put(&at("n", "c"), "1"),
        ])
        .await?;
    let later = fixture.later(6);
    same(
        "a read alone prolongs nothing",
        Some(fixture.now + Duration::from_secs(10)),
        expires(&later, "a").await?,
    )?;
    let keys = ["a", "gone", "c"].map(|key| at("n", key)).to_vec();
    let told: Vec<_> =
        later.items(keys, true).await?.into_iter().map(|item| item.map(|item| item.expires_at)).collect();
    let anew = later.now + Duration::from_secs(10);
    same("a refresh says when the item will expire", vec![Some(Some(anew)), None, Some(None)], told)?;
    same("a refresh begins the lifetime anew", Some(anew), expires(&later, "a").await?)?;
    let item = later.item(&at("n", "a")).await?.map(|item| (item.created_at, item.updated_at));
    same("a refresh is no write of the value", Some((fixture.now, fixture.now)), item)?;
    same(
        "what was refreshed lives on, and nothing else",
        vec!["a".to_owned(), "c".to_owned()],
        later.later(9).keys(fixture.within("n")).await?,
    )?;
    same(
        "and expires when it was said",
        vec!["c".to_owned()],
        later.later(10).keys(fixture.within("n")).await?,
    )?;
    let revived = later.later(10).items(vec![at("n", "a")], true).await?;
    same("what has expired is not refreshed", vec![None], revived)
}

pub(crate) async fn refresh_never_makes_an_item_expire_earlier(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let later = fixture.later(100);
    later.put_for(&at("n", "a"), "1", 10).await?;
    let end = later.now + Duration::from_secs(10);
    let told =
        fixture.items(vec![at("n", "a")], true).await?.pop().flatten().and_then(|item| item.expires_at);
    same("a clock that lags behind shortens no life", Some(end), told)?;
    same("a clock that lags behind shortens no life", Some(end), expires(&fixture, "a").await?)
}

pub(crate) async fn search_refreshes_only_returned_items(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    for key in ["a", "b", "c"] {
        fixture.put_for(&at("n", key), "1", 10).await?;
    }
    let later = fixture.later(6);
    let page = later.search(Search { refresh: true, offset: 1, limit: Some(1), ..later.within("n") }).await?;
    let told: Vec<_> = page.items.iter().map(|found| (&*found.key, found.expires_at)).collect();
    same(
        "a search says when what it refreshes expires",
        vec![("b", Some(later.now + Duration::from_secs(10)))],
        told,
    )?;
    same(
        "a search refreshes what it gives",
        vec!["b".to_owned()],
        later.later(9).keys(fixture.within("n")).await?,
    )
}

pub(crate) async fn sweep_removes_exactly_the_expired_items(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let writes =
        (0..3_000).map(|n| put_for(&at(["n", &(n % 7).to_string()], &n.to_string()), "1", 1 + n % 3));
    fixture.write(writes.collect()).await?;
    fixture.put(&at("n", "for ever"), "1").await?;
    same("nothing is swept before its time", 0, fixture.sweep().await?)?;
    same("a sweep takes what has expired", 1_000, fixture.later(1).sweep().await?)?;
    same("once", 0, fixture.later(1).sweep().await?)?;
    same("and nothing else", 2_001, fixture.later(1).keys(fixture.within("n")).await?.len())?;
    same("a sweep takes what has expired", 2_000, fixture.later(3).sweep().await?)?;
    same(
        "what was swept was gone also for a clock that lags behind",
        1,
        fixture.keys(fixture.within([""; 0])).await?.len(),
    )
}

pub(crate) async fn expired_items_do_not_fill_the_store(target: Target<'_>) -> Result<(), Broken> {
    let mut fixture = target.open().await?;
    for n in 0..200 {
        fixture = fixture.later(2);
        fixture.put_for(&at("n", &n.to_string()), "1", 1).await?;
    }
    let left = fixture.later(2).sweep().await?;
    holds("writes take what has expired with them", left < 100, left)
}
