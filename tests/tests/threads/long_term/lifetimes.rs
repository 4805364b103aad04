//! How long an item lives, by the store's rule, by its own, and by being read.

use std::time::Duration;

use superstep::store::{Items, StoreError};

use super::clock::{Clock, seconds};

async fn there(items: &Items<u32>) -> Vec<String> {
    let page = items.search().await.unwrap();
    page.items.iter().map(|found| found.key.to_string()).collect()
}

#[tokio::test]
async fn an_item_lives_as_the_store_says_or_as_it_says_itself() {
    let clock = Clock::default();
    let items = clock.store().ttl(seconds(60)).of::<u32>("a");
    items.put("rule", &1).await.unwrap();
    items.put("short", &1).ttl(seconds(10)).await.unwrap();
    items.put("forever", &1).forever().await.unwrap();
    clock.wind(10);
    assert_eq!(there(&items).await, ["forever", "rule"]);
    assert_eq!(items.get("short").await.unwrap(), None);
    clock.wind(49);
    assert_eq!(items.item("rule").await.unwrap().unwrap().expires_at, Some(clock.now() + seconds(1)));
    clock.wind(1);
    assert_eq!(there(&items).await, ["forever"]);
    assert_eq!(items.item("forever").await.unwrap().unwrap().expires_at, None);
}

#[tokio::test]
async fn what_is_read_lives_on_only_where_it_is_said() {
    let clock = Clock::default();
    let store = clock.store().ttl(seconds(60));
    let plain = store.of::<u32>("a");
    let refreshing = plain.clone().refreshing(true);
    for key in ["got", "found", "left"] {
        plain.put(key, &1).await.unwrap();
    }
    clock.wind(50);
    assert_eq!(plain.get("left").await.unwrap(), Some(1));
    assert_eq!(refreshing.get("got").await.unwrap(), Some(1));
    let found = refreshing.search().limit(1).await.unwrap();
    assert_eq!((&*found.items[0].key, found.more), ("found", true));
    assert_eq!(found.items[0].expires_at, Some(clock.now() + seconds(60)));
    clock.wind(59);
    assert_eq!(there(&plain).await, ["found", "got"]);
    clock.wind(1);
    assert_eq!(there(&plain).await, [""; 0]);

    let items = store.refresh_on_read().of::<u32>("b");
    items.put("kept", &1).await.unwrap();
    for _ in 0..5 {
        clock.wind(59);
        assert_eq!(items.get("kept").await.unwrap(), Some(1));
    }
    clock.wind(59);
    assert_eq!(items.clone().refreshing(false).get("kept").await.unwrap(), Some(1));
    clock.wind(1);
    assert_eq!(items.get("kept").await.unwrap(), None);
}

#[tokio::test]
async fn what_has_expired_is_swept_by_writes_and_by_a_sweep() {
    let clock = Clock::default();
    let store = clock.store().ttl(seconds(1));
    let items = store.of::<u32>("a");
    for key in 0..300 {
        items.put(key.to_string(), &1).await.unwrap();
    }
    clock.wind(1);
    // The write takes some of them with it.
    items.put("new", &1).await.unwrap();
    assert!(store.sweep().await.unwrap() < 300);
    assert_eq!(store.sweep().await.unwrap(), 0);
    assert_eq!(there(&items).await, ["new"]);
}

#[tokio::test]
async fn a_lifetime_that_is_none_is_refused_and_nothing_is_written() {
    let store = Clock::default().store();
    let items = store.of::<u32>("a");
    let error = items.put("k", &1).ttl(Duration::ZERO).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "a time to live of 0ns is too short: use at least one millisecond, or delete the item"
    );
    let too_long = items.put("k", &1).ttl(Duration::MAX).await.unwrap_err();
    assert!(matches!(too_long, StoreError::Invalid { .. }), "{too_long}");
    assert!(store.clone().ttl(Duration::ZERO).of::<u32>("a").put("k", &1).await.is_err());
    assert_eq!(items.get("k").await.unwrap(), None);
}
