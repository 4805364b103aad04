//! Runs the conformance suite of checkpoint stores against `PostgresCheckpointer`, with prepared statements. The suites of
//! encrypted checkpoints and of the pooler run with unnamed ones.

use superstep_conformance::{Damage, TestStore};
use superstep_postgres::PostgresCheckpointer;
use superstep_store::checkpoint::CheckpointError;

use crate::server::{self, Schema};

impl TestStore for Schema {
    type Store = PostgresCheckpointer;

    async fn open(&self) -> Result<PostgresCheckpointer, CheckpointError> {
        Self::open(self).await
    }

    async fn damage(&self, damage: &Damage<'_>) -> bool {
        let changed = match damage {
            Damage::Changes { field, .. } => self.sql(&format!(
                "UPDATE piece SET entries = set_byte(entries, 16, 77) \
                 WHERE field = (SELECT id FROM field WHERE name = '{field}')"
            )),
            Damage::Checkpoint { .. } => self.sql("UPDATE checkpoint SET source = 'nothing'"),
            Damage::Record { .. } => self.sql("UPDATE record SET encoding = 77"),
            Damage::Run { .. } => self.sql("UPDATE run SET metadata = '{'"),
            Damage::OneThread { thread } => self.sql(&format!(
                "UPDATE checkpoint c SET source = 'nothing' FROM namespace n JOIN thread t ON t.id = n.thread \
                 WHERE c.namespace = n.id AND c.id = n.head AND t.name = '{thread}'"
            )),
            _ => return false,
        };
        assert!(changed > 0, "no row to damage: {damage:?}");
        true
    }
}

superstep_conformance::conformance_tests!(Schema::reused().prepared(), run = server::run);
