//! A node whose results are cached runs once for each key, and whoever finds its result does not notice.

mod broken;
mod dropped;
mod forms;
mod hits;
mod kept;
mod keys;
mod lifetimes;
mod on_threads;
mod refused;
mod spread;
mod streams;
mod subgraphs;
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

/// Notes that it ran.
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

/// A cache in memory that shows what it is asked, fails where it is told to, and has a clock that can be set.
#[derive(Clone, Default)]
pub(crate) struct Shown {
    pub(crate) kept: MemoryCache,
    pub(crate) calls: Arc<Mutex<Vec<String>>>,
    pub(crate) fails: Arc<Mutex<Option<Fault>>>,
    /// By how many seconds its clock is ahead.
    pub(crate) ahead: Arc<AtomicU64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Get,
    Put,
    GetPanics,
    PutPanics,
    Spoilt(&'static str),
}

impl Shown {
    pub(crate) fn failing(fault: Fault) -> Self {
        let shown = Self::default();
        shown.fail(Some(fault));
        shown
    }

    pub(crate) fn fail(&self, fault: Option<Fault>) {
        *self.fails.lock().unwrap() = fault;
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }

    pub(crate) fn advance(&self, time: Duration) {
        self.ahead.fetch_add(time.as_secs(), Ordering::SeqCst);
    }

    fn now(&self, now: SystemTime) -> SystemTime {
        now + Duration::from_secs(self.ahead.load(Ordering::SeqCst))
    }

    fn fault(&self) -> Option<Fault> {
        *self.fails.lock().unwrap()
    }

    fn note(&self, call: String) {
        self.calls.lock().unwrap().push(call);
    }
}

impl Cache for Shown {
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>> {
        Box::pin(async move {
            self.note(format!("get {}", at.key));
            match self.fault() {
                Some(Fault::Get) => Err(CacheError::backend("look it up", "the disk is gone")),
                Some(Fault::GetPanics) => panic!("no cache today"),
                Some(Fault::Spoilt(json)) => Ok(Some(Payload::json(json))),
                _ => self.kept.get(at, self.now(now)).await,
            }
        })
    }

    fn put(&self, puts: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()> {
        Box::pin(async move {
            let keys: Vec<&str> = puts.iter().map(|put| &*put.at.key).collect();
            self.note(format!("put {}", keys.join(" ")));
            match self.fault() {
                Some(Fault::Put) => Err(CacheError::backend("put it", "the disk is full")),
                Some(Fault::PutPanics) => panic!("no cache today"),
                _ => self.kept.put(puts, self.now(now)).await,
            }
        })
    }

    fn clear(&self, which: Clear) -> CacheFuture<'_, u64> {
        self.kept.clear(which)
    }
}
