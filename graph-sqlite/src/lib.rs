//! Checkpoints, a long-term store and a node cache for typed state graphs, in one SQLite file.
//!
//! ```
//! use superstep_sqlite::SqliteCheckpointer;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("threads.db");
//! // Creates the file if it does not exist.
//! let store = SqliteCheckpointer::open(path)?;
//! # drop(store);
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! One thread writes, and commits all waiting writes in one transaction. Up to four other threads read by default. They
//! are plain OS threads: the store works with every async runtime, or without one, and no call waits for a lock or for a
//! sync of the disk on its caller's thread. It can be cloned and shared, and several processes may open the same file.
//!
//! With [`Synchronous::Normal`], a small commit with
//! [`WriteBatch::awaited`](superstep_store::checkpoint::WriteBatch::awaited), as of a run with `Durability::Sync`, runs on
//! its caller's thread. It hands about 20 KiB to the operating system, which takes some 30 µs, and never asks the disk to
//! confirm them. The writing thread makes it instead while the file is locked or in use by another process. There is one
//! exception: after another process has closed the file, one such commit may wait for the disk.
//!
//! A head that the store has written in the last ten seconds is read on its caller's thread too, while the writing thread is
//! idle, if it has no more than half a megabyte. Its rows are in the memory of SQLite or of the operating system, unless that
//! has needed the memory for something else.
//!
//! Each appended delta is stored once. Small deltas of a field are merged into chunks, so the cost of reading a state
//! depends on its size in bytes and not on the length of its history. An older state of the thread is a prefix of the
//! same chunks.
//!
//! [`SqliteStore`] is a long-term store. It can share the file with checkpoints or have its own. A search reads the
//! items of its namespace and compares them one by one in Rust: conditions on values are not part of the SQL statement.
//!
//! [`SqliteCache`] is a cache of node results. It can share the file or have its own.
//!
//! # Inspecting a file
//!
//! The stock `sqlite3` shell can read a file that is in use. Ids are the ones that the API shows, and JSON values are
//! stored as text. The views `threads`, `checkpoints`, `pieces`, `records`, `items` and `results` spell out every name: start with
//! `select * from checkpoints`.
//!
//! # Closing, moving and copying a file
//!
//! Dropping the last handle of a file closes it, and waits for that for at most one second. `close().await` on a store
//! waits for the end. Close the file before it is deleted, renamed, replaced or overwritten. On Unix, an open file can be
//! deleted or renamed: writes then fail, because they would be lost.
//!
//! SQLite keeps recent writes in a second file, `-wal`, until it merges them into the main file. A plain copy of the
//! main file lacks them, and may lack everything. Back up with `sqlite3 threads.db ".backup copy.db"`; this also works
//! while the file is in use.
//!
//! # Durability
//!
//! With [`Synchronous::Full`], the default, an acknowledged write survives the end of the process, an operating system
//! crash and a power cut. With [`Synchronous::Normal`], it survives the end of the process.

mod cache;
mod checkpointer;
mod chunk;
mod columns;
mod connection;
mod error;
mod file_identity;
mod items;
mod open_file;
mod open_threads;
mod options;
mod queue;
mod reader;
mod results;
mod schema;
mod store;
mod thread_metadata;
mod writer;

pub use cache::SqliteCache;
pub use checkpointer::SqliteCheckpointer;
pub use options::{SqliteOptions, Synchronous};
pub use store::SqliteStore;
