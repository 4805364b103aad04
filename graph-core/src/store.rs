//! The long-term store: items that all threads share, under a namespace and a key.
//!
//! A checkpoint belongs to one thread. The knowledge of an application about a user belongs to all threads of that user.
//! [`Graph::with_store`](crate::Graph::with_store) gives a [`LongTermStore`] to a graph, and nodes get it with
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
//!     Ok(Visit::update().greeting(format!("hello, this is visit {visits}")))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<()> {
//! let graph = StateGraph::<Visit>::new().edge(START, greet).edge(greet, END).compile()?;
//! let graph = graph.with_store(MemoryStore::new());
//! graph.run(Visit::input("ann")).await?;
//! let again = graph.run(Visit::input("ann")).await?.into_state();
//! assert_eq!(again.greeting, "hello, this is visit 2");
//! # Ok(())
//! # }
//! ```
//!
//! # Namespaces
//!
//! A [`Namespace`] is a list of strings, which are never joined. `["a", "b.c"]`, `["a.b", "c"]` and `["a", "b", "c"]` are three
//! namespaces, and `["user", "10"]` is not inside `["user", "1"]`. Segments and keys are arbitrary strings, including the empty
//! string.
//!
//! # Time to live
//!
//! An item with a time to live [expires](Item::expires_at). An expired item does not exist for reads, searches and lists. Each
//! write removes a few expired items, and [`delete_expired`](LongTermStore::delete_expired) removes all of them. Nothing runs in the background.
//!
//! # Writes are not part of the superstep
//!
//! A write takes effect when it is awaited. It stays in the store if the node fails afterwards, if the run is resumed, and if
//! the thread is forked or goes back to an older checkpoint. A node that runs again writes again, and reads the current items.
//! Write under the same key each time, or inside a durable [step](crate::Context::step), which runs once.
//!
//! # Stores
//!
//! [`Store`] is the trait of a store, which handles bytes. [`MemoryStore`] keeps items in the process, and
//! `superstep_sqlite::SqliteStore` keeps them in a file. The crate `superstep-conformance` tests every promise of a store.

pub use superstep_store::store::*;
