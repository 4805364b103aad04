//! Semantic search: the index, the embedded strings, and errors of the model.

use std::error::Error as _;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use superstep::store::{Embed, EmbedFuture, Index, LongTermStore, MemoryStore, StoreError};

/// Embeds a string by the animals in it, and records the strings.
#[derive(Clone, Default)]
struct Animals {
    given: Arc<Mutex<Vec<String>>>,
}

impl Animals {
    fn given(&self) -> Vec<String> {
        std::mem::take(&mut self.given.lock().unwrap())
    }
}

fn animals(text: &str) -> Vec<f32> {
    ["cat", "dog", "cow"].iter().map(|animal| text.matches(animal).count() as f32).collect()
}

impl Embed for Animals {
    fn model(&self) -> &str {
        "animals"
    }

    fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_, Vec<Vec<f32>>> {
        let vectors = texts.iter().map(|text| animals(text)).collect();
        self.given.lock().unwrap().extend(texts);
        Box::pin(async move { Ok(vectors) })
    }
}

/// Returns fixed vectors.
struct FixedVectors(Vec<Vec<f32>>);

impl Embed for FixedVectors {
    fn model(&self) -> &str {
        "says"
    }

    fn embed(&self, _: Vec<String>) -> EmbedFuture<'_, Vec<Vec<f32>>> {
        let vectors = self.0.clone();
        Box::pin(
            async move { if vectors.is_empty() { superstep::bail!("out of order") } else { Ok(vectors) } },
        )
    }
}

#[derive(Serialize, Deserialize)]
struct Note {
    text: String,
    tags: Vec<String>,
    secret: Option<String>,
}

fn note(text: &str) -> Note {
    Note { text: text.into(), tags: vec![], secret: Some("cow".into()) }
}

#[tokio::test]
async fn nearest_item_comes_first_with_its_score() {
    let model = Animals::default();
    let store =
        LongTermStore::new(MemoryStore::new()).index(Index::new(model.clone()).fields(["text", "tags"]));
    let notes = store.of::<Note>(["users", "ann"]);
    notes.put("both", &note("a cat and a dog")).await.unwrap();
    notes.put("dog", &note("a dog")).await.unwrap();
    notes.put("cow", &Note { tags: vec!["cow".into(), "a cat".into()], ..note("") }).await.unwrap();
    notes.put("private", &note("a cat")).not_indexed().await.unwrap();
    notes.put("other", &note("a cat")).indexed_by(["secret"]).await.unwrap();
    assert_eq!(model.given(), ["a cat and a dog", "a dog", "cow", "a cat", "cow"]);

    let found = notes.search().query("cat").await.unwrap().items;
    let found: Vec<_> = found.iter().map(|found| (&*found.key, found.score.unwrap())).collect();
    assert_eq!(
        found,
        [("cow", 1.0), ("both", std::f32::consts::FRAC_1_SQRT_2), ("dog", 0.0), ("other", 0.0)]
    );
    let page = notes.search().query("cat").filter("text", "a dog").limit(1).await.unwrap();
    assert_eq!((&*page.items[0].key, page.more), ("dog", false));
    // A changed item is found by its new value.
    notes.put("cow", &note("a dog")).not_indexed().await.unwrap();
    assert_eq!(notes.search().query("cat").limit(1).await.unwrap().items[0].key.as_ref(), "both");
    assert_eq!(notes.search().await.unwrap().items[0].score, None);
}

#[tokio::test]
async fn batch_is_embedded_together_once_all_values_are_storable() {
    let model = Animals::default();
    let store = LongTermStore::new(MemoryStore::new()).index(Index::new(model.clone()));
    let (texts, numbers) = (store.of::<String>("a"), store.of::<f64>("a"));
    store.batch().put(texts.put("a", &"cat".into())).put(numbers.put("b", &f64::NAN)).await.unwrap_err();
    assert_eq!(model.given(), [""; 0]);
    store.batch().put(texts.put("a", &"cat".into())).put(numbers.put("b", &1.5)).await.unwrap();
    assert_eq!(model.given(), ["cat", "1.5"]);
}

#[tokio::test]
async fn query_without_an_index_is_an_error() {
    let items = LongTermStore::new(MemoryStore::new()).of::<String>(["users", "ann"]);
    items.put("a", &"cat".into()).await.unwrap();
    assert_eq!(
        items.search().query("cat").await.unwrap_err().to_string(),
        "the long-term store has no index to search namespace [\"users\", \"ann\"]: add one with \
         `LongTermStore::new(store).index(..)`"
    );
    let error = items.put("a", &"cat".into()).indexed_by(["text"]).await.unwrap_err();
    assert!(error.to_string().contains("the store has no index"), "{error}");
}

#[tokio::test]
async fn invalid_vectors_are_errors_and_write_nothing() {
    let store = MemoryStore::new();
    for (says, expected) in [
        (vec![], "out of order"),
        (vec![vec![1.0], vec![1.0]], "it returned 2 vectors for 1 strings"),
        (vec![vec![f32::NAN]], "a vector has the component NaN: every component must be a finite number"),
        (vec![vec![]], "a vector has no dimensions: it must have at least one"),
    ] {
        let indexed = LongTermStore::new(store.clone()).index(Index::new(FixedVectors(says)));
        let error = indexed.of::<String>("a").put("k", &"cat".into()).await.unwrap_err();
        assert_eq!(error.to_string(), "the embedding model `says` failed");
        assert_eq!(error.source().unwrap().to_string(), expected);
        assert_eq!(indexed.of::<String>("a").get("k").await.unwrap(), None);
    }
}

#[tokio::test]
async fn vectors_of_two_models_are_not_compared() {
    let store = MemoryStore::new();
    let old = LongTermStore::new(store.clone()).index(Index::new(FixedVectors(vec![vec![1.0, 0.0]])));
    old.of::<String>("a").put("k", &"cat".into()).await.unwrap();
    let new = LongTermStore::new(store).index(Index::new(Animals::default()));
    let error = new.of::<String>("a").search().query("cat").await.unwrap_err();
    assert!(matches!(error, StoreError::OtherModel { .. }));
    assert_eq!(
        error.to_string(),
        "item `k` of namespace [\"a\"] was indexed by model `says` with 2 dimensions, but the search uses model `animals` with 3: \
         put the item again, or search with the model of the item"
    );
    new.of::<String>("a").put("k", &"cat".into()).await.unwrap();
    assert_eq!(new.of::<String>("a").search().query("cat").await.unwrap().items[0].score, Some(1.0));
}
