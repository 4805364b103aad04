//! Items by their keys.

use std::time::{Duration, UNIX_EPOCH};

use superstep_store::payload::{Encoding, Payload};
use superstep_store::store::{Item, ItemWrite, NamespaceQuery};

use crate::Broken;
use crate::expect::same;
use crate::store::case::Here;
use crate::store::desk::{Desk, at, put};

pub(crate) async fn what_is_not_there_is_no_error(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    let gone = at(["a", "b"], "k");
    same("an item that is not there is none", None, desk.item(&gone).await?)?;
    same("nothing is deleted that is not there", false, desk.delete(&gone).await?)?;
    same("nothing is found where nothing is", (vec![], false), desk.found(desk.within("a")).await?)?;
    let listed = desk.namespaces(NamespaceQuery::all(desk.now)).await?;
    same("no namespace is listed where nothing is", (0, false), (listed.items.len(), listed.more))?;
    same("nothing is swept where nothing is", 0, desk.sweep().await?)?;
    same("nothing can be written", Vec::<bool>::new(), desk.write(Vec::new()).await?)?;
    same("nothing can be read", 0, desk.items(Vec::new(), false).await?.len())
}

pub(crate) async fn an_item_is_read_back_as_it_was_written(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
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
            "nothing was there before",
            vec![false],
            desk.write(vec![ItemWrite::put(at.clone(), value.clone())]).await?,
        )?;
        let (created_at, updated_at) = (desk.now, desk.now);
        let expected = Item {
            namespace: at.namespace.clone(),
            key: at.key.clone(),
            value,
            created_at,
            updated_at,
            expires_at: None,
        };
        same("an item is read back as it was written", Some(expected), desk.later(5).item(&at).await?)?;
    }
    Ok(())
}

pub(crate) async fn an_overwrite_keeps_when_it_was_created(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    let at = at("a", "k");
    desk.put(&at, "1").await?;
    let later = desk.later(10);
    same("an overwrite says that something was there", true, later.put(&at, "2").await?)?;
    let item = later.item(&at).await?.map(|item| (item.value, item.created_at, item.updated_at));
    let expected = (Payload::json("2"), desk.now, later.now);
    same("an overwrite keeps when the item was created, and nothing else", Some(expected), item)
}

pub(crate) async fn an_item_that_was_deleted_is_created_anew(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    let at = at("a", "k");
    desk.put(&at, "1").await?;
    same("what is there is deleted", true, desk.delete(&at).await?)?;
    same("what was deleted is gone", None, desk.item(&at).await?)?;
    same("it is deleted once", false, desk.delete(&at).await?)?;
    let later = desk.later(10);
    same("what was deleted is not there", false, later.put(&at, "2").await?)?;
    let created = later.item(&at).await?.map(|item| item.created_at);
    same("what was deleted is created anew", Some(later.now), created)
}

pub(crate) async fn times_are_kept_to_the_millisecond(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    let at = at("a", "k");
    let whole = UNIX_EPOCH + Duration::from_millis(1_700_000_000_001);
    for (now, expected) in [
        (whole + Duration::from_nanos(999_999), whole),
        (UNIX_EPOCH, UNIX_EPOCH),
        (UNIX_EPOCH - Duration::from_millis(86_400_001), UNIX_EPOCH - Duration::from_millis(86_400_001)),
    ] {
        Desk { now, ..desk.clone() }.put(&at, "1").await?;
        let updated = desk.item(&at).await?.map(|item| item.updated_at);
        same("times are kept to the millisecond, before 1970 too", Some(expected), updated)?;
    }
    Ok(())
}

pub(crate) async fn items_are_read_in_the_order_in_which_they_are_named(
    here: Here<'_>,
) -> Result<(), Broken> {
    let desk = here.open().await?;
    for key in ["a", "b", "c"] {
        desk.put(&at("n", key), &format!("\"{key}\"")).await?;
    }
    desk.put(&at("m", "a"), "\"other\"").await?;
    let keys =
        [("n", "c"), ("n", "gone"), ("m", "a"), ("n", "a"), ("n", "c")].map(|(n, key)| at(n, key)).to_vec();
    let items = desk.items(keys, false).await?;
    let texts: Vec<_> =
        items.iter().map(|item| item.as_ref().map(|item| crate::store::desk::text(&item.value))).collect();
    let expected = [Some("\"c\""), None, Some("\"other\""), Some("\"a\""), Some("\"c\"")];
    same(
        "items are read in the order in which they are named",
        expected.map(|text| text.map(str::to_owned)).to_vec(),
        texts,
    )
}

pub(crate) async fn a_batch_is_made_in_its_order(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    let (one, two) = (at("a", "1"), at(["a", "b"], "2"));
    let writes = vec![
        ItemWrite::Delete(one.clone()),
        put(&one, "1"),
        put(&one, "2"),
        ItemWrite::Delete(one.clone()),
        put(&one, "3"),
        put(&two, "4"),
    ];
    let were_there = desk.write(writes).await?;
    same("each write sees those before it", vec![false, false, true, true, false, false], were_there)?;
    same("the last write stays", Some("3".to_owned()), desk.read(&one).await?)?;
    same("the last write stays", Some("4".to_owned()), desk.read(&two).await?)
}

pub(crate) async fn a_value_of_two_megabytes_is_kept(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    let at = at("a", "k");
    let value = format!("\"{}\"", "\u{e9}".repeat(1 << 20));
    desk.put(&at, &value).await?;
    same("a large value is kept", Some(value), desk.read(&at).await?)
}

pub(crate) async fn many_items_are_kept(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    for block in 0..20 {
        let writes =
            (0..100).map(|n| put(&at(["all", &format!("{block}")], &format!("{n:03}")), &format!("{n}")));
        desk.write(writes.collect()).await?;
    }
    let (found, more) = desk.found(desk.within("all")).await?;
    same("many items are found", (2_000, false), (found.len(), more))?;
    let (found, _) = desk.found(desk.within(["all", "7"])).await?;
    same("each namespace has its own", 100, found.len())?;
    same("each item has its own value", Some("42".to_owned()), desk.read(&at(["all", "13"], "042")).await?)
}
