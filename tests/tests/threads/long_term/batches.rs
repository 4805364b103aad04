//! Batches of writes.

use superstep::store::{LongTermStore, MemoryStore};

#[tokio::test]
async fn batch_is_written_all_or_nothing() {
    let store = LongTermStore::new(MemoryStore::new());
    let (one, other) = (store.of::<f64>("one"), store.of::<f64>("other"));
    let were_there = store
        .batch()
        .put(one.put("a", &1.0))
        .put(other.put("b", &2.0))
        .delete("one", "a")
        .delete("one", "gone")
        .await
        .unwrap();
    assert_eq!(were_there, [false, false, true, false]);
    assert_eq!((one.get("a").await.unwrap(), other.get("b").await.unwrap()), (None, Some(2.0)));

    store.batch().put(one.put("a", &3.0)).put(other.put("b", &f64::NAN)).await.unwrap_err();
    assert_eq!((one.get("a").await.unwrap(), other.get("b").await.unwrap()), (None, Some(2.0)));
    assert_eq!(store.batch().await.unwrap(), [false; 0]);
}
