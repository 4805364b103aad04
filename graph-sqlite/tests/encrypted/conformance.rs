use rusqlite::Connection;
use superstep_conformance::{Damage, TestStore};
use superstep_sqlite::SqliteCheckpointer;
use superstep_store::checkpoint::{CheckpointError, EncryptedCheckpointer};

use crate::File;

impl TestStore for File {
    type Store = EncryptedCheckpointer<SqliteCheckpointer>;

    async fn open(&self) -> Result<Self::Store, CheckpointError> {
        self.encrypted()
    }

    /// Damages the file so that SQLite sees nothing wrong: only the encryption can detect it.
    async fn damage(&self, damage: &Damage<'_>) -> bool {
        let file = Connection::open(self.path()).unwrap();
        let changed = match damage {
            // Replaces the data of a row by the data of another row of the same length.
            Damage::Changes { .. } => file.execute(
                "UPDATE piece SET data = (SELECT data FROM piece AS other WHERE other.id <> piece.id \
                 AND length(other.data) = length(piece.data) LIMIT 1) \
                 WHERE EXISTS (SELECT 1 FROM piece AS other WHERE other.id <> piece.id \
                 AND length(other.data) = length(piece.data))",
                [],
            ),
            Damage::Checkpoint { .. } => file.execute("UPDATE checkpoint SET next = '[\"publish\"]'", []),
            Damage::Record { .. } => file.execute("UPDATE record SET task = 7", []),
            Damage::Run { .. } => file.execute("UPDATE run SET program = 'another'", []),
            Damage::OneThread { thread } => file.execute(
                "UPDATE checkpoint SET next = '[\"publish\"]' WHERE name = (SELECT max(c.name) FROM checkpoint c \
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
