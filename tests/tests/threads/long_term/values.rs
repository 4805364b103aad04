//! Values of any type, and the values that are refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use superstep::store::{LongTermStore, MemoryStore, StoreError, gt};

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Profile {
    name: String,
    age: Option<u8>,
    scores: BTreeMap<String, f64>,
}

fn store() -> LongTermStore {
    LongTermStore::new(MemoryStore::new())
}

#[tokio::test]
async fn value_round_trips() {
    let store = store();
    let profiles = store.of::<Profile>(["users", "ann"]);
    let ann =
        Profile { name: "Ann \u{1F980}\0\"".into(), age: None, scores: [("a.b".into(), 0.1 + 0.2)].into() };
    profiles.put("profile", &ann).await.unwrap();
    assert_eq!(profiles.get("profile").await.unwrap(), Some(ann.clone()));
    assert_eq!(profiles.get("other").await.unwrap(), None);
    let both = profiles.items(["gone", "profile"]).await.unwrap();
    assert_eq!((both[0].is_none(), &both[1].as_ref().unwrap().value), (true, &ann));
    let wide = store.of::<u128>("wide");
    wide.put("w", &u128::MAX).await.unwrap();
    assert_eq!(wide.get("w").await.unwrap(), Some(u128::MAX));
    assert_eq!(wide.search().filter(Vec::<String>::new(), gt(u64::MAX)).await.unwrap().items.len(), 1);
    assert!(profiles.delete("profile").await.unwrap());
    assert!(!profiles.delete("profile").await.unwrap());
}

#[tokio::test]
async fn key_accepts_any_string_type() {
    let visits = store().of::<u32>("visits");
    let key: String = ["mon", "day"].concat();
    visits.put(&key, &1).await.unwrap();
    let keys: Vec<String> = vec![key.clone(), "gone".to_owned()];
    assert_eq!(visits.items(&keys).await.unwrap().iter().flatten().count(), 1);
    let shared: std::sync::Arc<str> = key.as_str().into();
    assert_eq!(visits.get(&shared).await.unwrap(), Some(1));
    assert!(visits.item(std::borrow::Cow::Borrowed(&*key)).await.unwrap().is_some());
    assert!(visits.delete(&key).await.unwrap());
    assert_eq!(visits.get(key).await.unwrap(), None);
}

#[tokio::test]
async fn unreadable_item_error_names_item_and_cause() {
    let store = store();
    store.of::<String>(["users", "ann"]).put("profile", &"a text".to_owned()).await.unwrap();
    let profiles = store.of::<Profile>(["users", "ann"]);
    let expected = "item `profile` of namespace [\"users\", \"ann\"] cannot be read: invalid type: string";
    for error in
        [profiles.get("profile").await.map(drop), profiles.search().await.map(drop)].map(Result::unwrap_err)
    {
        assert!(error.to_string().starts_with(expected), "{error}");
        let StoreError::Corrupt(corrupt) = error else { panic!("{error:?}") };
        assert_eq!(corrupt.namespace, Some(["users", "ann"].into()));
        assert_eq!(corrupt.key.as_deref(), Some("profile"));
    }
}

#[tokio::test]
async fn value_that_cannot_be_read_back_is_refused() {
    let store = store();
    let options = store.of::<Option<Option<u8>>>("a");
    let error = options.put("k", &Some(None)).await.unwrap_err();
    assert!(matches!(error, StoreError::NotStorable { .. }), "{error}");
    let pairs = store.of::<BTreeMap<String, f32>>("a");
    let error = pairs.put("k", &[("x".to_owned(), f32::INFINITY)].into()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the value for item `k` of namespace [\"a\"] cannot be stored, because of the value at `$.x`: JSON cannot \
         represent NaN or infinity"
    );
    assert_eq!(store.of::<serde_json::Value>("a").get("k").await.unwrap(), None);
}

#[tokio::test]
async fn search_includes_nested_namespaces_by_default() {
    let store = store();
    let outer = store.of::<u32>(["user", "1"]);
    outer.put("a", &1).await.unwrap();
    store.of::<u32>(["user", "1", "deeper"]).put("b", &2).await.unwrap();
    store.of::<u32>(["user", "10"]).put("c", &3).await.unwrap();
    let values = |page: superstep::checkpoint::Page<superstep::store::Found<u32>>| {
        page.items.iter().map(|found| found.value).collect::<Vec<_>>()
    };
    assert_eq!(values(outer.search().await.unwrap()), [1, 2]);
    assert_eq!(values(outer.search().only_here().await.unwrap()), [1]);
    assert_eq!(values(store.of::<u32>("user").search().offset(1).limit(1).await.unwrap()), [2]);
    assert_eq!(values(store.of::<u32>("us").search().await.unwrap()), [0_u32; 0]);
    assert_eq!(values(store.of::<u32>([""; 0]).search().await.unwrap()), [1, 2, 3]);
}

#[tokio::test]
async fn impossible_filter_is_an_error() {
    let items = store().of::<Profile>("a");
    let error = items.search().filter("age", gt(true)).filter("age", f64::NAN).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "field [\"age\"] cannot be compared with this value: only numbers and strings have an order"
    );
}
