//! The long-term store in memory passes the suite.

use superstep_conformance::store::TestLongTermStore;
use superstep_store::store::{MemoryStore, StoreError};

struct Memory(MemoryStore);

impl TestLongTermStore for Memory {
    type Store = MemoryStore;

    async fn open(&self) -> Result<MemoryStore, StoreError> {
        Ok(self.0.clone())
    }
}

superstep_conformance::store_conformance_tests!(Memory(MemoryStore::new()));
