//! Caching of node results.

mod cached_results;
mod dropped_runs;
mod events;
mod expiry;
mod failing_cache;
mod fan_out;
mod hits;
mod keys;
mod node_forms;
mod refused_results;
mod subgraphs;
mod threads;
mod wiring;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use superstep::cache::{Cache, CacheError, CacheFuture, CachePolicy, Clear, EntryKey, MemoryCache, NewEntry};
use superstep::payload::Payload;
use superstep::{ContextWith, END, Graph, GraphState, START, StateGraph};

use crate::engine::trace::Journal;

#[derive(GraphState, Clone, Debug)]
pub(crate) struct Page {
    #[state(input)]
    pub(crate) url: String,
    #[state(validate(length(max = 200_000)))]
    pub(crate) text: String,
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
    pub(crate) note: Option<String>,
}

pub(crate) async fn fetch(page: &Page, cx: &ContextWith<Journal>) -> PageUpdate {
    cx.context().note(format!("fetch {}", page.url));
    Page::update().text(format!("text of {}", page.url)).log([format!("fetched {}", page.url)])
}

pub(crate) fn by_url() -> CachePolicy<fn(&Page) -> String> {
    CachePolicy::by(|page| page.url.clone())
}

pub(crate) fn draft() -> StateGraph<Page, Journal> {
    StateGraph::<Page>::with_context::<Journal>().edge(START, fetch).edge(fetch, END)
}

pub(crate) fn graph(cache: impl Cache) -> Graph<Page, Journal> {
    draft().cache(fetch, by_url()).compile().unwrap().with_cache(cache)
}

/// Runs a graph in memory.
pub(crate) async fn run(graph: &Graph<Page, Journal>, journal: &Arc<Journal>, url: &str) -> Page {
    graph.run(Page::input(url)).context(Arc::clone(journal)).await.unwrap().into_state()
}

/// An in-memory cache that records its calls, injects faults, and has an adjustable clock.
#[derive(Clone, Default)]
pub(crate) struct RecordingCache {
    pub(crate) inner: MemoryCache,
    pub(crate) calls: Arc<Mutex<Vec<String>>>,
    pub(crate) fault: Arc<Mutex<Option<Fault>>>,
    /// The offset of the cache's clock.
    pub(crate) offset_seconds: Arc<AtomicU64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Get,
    Put,
    GetPanics,
    PutPanics,
    Corrupt(&'static str),
}

impl RecordingCache {
    pub(crate) fn failing(fault: Fault) -> Self {
        let cache = Self::default();
        cache.set_fault(Some(fault));
        cache
    }

    pub(crate) fn set_fault(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }

    pub(crate) fn advance(&self, time: Duration) {
        self.offset_seconds.fetch_add(time.as_secs(), Ordering::SeqCst);
    }

    fn now(&self, now: SystemTime) -> SystemTime {
        now + Duration::from_secs(self.offset_seconds.load(Ordering::SeqCst))
    }

    fn fault(&self) -> Option<Fault> {
        *self.fault.lock().unwrap()
    }

    fn record(&self, call: String) {
        self.calls.lock().unwrap().push(call);
    }
}

impl Cache for RecordingCache {
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>> {
        Box::pin(async move {
            self.record(format!("get {}", at.key));
            match self.fault() {
                Some(Fault::Get) => Err(CacheError::backend("look it up", "the disk is gone")),
                Some(Fault::GetPanics) => panic!("no cache today"),
                Some(Fault::Corrupt(json)) => Ok(Some(Payload::json(json))),
                _ => self.inner.get(at, self.now(now)).await,
            }
        })
    }

    fn put(&self, puts: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()> {
        Box::pin(async move {
            let keys: Vec<&str> = puts.iter().map(|put| &*put.at.key).collect();
            self.record(format!("put {}", keys.join(" ")));
            match self.fault() {
                Some(Fault::Put) => Err(CacheError::backend("put it", "the disk is full")),
                Some(Fault::PutPanics) => panic!("no cache today"),
                _ => self.inner.put(puts, self.now(now)).await,
            }
        })
    }

    fn clear(&self, which: Clear) -> CacheFuture<'_, u64> {
        self.inner.clear(which)
    }
}
