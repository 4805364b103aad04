//! The conformance suite of caches.

use superstep_conformance::cache::TestCache;
use superstep_postgres::PostgresCache;
use superstep_store::cache::{CacheError, EntryKey};
use tokio_postgres::types::Type;

use crate::fixture::{Schema, url, with_server};

impl TestCache for Schema {
    type Cache = PostgresCache;

    async fn open(&self) -> Result<PostgresCache, CacheError> {
        self.options().connect_cache(url().unwrap_or_default()).await
    }

    async fn damage(&self, at: &EntryKey) -> bool {
        let statement =
            "UPDATE cache_entry SET encoding = 77 WHERE graph = $1 AND node = $2 AND state = $3 AND key = $4";
        let parts = [&at.graph, &at.node, &at.state, &at.key].map(|part| part.as_bytes());
        let params = parts.each_ref().map(|part| (part as _, Type::BYTEA));
        let changed = self.sql(async |client| client.execute_typed(statement, &params).await.unwrap());
        assert_eq!(changed, 1, "no row to damage: {at:?}");
        true
    }
}

superstep_conformance::cache_conformance_tests!(Schema::new(), run = with_server);
