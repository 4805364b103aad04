//! Runs the conformance suite of checkpoint stores against `SqliteCheckpointer`.
#![expect(clippy::unwrap_used, reason = "a test that cannot make or spoil its file fails")]

use std::path::PathBuf;

use rusqlite::{Connection, params};
use superstep_conformance::{Damage, TestStore};
use superstep_sqlite::SqliteCheckpointer;
use superstep_store::checkpoint::CheckpointError;
use tempfile::TempDir;

/// A file in its own temporary folder.
struct File(TempDir);

impl File {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("checkpoints.db")
    }
}

impl TestStore for File {
    type Store = SqliteCheckpointer;

    async fn open(&self) -> Result<SqliteCheckpointer, CheckpointError> {
        SqliteCheckpointer::open(self.path())
    }

    async fn damage(&self, damage: &Damage<'_>) -> bool {
        let file = Connection::open(self.path()).unwrap();
        let changed = match damage {
            Damage::Changes { field, .. } => file.execute(
                "UPDATE piece SET encoding = 77, entries = NULL WHERE field = (SELECT id FROM field WHERE name = ?)",
                params![field],
            ),
            Damage::Checkpoint { .. } => file.execute("UPDATE checkpoint SET source = 'nothing'", []),
            Damage::Record { .. } => file.execute("UPDATE record SET encoding = 77", []),
            Damage::Run { .. } => file.execute("UPDATE run SET metadata = '{'", []),
            Damage::OneThread { thread } => file.execute(
                "UPDATE checkpoint SET source = 'nothing' WHERE name = (SELECT max(c.name) FROM checkpoint c \
                 JOIN namespace n ON n.id = c.namespace JOIN thread t ON t.id = n.thread WHERE t.name = ?1) \
                 AND namespace IN (SELECT n.id FROM namespace n JOIN thread t ON t.id = n.thread WHERE t.name = ?1)",
                [thread],
            ),
            _ => return false,
        };
        assert!(changed.unwrap() > 0, "no row to damage: {damage:?}");
        true
    }
}

superstep_conformance::conformance_tests!(File::new());
