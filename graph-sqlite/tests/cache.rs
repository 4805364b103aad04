//! Runs the conformance suite of caches against `SqliteCache`.
#![expect(clippy::unwrap_used, reason = "a test that cannot make or spoil its file fails")]

use std::path::PathBuf;

use rusqlite::{Connection, params};
use superstep_conformance::cache::TestCache;
use superstep_sqlite::{SqliteCache, Synchronous};
use superstep_store::cache::{CacheError, EntryKey};
use tempfile::TempDir;

/// A file in its own temporary folder.
struct File(TempDir);

impl File {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("results.db")
    }
}

impl TestCache for File {
    type Cache = SqliteCache;

    async fn open(&self) -> Result<SqliteCache, CacheError> {
        // `Normal` does not wait for the disk, and the tests do not depend on that.
        superstep_sqlite::SqliteOptions::new()
            .synchronous(Synchronous::Normal)
            .readers(2)
            .open_cache(self.path())
    }

    async fn damage(&self, at: &EntryKey) -> bool {
        let file = Connection::open(self.path()).unwrap();
        let statement =
            "UPDATE cache_entry SET encoding = 77 WHERE graph = ?1 AND node = ?2 AND state = ?3 AND key = ?4";
        let changed = file.execute(statement, params![&*at.graph, &*at.node, &*at.state, &*at.key]);
        assert_eq!(changed.unwrap(), 1, "no row to damage: {at:?}");
        true
    }
}

superstep_conformance::cache_conformance_tests!(File::new());
