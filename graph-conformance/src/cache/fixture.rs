//! Helpers to put and read results.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use superstep_store::cache::{Cache, Clear, EntryKey, NewEntry};
use superstep_store::payload::Payload;
use superstep_store::store::Ttl;

use crate::Broken;
use crate::expect::Expect as _;

/// A cache and the current time.
#[derive(Clone)]
pub(super) struct Fixture {
    pub(super) cache: Arc<dyn Cache>,
    pub(super) now: SystemTime,
}

impl Fixture {
    pub(super) fn new(cache: Arc<dyn Cache>) -> Self {
        Self { cache, now: UNIX_EPOCH + Duration::from_millis(1_700_000_000_123) }
    }

    /// Returns the same cache at a later time.
    pub(super) fn later(&self, millis: u64) -> Self {
        Self { now: self.now + Duration::from_millis(millis), ..self.clone() }
    }

    /// Returns the same cache at an earlier time.
    pub(super) fn earlier(&self, millis: u64) -> Self {
        Self { now: self.now - Duration::from_millis(millis), ..self.clone() }
    }

    pub(super) async fn puts(&self, puts: Vec<NewEntry>) -> Result<(), Broken> {
        self.cache.put(puts, self.now).await.works("results can be put")
    }

    pub(super) async fn put(&self, at: &EntryKey, json: &str) -> Result<(), Broken> {
        self.puts(vec![put(at, json)]).await
    }

    /// Puts a result with a time to live in milliseconds.
    pub(super) async fn put_for(&self, at: &EntryKey, json: &str, millis: u64) -> Result<(), Broken> {
        self.puts(vec![put(at, json).ttl(Ttl::from_millis(millis))]).await
    }

    pub(super) async fn payload(&self, at: &EntryKey) -> Result<Option<Payload>, Broken> {
        self.cache.get(at.clone(), self.now).await.works("results can be read")
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
    EntryKey::new(graph, node, state, key)
}

/// Returns the key of a result of the default node.
pub(super) fn of(key: &str) -> EntryKey {
    at("graph", "node", "state", key)
}

pub(super) fn put(at: &EntryKey, json: &str) -> NewEntry {
    NewEntry::new(at.clone(), Payload::json(json))
}

pub(super) fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}
