//! Caches: results of nodes, reused for the same key.
//!
//! A node can have a [cache policy](CachePolicy). Before such a node runs, the graph looks up its result in the graph's
//! [cache](Cache). If a result is found, the node does not run. The update of the result is prepared, applied and stored as
//! if the node had just returned it.
//!
//! ```
//! use std::sync::atomic::{AtomicU32, Ordering};
//! use std::time::Duration;
//!
//! use superstep::cache::{CachePolicy, MemoryCache};
//! use superstep::{END, GraphState, START, StateGraph};
//!
//! #[derive(GraphState, Clone)]
//! struct Page {
//!     #[state(input)]
//!     url: String,
//!     text: String,
//! }
//!
//! static FETCHED: AtomicU32 = AtomicU32::new(0);
//!
//! async fn fetch(page: &Page) -> PageUpdate {
//!     FETCHED.fetch_add(1, Ordering::Relaxed);
//!     Page::update().text(format!("contents of {}", page.url))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> superstep::Result<()> {
//! let graph = StateGraph::<Page>::new()
//!     .edge(START, fetch)
//!     .edge(fetch, END)
//!     .cache(fetch, CachePolicy::by(|page: &Page| page.url.clone()).ttl(Duration::from_secs(3600)))
//!     .compile()?
//!     .with_cache(MemoryCache::new());
//!
//! for _ in 0..3 {
//!     assert_eq!(graph.run(Page::input("/a")).await?.state().text, "contents of /a");
//! }
//! assert_eq!(FETCHED.load(Ordering::Relaxed), 1);
//!
//! graph.clear_cache_of(fetch).await?;
//! graph.run(Page::input("/a")).await?;
//! assert_eq!(FETCHED.load(Ordering::Relaxed), 2);
//! # Ok(())
//! # }
//! ```
//!
//! [`MemoryCache`] keeps results in the process. `superstep_sqlite::SqliteCache` keeps them in a file, which several processes
//! can share and which outlives them.

mod policy;

pub use policy::CachePolicy;
pub use superstep_store::cache::*;
