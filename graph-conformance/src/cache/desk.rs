//! Short ways of saying what is put and what is there.

use std::fmt::{Debug, Display};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use superstep_store::cache::{Cache, CacheError, Clear, EntryKey, NewEntry};
use superstep_store::payload::Payload;
use superstep_store::store::Ttl;

use crate::Broken;
use crate::expect::told;

/// A cache, and what time it is.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) cache: Arc<dyn Cache>,
    pub(super) now: SystemTime,
}

impl Desk {
    pub(super) fn new(cache: Arc<dyn Cache>) -> Self {
        Self { cache, now: UNIX_EPOCH + Duration::from_millis(1_700_000_000_123) }
    }

    /// The same, so many milliseconds later.
    pub(super) fn later(&self, millis: u64) -> Self {
        Self { now: self.now + Duration::from_millis(millis), ..self.clone() }
    }

    /// The same, by a clock that is behind by so many milliseconds.
    pub(super) fn earlier(&self, millis: u64) -> Self {
        Self { now: self.now - Duration::from_millis(millis), ..self.clone() }
    }

    pub(super) async fn puts(&self, puts: Vec<NewEntry>) -> Result<(), Broken> {
        self.cache.put(puts, self.now).await.works("results can be put")
    }

    pub(super) async fn put(&self, at: &EntryKey, json: &str) -> Result<(), Broken> {
        self.puts(vec![put(at, json)]).await
    }

    /// Puts a result that is there for so many milliseconds.
    pub(super) async fn put_for(&self, at: &EntryKey, json: &str, millis: u64) -> Result<(), Broken> {
        self.puts(vec![NewEntry { ttl: Ttl::from_millis(millis), ..put(at, json) }]).await
    }

    pub(super) async fn payload(&self, at: &EntryKey) -> Result<Option<Payload>, Broken> {
        self.cache.get(at.clone(), self.now).await.works("results can be looked for")
    }

    pub(super) async fn get(&self, at: &EntryKey) -> Result<Option<String>, Broken> {
        let text = |payload: Payload| String::from_utf8_lossy(payload.bytes()).into_owned();
        Ok(self.payload(at).await?.map(text))
    }

    pub(super) async fn clear(&self, which: Clear) -> Result<u64, Broken> {
        self.cache.clear(which).await.works("a cache can be cleared")
    }
}

pub(super) fn at(graph: &str, node: &str, state: &str, key: &str) -> EntryKey {
    let [graph, node, state, key] = [graph, node, state, key].map(Arc::from);
    EntryKey { graph, node, state, key }
}

/// A result of one and the same node.
pub(super) fn of(key: &str) -> EntryKey {
    at("graph", "node", "state", key)
}

pub(super) fn put(at: &EntryKey, json: &str) -> NewEntry {
    NewEntry { at: at.clone(), value: Payload::json(json), ttl: None }
}

pub(super) fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

pub(super) trait Works<T> {
    /// That there is no error.
    fn works(self, promise: impl Display) -> Result<T, Broken>;
}

impl<T: Debug> Works<T> for Result<T, CacheError> {
    fn works(self, promise: impl Display) -> Result<T, Broken> {
        self.map_err(|error| Broken::new(promise, "success", told(&error)))
    }
}
