//! The cache in memory keeps every promise.

use graph_conformance::cache::Place;
use graph_core::cache::{Error, MemoryCache};

struct Memory(MemoryCache);

impl Place for Memory {
    type Cache = MemoryCache;

    async fn open(&self) -> Result<MemoryCache, Error> {
        Ok(self.0.clone())
    }
}

graph_conformance::cache_conformance_tests!(Memory(MemoryCache::new()));
