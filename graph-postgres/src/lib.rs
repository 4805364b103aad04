//! PostgreSQL stores for typed state graphs: checkpoints, a long-term store and a node cache in one schema.

#![expect(dead_code, reason = "the stores use it step by step")]

mod cache;
mod checkpointer;
mod columns;
mod connect;
mod database;
mod dropped;
mod error;
mod items;
mod options;
mod results;
mod runtime;
mod schema;
mod store;
#[cfg(feature = "rustls")]
mod tls;
mod transaction;

pub use cache::PostgresCache;
pub use checkpointer::PostgresCheckpointer;
pub use options::PostgresOptions;
pub use store::PostgresStore;
