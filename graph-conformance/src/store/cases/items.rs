//! Reads and writes of items by key.

use std::time::{Duration, UNIX_EPOCH};

use superstep_store::payload::{Encoding, Payload};
use superstep_store::store::{Item, ItemWrite, NamespaceQuery};

use crate::Broken;
use crate::expect::same;
use crate::store::case::Target;
use crate::store::fixture::{Fixture, at, put};

pub(crate) async fn missing_item_is_not_an_error(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let missing = at(["a", "b"], "k");
    same("a missing item is `None`", None, fixture.item(&missing).await?)?;
    same("deleting a missing item returns `false`", false, fixture.delete(&missing).await?)?;
    same(
        "a search of an empty store finds nothing",
        (vec![], false),
        fixture.found(fixture.within("a")).await?,
    )?;
    let listed = fixture.namespaces(NamespaceQuery::new(fixture.now)).await?;
    same("an empty store has no namespaces", (0, false), (listed.items.len(), listed.more))?;
    same("a sweep of an empty store removes nothing", 0, fixture.delete_expired().await?)?;
    same("an empty batch is accepted", Vec::<bool>::new(), fixture.write(Vec::new()).await?)?;
    same("an empty list of keys is accepted", 0, fixture.items(Vec::new(), false).await?.len())
}

pub(crate) async fn item_reads_back_unchanged(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let payloads = [
        Payload::json(r#"{"a":[1,2.50,"x"],"b":null}"#),
        Payload::json("\"\u{65e5}\\u0000\""),
        Payload::json("null"),
        Payload::new(Encoding::Bytes, vec![0, 1, 255]),
        Payload::new(Encoding::Bytes, Vec::new()),
        Payload::new(Encoding::Sealed, vec![7, 0]),
    ];
    for (n, value) in payloads.into_iter().enumerate() {
        let at = at(["users", "1"], &n.to_string());
        same(
            "no item existed before",
            vec![false],
            fixture.write(vec![ItemWrite::put(at.clone(), value.clone())]).await?,
        )?;
        let (created_at, updated_at) = (fixture.now, fixture.now);
        let expected =
            Item::new(at.namespace.clone(), at.key.clone(), value, created_at).updated_at(updated_at);
        same("an item reads back unchanged", Some(expected), fixture.later(5).item(&at).await?)?;
    }
    Ok(())
}

pub(crate) async fn overwrite_keeps_the_creation_time(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let at = at("a", "k");
    fixture.put(&at, "1").await?;
    let later = fixture.later(10);
    same("an overwrite returns `true`", true, later.put(&at, "2").await?)?;
    let item = later.item(&at).await?.map(|item| (item.value, item.created_at, item.updated_at));
    let expected = (Payload::json("2"), fixture.now, later.now);
    same("an overwrite keeps only the creation time", Some(expected), item)
}

pub(crate) async fn deleted_item_gets_a_new_creation_time(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let at = at("a", "k");
    fixture.put(&at, "1").await?;
    same("deleting an existing item returns `true`", true, fixture.delete(&at).await?)?;
    same("a deleted item is not found", None, fixture.item(&at).await?)?;
    same("deleting an item twice returns `false`", false, fixture.delete(&at).await?)?;
    let later = fixture.later(10);
    same("a put after a deletion returns `false`", false, later.put(&at, "2").await?)?;
    let created = later.item(&at).await?.map(|item| item.created_at);
    same("a put after a deletion sets a new creation time", Some(later.now), created)
}

pub(crate) async fn times_have_millisecond_precision(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let at = at("a", "k");
    let whole = UNIX_EPOCH + Duration::from_millis(1_700_000_000_001);
    for (now, expected) in [
        (whole + Duration::from_nanos(999_999), whole),
        (UNIX_EPOCH, UNIX_EPOCH),
        (UNIX_EPOCH - Duration::from_millis(86_400_001), UNIX_EPOCH - Duration::from_millis(86_400_001)),
    ] {
        Fixture { now, ..fixture.clone() }.put(&at, "1").await?;
        let updated = fixture.item(&at).await?.map(|item| item.updated_at);
        same("times have millisecond precision, also before 1970", Some(expected), updated)?;
    }
    Ok(())
}

pub(crate) async fn items_are_read_in_the_order_of_the_keys(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    for key in ["a", "b", "c"] {
        fixture.put(&at("n", key), &format!("\"{key}\"")).await?;
    }
    fixture.put(&at("m", "a"), "\"other\"").await?;
    let keys = [("n", "c"), ("n", "missing"), ("m", "a"), ("n", "a"), ("n", "c")]
        .map(|(n, key)| at(n, key))
        .to_vec();
    let items = fixture.items(keys, false).await?;
    let texts: Vec<_> =
        items.iter().map(|item| item.as_ref().map(|item| crate::store::fixture::text(&item.value))).collect();
    let expected = [Some("\"c\""), None, Some("\"other\""), Some("\"a\""), Some("\"c\"")];
    same(
        "items are read in the order of the keys",
        expected.map(|text| text.map(str::to_owned)).to_vec(),
        texts,
    )
}

pub(crate) async fn batch_is_written_in_order(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let (one, two) = (at("a", "1"), at(["a", "b"], "2"));
    let writes = vec![
        ItemWrite::Delete(one.clone()),
        put(&one, "1"),
        put(&one, "2"),
        ItemWrite::Delete(one.clone()),
        put(&one, "3"),
        put(&two, "4"),
    ];
    let existed = fixture.write(writes).await?;
    same("each write sees the writes before it", vec![false, false, true, true, false, false], existed)?;
    same("the last write is kept", Some("3".to_owned()), fixture.read(&one).await?)?;
    same("the last write is kept", Some("4".to_owned()), fixture.read(&two).await?)
}

pub(crate) async fn value_of_two_megabytes_is_stored(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let at = at("a", "k");
    let value = format!("\"{}\"", "\u{e9}".repeat(1 << 20));
    fixture.put(&at, &value).await?;
    same("a large value is stored", Some(value), fixture.read(&at).await?)
}

pub(crate) async fn store_keeps_many_items(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    for block in 0..20 {
        let writes =
            (0..100).map(|n| put(&at(["all", &format!("{block}")], &format!("{n:03}")), &format!("{n}")));
        fixture.write(writes.collect()).await?;
    }
    let (found, more) = fixture.found(fixture.within("all")).await?;
    same("many items are found", (2_000, false), (found.len(), more))?;
    let (found, _) = fixture.found(fixture.within(["all", "7"])).await?;
    same("each namespace has its own items", 100, found.len())?;
    same("each item has its own value", Some("42".to_owned()), fixture.read(&at(["all", "13"], "042")).await?)
}
