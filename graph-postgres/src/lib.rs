//! PostgreSQL stores for typed state graphs: checkpoints, a long-term store and a node cache in one schema.
//!
//! ```no_run
//! use superstep::{END, GraphState, START, StateGraph};
//! use superstep_postgres::PostgresCheckpointer;
//! # #[derive(GraphState, Clone)] struct Count { total: u32 }
//! # async fn add(count: &Count) -> CountUpdate { Count::update().total(count.total + 1) }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! # let graph = StateGraph::<Count>::new().edge(START, add).edge(add, END).compile()?;
//! // Creates the tables if they do not exist.
//! let store = PostgresCheckpointer::connect("postgres://app@localhost/app").await?;
//! let graph = graph.with_store(store.store()).with_checkpointer(store);
//! # drop(graph);
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! A commit is one round trip and one transaction: a function of the schema checks the epoch and the head of the thread and
//! makes all writes. Commits of different threads that wait at the same time share a transaction, and a refused one does not
//! affect the others. Any number of processes may use the same schema.
//!
//! Each appended delta is stored once. The database merges small deltas of a field into chunks of up to a page. So the cost
//! of reading a state depends on its size in bytes, and not on the length of its history.
//!
//! The store has a thread with its own runtime, which drives the connections. It works with every async runtime, or without
//! one.
//!
//! # Servers and poolers
//!
//! The store needs PostgreSQL 14 or newer, and no superuser. It works through poolers in transaction mode, such as pgbouncer:
//! statements have no names, settings and locks last as long as a transaction. On direct connections,
//! [`prepared_statements`](PostgresOptions::prepared_statements) makes calls faster.
//!
//! If the connection is lost, the store connects again. It recognizes the writes that were made before their answer was
//! lost, so each is made once. Errors that pass are
//! [`Unavailable`](superstep_store::checkpoint::CheckpointError::Unavailable), and say what to do.
//!
//! # Migrations
//!
//! Connecting creates or migrates the tables in one transaction, of which there is one at a time. A program whose version is
//! older than the schema is refused with
//! [`NewerFormat`](superstep_store::checkpoint::CheckpointError::NewerFormat), and so are the writes of one that is already
//! connected: update all programs before the first one migrates, or connect it with
//! [`migrate(false)`](PostgresOptions::migrate).
//!
//! # Inspecting the tables
//!
//! The views `threads`, `checkpoints`, `pieces` and `records` show names and JSON as text, and ids as the API does: start
//! with `select * from superstep.threads`. The tables can be backed up with `pg_dump --schema=superstep`.
//!
//! # Durability
//!
//! An acknowledged write is durable as the server's `synchronous_commit` says: by default, it survives a crash of the server.
//!
//! # TLS
//!
//! With the feature `rustls`, the URL decides: `sslmode=require` encrypts and verifies the certificate and the name of the
//! server. `sslmode=prefer`, the default, falls back to a connection without TLS.

mod cache;
mod checkpointer;
mod chunk;
mod columns;
mod connect;
mod database;
mod dropped;
mod error;
mod hosts;
mod items;
mod options;
mod prune;
mod reader;
mod results;
mod runtime;
mod schema;
mod store;
mod tags;
#[cfg(feature = "rustls")]
mod tls;
mod transaction;
mod writer;

pub use cache::PostgresCache;
pub use checkpointer::PostgresCheckpointer;
pub use options::PostgresOptions;
pub use store::PostgresStore;
