//! PostgreSQL stores for typed state graphs: checkpoints, a long-term store and a node cache in one schema.

#![expect(dead_code, reason = "the stores use it step by step")]

mod checkpointer;
mod columns;
mod connect;
mod database;
mod error;
mod options;
mod runtime;
mod schema;
#[cfg(feature = "rustls")]
mod tls;

pub use checkpointer::PostgresCheckpointer;
pub use options::PostgresOptions;
