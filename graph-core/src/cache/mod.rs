//! Caches: what a node has returned once, for whoever asks it the same again.
//!
//! A node that is given a [cache policy](Cached) is looked for in the graph's [cache](Cache) before it runs. What is found
//! there takes the place of running it: its update is prepared, applied and stored as if the node had returned it just now.
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
//!     Page::update().text(format!("what is at {}", page.url))
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
//!     assert_eq!(graph.run(Page::input("/a")).await?.state().text, "what is at /a");
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
//! `superstep_sqlite::SqliteCache` keeps the results in a file, for several processes and beyond their ends.

mod policy;

pub use policy::CachePolicy;
pub use superstep_store::cache::*;
