//! The cache in a file keeps every promise of one.
#![expect(clippy::unwrap_used, reason = "a test that cannot make or spoil its file fails")]

use std::path::PathBuf;

use rusqlite::{Connection, params};
use superstep_conformance::cache::Place;
use superstep_sqlite::{SqliteCache, Synchronous};
use superstep_store::cache::{CacheError, EntryKey};
use tempfile::TempDir;

/// A file in a folder of its own.
struct File(TempDir);

impl File {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("results.db")
    }
}

impl Place for File {
    type Cache = SqliteCache;

    async fn open(&self) -> Result<SqliteCache, CacheError> {
        // Not waiting for the disk: what is tested does not depend on it.
        superstep_sqlite::Options::new().synchronous(Synchronous::Normal).readers(2).open_cache(self.path())
    }

    async fn damage(&self, at: &EntryKey) -> bool {
        let file = Connection::open(self.path()).unwrap();
        let spoil =
            "UPDATE cache_entry SET encoding = 77 WHERE graph = ?1 AND node = ?2 AND state = ?3 AND key = ?4";
        let spoilt = file.execute(spoil, params![&*at.graph, &*at.node, &*at.state, &*at.key]);
        assert_eq!(spoilt.unwrap(), 1, "there is something to spoil: {at:?}");
        true
    }
}

superstep_conformance::cache_conformance_tests!(File::new());
