use std::fmt;
use std::sync::Arc;

use superstep_store::checkpoint::CheckpointError;

use crate::cache::PostgresCache;
use crate::database::Database;
use crate::options::PostgresOptions;
use crate::store::PostgresStore;

/// A checkpoint store in a schema of a PostgreSQL database. Clones share the same connections.
#[derive(Clone)]
pub struct PostgresCheckpointer {
    database: Arc<Database>,
}

impl fmt::Debug for PostgresCheckpointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresCheckpointer").field("schema", self.database.schema()).finish_non_exhaustive()
    }
}

impl PostgresCheckpointer {
    /// Connects to a server, with the tables in the schema `superstep`. Creates or migrates them.
    ///
    /// # Errors
    /// - [`NewerFormat`](CheckpointError::NewerFormat) if a newer version of this crate has migrated the schema.
    /// - [`Unavailable`](CheckpointError::Unavailable) if the server cannot be reached.
    /// - [`Backend`](CheckpointError::Backend) if the server refuses the role or a statement.
    pub async fn connect(url: &str) -> Result<Self, CheckpointError> {
        Self::connect_with(url, PostgresOptions::new()).await
    }

    /// Returns options for connecting.
    pub fn options() -> PostgresOptions {
        PostgresOptions::new()
    }

    pub(crate) async fn connect_with(url: &str, options: PostgresOptions) -> Result<Self, CheckpointError> {
        let connected = Database::connect(url, options).await;
        Ok(Self { database: connected.map_err(|failure| failure.checkpoint("connect to the server"))? })
    }

    /// Returns the long-term store in the same schema. It uses the connections of this store.
    pub fn store(&self) -> PostgresStore {
        PostgresStore::of(Arc::clone(&self.database))
    }

    /// Returns the cache of node results in the same schema. It uses the connections of this store.
    pub fn cache(&self) -> PostgresCache {
        PostgresCache::of(Arc::clone(&self.database))
    }
}
