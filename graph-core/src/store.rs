//! The long-term store: what is remembered from one thread to the next, under a namespace and a key.
//!
//! A checkpoint belongs to its thread; what an application knows of a user belongs to all of that user's threads. A
//! [`LongTermStore`] is given to a graph with [`Graph::with_store`](crate::Graph::with_store), and nodes reach it with
//! [`Context::store`](crate::Context::store):
//!
//! ```
//! use superstep::store::MemoryStore;
//! use superstep::{Context, END, GraphState, Result, START, StateGraph};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Profile {
//!     name: String,
//!     visits: u32,
//! }
//!
//! #[derive(GraphState, Clone)]
//! struct Visit {
//!     #[state(input)]
//!     user: String,
//!     greeting: String,
//! }
//!
//! async fn greet(visit: &Visit, cx: &Context) -> Result<VisitUpdate> {
//!     let profiles = cx.store()?.of::<Profile>(["users", &visit.user]);
//!     let known = profiles.get("profile").await?;
//!     let visits = known.map_or(0, |profile| profile.visits) + 1;
//!     profiles.put("profile", &Profile { name: visit.user.clone(), visits }).await?;
//!     Ok(Visit::update().greeting(format!("hello for the {visits}. time")))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<()> {
//! let graph = StateGraph::<Visit>::new().edge(START, greet).edge(greet, END).compile()?;
//! let graph = graph.with_store(MemoryStore::new());
//! graph.run(Visit::input("ann")).await?;
//! let again = graph.run(Visit::input("ann")).await?.into_state();
//! assert_eq!(again.greeting, "hello for the 2. time");
//! # Ok(())
//! # }
//! ```
//!
//! # Places
//!
//! A [`Namespace`] is a list of texts, and is never joined to one: `["a", "b.c"]`, `["a.b", "c"]` and `["a", "b", "c"]` are three,
//! and `["user", "1"]` is not above `["user", "10"]`. Any text is a segment, and any text is a key, the empty one included.
//!
//! # Time to live
//!
//! An item with a time to live [expires](Item::expires_at): from that moment on it is as if it were not there, for reads,
//! searches and lists alike. What has expired is taken away by later writes, a few items with each, and all of it by
//! [`sweep`](LongTermStore::sweep). Nothing runs in the background.
//!
//! # What it is not
//!
//! A write is done when it is awaited. It is no part of the superstep: it stays when the node fails after it, when the run is
//! resumed, and when its thread is forked or goes back to an older checkpoint; and a node that runs again writes again, and
//! reads what is there by then. ItemWrite under a key that is the same each time, or inside of a
//! [step](crate::Context::step), which is done once.
//!
//! # Other stores
//!
//! [`Store`] is what a store is: records and bytes, no types. `MemoryStore` is here, `SqliteStore` in `superstep-sqlite`; the crate
//! `superstep-conformance` tests every promise of any other.

pub use superstep_store::store::*;
