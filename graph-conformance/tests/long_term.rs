//! The long-term store in memory keeps every promise.

use graph_conformance::store::Place;
use graph_core::store::{Error, MemoryStore};

struct Memory(MemoryStore);

impl Place for Memory {
    type Store = MemoryStore;

    async fn open(&self) -> Result<MemoryStore, Error> {
        Ok(self.0.clone())
    }
}

graph_conformance::store_conformance_tests!(Memory(MemoryStore::new()));
