//! The encrypting store keeps every promise of the store that it stands around.

use graph_conformance::Place;
use graph_core::checkpoint::{EncryptedCheckpointer, Key, Keys, MemoryCheckpointer, StoreError};

struct Encrypted(MemoryCheckpointer);

impl Place for Encrypted {
    type Store = EncryptedCheckpointer<MemoryCheckpointer>;

    async fn open(&self) -> Result<Self::Store, StoreError> {
        Ok(EncryptedCheckpointer::new(self.0.clone(), Keys::new(Key::new(1, &[7; 32]))))
    }
}

graph_conformance::conformance_tests!(Encrypted(MemoryCheckpointer::new()));
