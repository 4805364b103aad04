//! The encrypting store passes the suite.

use superstep_conformance::TestStore;
use superstep_store::checkpoint::{CheckpointError, EncryptedCheckpointer, Key, Keys, MemoryCheckpointer};

struct Encrypted(MemoryCheckpointer);

impl TestStore for Encrypted {
    type Store = EncryptedCheckpointer<MemoryCheckpointer>;

    async fn open(&self) -> Result<Self::Store, CheckpointError> {
        Ok(EncryptedCheckpointer::new(self.0.clone(), Keys::new(Key::new(1, &[7; 32]))))
    }
}

superstep_conformance::conformance_tests!(Encrypted(MemoryCheckpointer::new()));
