//! Items with a time to live.

use std::time::{Duration, SystemTime};

use superstep_store::store::NamespaceQuery;

use crate::Broken;
use crate::expect::{holds, same};
use crate::store::case::Target;
use crate::store::fixture::{Fixture, at, put, put_for};

pub(crate) async fn expired_item_does_not_exist(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let (short, long) = (at("short", "k"), at("long", "k"));
    fixture.write(vec![put_for(&short, "1", 10), put(&long, "2")]).await?;
    let expires_at = fixture.item(&short).await?.map(|item| item.expires_at);
    same("an item has its expiration time", Some(Some(fixture.now + Duration::from_secs(10))), expires_at)?;
    let last = Fixture { now: fixture.now + Duration::from_millis(9_999), ..fixture.clone() };
    holds("an item exists until it expires", last.item(&short).await?.is_some(), "nothing")?;
    let fixture = fixture.later(10);
    same("an expired item is not read", None, fixture.item(&short).await?)?;
    same(
        "an expired item is not found",
        vec![long.clone()],
        fixture.found(fixture.within([""; 0])).await?.0,
    )?;
    let listed = fixture.namespaces(NamespaceQuery::new(fixture.now)).await?.items;
    same("a namespace with only expired items is not listed", vec![long.namespace], listed)?;
    same("deleting an expired item returns `false`", false, fixture.delete(&short).await?)
}

pub(crate) async fn put_after_expiry_creates_a_new_item(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let at = at("n", "k");
    fixture.put_for(&at, "1", 10).await?;
    let later = fixture.later(10);
    same("a put over an expired item returns `false`", false, later.put(&at, "2").await?)?;
    let item = later.item(&at).await?.map(|item| (item.created_at, item.expires_at));
    same("a put over an expired item sets a new creation time", Some((later.now, None)), item)
}

pub(crate) async fn put_replaces_the_time_to_live(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let at = at("n", "k");
    fixture.put_for(&at, "1", 10).await?;
    fixture.put(&at, "2").await?;
    same(
        "a put without a time to live does not expire",
        Some("2".to_owned()),
        fixture.later(1_000_000_000).read(&at).await?,
    )?;
    fixture.put_for(&at, "3", 100).await?;
    fixture.put_for(&at, "4", 10).await?;
    same("a put may shorten the time to live", None, fixture.later(10).read(&at).await?)?;
    fixture.put_for(&at, "5", 100).await?;
    same("a put may extend the time to live", Some("5".to_owned()), fixture.later(99).read(&at).await?)?;
    same("an item that was put again is not swept", 0, fixture.later(99).delete_expired().await?)
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
        "a read without refresh does not extend the time to live",
        Some(fixture.now + Duration::from_secs(10)),
        expires(&later, "a").await?,
    )?;
    let keys = ["a", "missing", "c"].map(|key| at("n", key)).to_vec();
    let expirations: Vec<_> =
        later.items(keys, true).await?.into_iter().map(|item| item.map(|item| item.expires_at)).collect();
    let restarted = later.now + Duration::from_secs(10);
    same(
        "a refresh returns the new expiration time",
        vec![Some(Some(restarted)), None, Some(None)],
        expirations,
    )?;
    same("a refresh restarts the time to live", Some(restarted), expires(&later, "a").await?)?;
    let item = later.item(&at("n", "a")).await?.map(|item| (item.created_at, item.updated_at));
    same("a refresh does not change `updated_at`", Some((fixture.now, fixture.now)), item)?;
    same(
        "only the refreshed items still exist",
        vec!["a".to_owned(), "c".to_owned()],
        later.later(9).keys(fixture.within("n")).await?,
    )?;
    same(
        "a refreshed item expires at its new time",
        vec!["c".to_owned()],
        later.later(10).keys(fixture.within("n")).await?,
    )?;
    let revived = later.later(10).items(vec![at("n", "a")], true).await?;
    same("an expired item is not refreshed", vec![None], revived)
}

pub(crate) async fn refresh_never_makes_an_item_expire_earlier(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let later = fixture.later(100);
    later.put_for(&at("n", "a"), "1", 10).await?;
    let end = later.now + Duration::from_secs(10);
    let expirations =
        fixture.items(vec![at("n", "a")], true).await?.pop().flatten().and_then(|item| item.expires_at);
    same("a refresh at an earlier time does not shorten the time to live", Some(end), expirations)?;
    same(
        "a refresh at an earlier time does not shorten the time to live",
        Some(end),
        expires(&fixture, "a").await?,
    )
}

pub(crate) async fn search_refreshes_only_returned_items(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    for key in ["a", "b", "c"] {
        fixture.put_for(&at("n", key), "1", 10).await?;
    }
    let later = fixture.later(6);
    let page = later.search(later.within("n").offset(1).limit(1).refresh(true)).await?;
    let expirations: Vec<_> = page.items.iter().map(|found| (&*found.key, found.expires_at)).collect();
    same(
        "a search returns the new expiration times",
        vec![("b", Some(later.now + Duration::from_secs(10)))],
        expirations,
    )?;
    same(
        "a search refreshes only the returned items",
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
    same("an item is not swept before it expires", 0, fixture.delete_expired().await?)?;
    same("a sweep removes the expired items", 1_000, fixture.later(1).delete_expired().await?)?;
    same("a repeated call removes nothing", 0, fixture.later(1).delete_expired().await?)?;
    same("nothing else is removed", 2_001, fixture.later(1).keys(fixture.within("n")).await?.len())?;
    same("a sweep removes the expired items", 2_000, fixture.later(3).delete_expired().await?)?;
    same(
        "swept items do not exist at an earlier time either",
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
    let left = fixture.later(2).delete_expired().await?;
    holds("writes remove expired items", left < 100, left)
}
