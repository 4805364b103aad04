//! The store in memory keeps every promise.

use graph_conformance::Place;
use graph_core::checkpoint::{MemoryCheckpointer, StoreError};

struct Memory(MemoryCheckpointer);

impl Place for Memory {
    type Store = MemoryCheckpointer;

    async fn open(&self) -> Result<MemoryCheckpointer, StoreError> {
        Ok(self.0.clone())
    }
}

graph_conformance::conformance_tests!(Memory(MemoryCheckpointer::new()));
