//! Checkpoints of typed state graphs, what they remember for long, and results of their nodes, in one SQLite file.
//!
//! ```
//! use superstep_sqlite::SqliteCheckpointer;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("threads.db");
//! // The file need not be there yet.
//! let store = SqliteCheckpointer::open(path)?;
//! # drop(store);
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! One thread of the store writes, and makes one transaction of everything that waits for it; a few others read. They are
//! plain threads: the store works on every kind of async runtime and without one, and blocks none of its callers. It may
//! be cloned and shared; several processes may have the same file open.
//!
//! What a superstep appends is stored once. Small deltas of a field are put together in chunks, so that reading a state
//! costs what its bytes cost, however long its history is; an older state of the thread is a prefix of the same chunks.
//!
//! A [`SqliteStore`] keeps a long-term store in such a file, beside checkpoints or alone. Its searches read the items of the
//! namespace that they are about, and compare them one by one: what is asked of a value is no part of a statement.
//!
//! A [`SqliteCache`] keeps what nodes have returned, in a file of its own or in the same.
//!
//! # Looking into a file
//!
//! The stock `sqlite3` shell can read a file while it is in use. Ids are the ids that the API shows, values that are JSON
//! are text. `select * from checkpoints`, `pieces`, `records`, `items` and `results` have
//! every name spelled out.
//!
//! # Copying a file
//!
//! SQLite keeps what was written last beside the file, in `-wal`, for as long as it likes. A copy of the file alone lacks it,
//! perhaps all of it: back up with `sqlite3 threads.db ".backup copy.db"`, also while the file is in use.
//!
//! # Durability
//!
//! With [`Synchronous::Full`], which is the default, what was acknowledged survives the end of the process, of the system,
//! and a power cut. With [`Synchronous::Normal`] it survives the end of the process.

mod cache;
mod chunk;
mod items;
mod long_term;
mod open;
mod options;
mod queue;
mod reader;
mod results;
mod schema;
mod shared;
mod store;
mod stored;
mod trouble;
mod writer;

pub use cache::SqliteCache;
pub use long_term::SqliteStore;
pub use options::{Options, Synchronous};
pub use store::SqliteCheckpointer;

/// The examples of docs/how-to/memory.md are compiled, and run, with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/memory.md")]
struct Guide;
