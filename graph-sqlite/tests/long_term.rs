//! Runs the conformance suite of long-term stores against `SqliteStore`.
#![expect(clippy::unwrap_used, reason = "a test that cannot make or spoil its file fails")]

use std::path::PathBuf;

use rusqlite::{Connection, params};
use superstep_conformance::store::{Damage, TestLongTermStore};
use superstep_sqlite::{SqliteStore, Synchronous};
use superstep_store::store::{Namespace, StoreError};
use tempfile::TempDir;

/// A file in its own temporary folder.
struct File(TempDir);

impl File {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("memory.db")
    }
}

fn name(namespace: &Namespace) -> String {
    serde_json::Value::from(namespace.segments().iter().map(|segment| &**segment).collect::<Vec<_>>())
        .to_string()
}

impl TestLongTermStore for File {
    type Store = SqliteStore;

    async fn open(&self) -> Result<SqliteStore, StoreError> {
        // `Normal` does not wait for the disk, and the tests do not depend on that.
        superstep_sqlite::SqliteOptions::new()
            .synchronous(Synchronous::Normal)
            .readers(2)
            .open_store(self.path())
    }

    async fn damage(&self, damage: &Damage<'_>) -> bool {
        let file = Connection::open(self.path()).unwrap();
        let item = "(SELECT i.id FROM store_item i JOIN store_namespace n ON n.id = i.namespace WHERE n.name = ?1 AND i.key = ?2)";
        let (statement, namespace, key) = match damage {
            Damage::Value { namespace, key } => (
                format!("UPDATE store_item SET value = '{{\"f\":', encoding = 77 WHERE id = {item}"),
                namespace,
                key,
            ),
            Damage::Embedding { namespace, key } => {
                (format!("UPDATE store_vector SET data = x'000102' WHERE item = {item}"), namespace, key)
            }
            _ => return false,
        };
        let changed = file.execute(&statement, params![name(namespace), key]);
        assert!(changed.unwrap() > 0, "no row to damage: {damage:?}");
        true
    }
}

superstep_conformance::store_conformance_tests!(File::new());
