//! Encrypted checkpoints pass the conformance suite too.

use superstep_conformance::{Damage, TestStore};
use superstep_postgres::PostgresCheckpointer;
use superstep_store::checkpoint::{CheckpointError, EncryptedCheckpointer, Key, Keys};

use crate::server::{self, Schema};

struct Encrypted(Schema);

impl TestStore for Encrypted {
    type Store = EncryptedCheckpointer<PostgresCheckpointer>;

    async fn open(&self) -> Result<Self::Store, CheckpointError> {
        let keys = Keys::new(Key::new(1, &[7; 32]));
        Ok(EncryptedCheckpointer::new(self.0.open().await?, keys))
    }

    /// Damages rows so that the database sees nothing wrong: only the encryption can detect it.
    async fn damage(&self, damage: &Damage<'_>) -> bool {
        let changed = match damage {
            // Replaces the data of a row by the data of another row of the same length.
            Damage::Changes { .. } => self.0.sql(
                "UPDATE piece p SET data = o.data FROM piece o \
                 WHERE o.first <> p.first AND length(o.data) = length(p.data)",
            ),
            Damage::Checkpoint { .. } => self.0.sql("UPDATE checkpoint SET next = '[\"publish\"]'"),
            Damage::Record { .. } => self.0.sql("UPDATE record SET task = 7"),
            Damage::Run { .. } => self.0.sql("UPDATE run SET program = 'another'"),
            Damage::OneThread { thread } => self.0.sql(&format!(
                "UPDATE checkpoint c SET next = '[\"publish\"]' FROM namespace n JOIN thread t ON t.id = n.thread \
                 WHERE c.namespace = n.id AND c.id = n.head AND t.name = '{thread}'"
            )),
            _ => return false,
        };
        assert!(changed > 0, "no row to damage: {damage:?}");
        true
    }
}

superstep_conformance::conformance_tests!(Encrypted(Schema::reused()), run = server::run);
