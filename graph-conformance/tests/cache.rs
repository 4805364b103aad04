//! The cache in memory passes the suite.

use superstep_conformance::cache::TestCache;
use superstep_store::cache::{CacheError, MemoryCache};

struct Memory(MemoryCache);

impl TestCache for Memory {
    type Cache = MemoryCache;

    async fn open(&self) -> Result<MemoryCache, CacheError> {
        Ok(self.0.clone())
    }
}

superstep_conformance::cache_conformance_tests!(Memory(MemoryCache::new()));
