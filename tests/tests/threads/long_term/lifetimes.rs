//! The lifetime of items: by the store's default, by their own time to live, and extended by reads.

use std::time::Duration;

use superstep::store::{Items, StoreError};

use super::clock::{Clock, seconds};

async fn there(items: &Items<u32>) -> Vec<String> {
    let page = items.search().await.unwrap();
    page.items.iter().map(|found| found.key.to_string()).collect()
}

#[tokio::test]
async fn item_ttl_overrides_the_default() {
    let clock = Clock::default();
    let items = clock.store().ttl(seconds(60)).of::<u32>("a");
    items.put("rule", &1).await.unwrap();
    items.put("short", &1).ttl(seconds(10)).await.unwrap();
    items.put("forever", &1).forever().await.unwrap();
    clock.advance(10);
    assert_eq!(there(&items).await, ["forever", "rule"]);
    assert_eq!(items.get("short").await.unwrap(), None);
    clock.advance(49);
    assert_eq!(items.item("rule").await.unwrap().unwrap().expires_at, Some(clock.now() + seconds(1)));
    clock.advance(1);
    assert_eq!(there(&items).await, ["forever"]);
    assert_eq!(items.item("forever").await.unwrap().unwrap().expires_at, None);
}

#[tokio::test]
async fn read_extends_a_lifetime_only_if_enabled() {
    let clock = Clock::default();
    let store = clock.store().ttl(seconds(60));
    let plain = store.of::<u32>("a");
    let refreshing = plain.clone().refreshing(true);
    for key in ["got", "found", "left"] {
        plain.put(key, &1).await.unwrap();
    }
    clock.advance(50);
    assert_eq!(plain.get("left").await.unwrap(), Some(1));
    assert_eq!(refreshing.get("got").await.unwrap(), Some(1));
    let found = refreshing.search().limit(1).await.unwrap();
    assert_eq!((&*found.items[0].key, found.more), ("found", true));
    assert_eq!(found.items[0].expires_at, Some(clock.now() + seconds(60)));
    clock.advance(59);
    assert_eq!(there(&plain).await, ["found", "got"]);
    clock.advance(1);
    assert_eq!(there(&plain).await, [""; 0]);

    let items = store.refresh_on_read().of::<u32>("b");
    items.put("kept", &1).await.unwrap();
    for _ in 0..5 {
        clock.advance(59);
        assert_eq!(items.get("kept").await.unwrap(), Some(1));
    }
    clock.advance(59);
    assert_eq!(items.clone().refreshing(false).get("kept").await.unwrap(), Some(1));
    clock.advance(1);
    assert_eq!(items.get("kept").await.unwrap(), None);
}

#[tokio::test]
async fn writes_and_sweeps_remove_expired_items() {
    let clock = Clock::default();
    let store = clock.store().ttl(seconds(1));
    let items = store.of::<u32>("a");
    for key in 0..300 {
        items.put(key.to_string(), &1).await.unwrap();
    }
    clock.advance(1);
    // A write removes some expired items.
    items.put("new", &1).await.unwrap();
    assert!(store.delete_expired().await.unwrap() < 300);
    assert_eq!(store.delete_expired().await.unwrap(), 0);
    assert_eq!(there(&items).await, ["new"]);
}

#[tokio::test]
async fn invalid_ttl_writes_nothing() {
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
