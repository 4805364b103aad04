use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use superstep_store::checkpoint::Page;
use superstep_store::store::{
    Found, Get, Item, ItemWrites, Namespace, NamespaceQuery, Search, Store, StoreError, StoreFuture,
};
use tokio_postgres::Client;

use crate::cache::PostgresCache;
use crate::columns::millis;
use crate::database::Database;
use crate::dropped::{Dropped, submit};
use crate::error::Failure;
use crate::items::{self, Extension, ItemError, Plan, Refresh, Statements, separate_refusal};
use crate::options::PostgresOptions;
use crate::transaction::{Work, read_only};

/// A long-term store in a schema of a PostgreSQL database. Clones share the same connections.
///
/// ```no_run
/// use superstep::store::LongTermStore;
/// use superstep_postgres::PostgresStore;
///
/// # async fn remember() -> Result<(), Box<dyn std::error::Error>> {
/// let store = LongTermStore::new(PostgresStore::connect("postgres://app@db.internal/app").await?);
/// let notes = store.of::<String>(["users", "ann"]);
/// notes.put("diet", &"eats no meat".to_owned()).await?;
/// assert_eq!(notes.get("diet").await?.as_deref(), Some("eats no meat"));
/// # Ok(())
/// # }
/// ```
///
/// The schema may also hold checkpoints. [`PostgresCheckpointer::store`](crate::PostgresCheckpointer::store) returns the
/// long-term store of the same schema, with the same connections. Any number of programs may use it.
///
/// Reading an item costs one index lookup. A search reads the items of its namespace, and by default of the namespaces
/// inside it, until its page is full. Conditions are compared by this crate, not by the server.
///
/// # Semantic search
/// A semantic search compares its vector with those of all items in the namespace; see
/// [`Index`](superstep_store::store::Index). If the database has the extension pgvector, the server does most of that and
/// sends only the items that may be on the page. Without it, the server sends all vectors. The results are the same. The
/// store does not install the extension.
///
/// Items are not encrypted. A role that can read the tables can read the values.
///
/// # Durability
/// When a call has returned, its write is durable as the server's `synchronous_commit` says. If the connection is lost
/// before the server has answered, the call connects again and asks whether the write was made. It makes the write only
/// if it was not.
///
/// # Cancel safety
/// The first poll of a writing call submits it. Dropping its future does not cancel it. A later call through this store or one
/// of its clones waits for it, and sees its result.
#[derive(Clone)]
pub struct PostgresStore {
    database: Arc<Database>,
    shared: Arc<Shared>,
}

struct Shared {
    statements: Statements,
    extension: Extension,
    dropped: Dropped,
}

impl PostgresStore {
    /// Connects to a server, with the tables in the schema `superstep`. Creates or migrates them.
    ///
    /// # Errors
    /// - [`NewerFormat`](StoreError::NewerFormat) if a newer version of this crate has migrated the schema.
    /// - [`Unavailable`](StoreError::Unavailable) if the server cannot be reached.
    /// - [`Backend`](StoreError::Backend) if the server refuses the role or a statement.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::connect_with(url, PostgresOptions::new()).await
    }

    pub(crate) async fn connect_with(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        let connected = Database::connect(url, options).await;
        connected.map(Self::of).map_err(|failure| failure.store("connect to the server"))
    }

    pub(crate) fn of(database: Arc<Database>) -> Self {
        let statements = Statements::new(&database.schema().to_string());
        let shared = Shared { statements, extension: Extension::default(), dropped: Dropped::default() };
        Self { database, shared: Arc::new(shared) }
    }

    /// Returns the cache of node results in the same schema. It uses the connections of this store.
    pub fn cache(&self) -> PostgresCache {
        PostgresCache::of(Arc::clone(&self.database))
    }

    /// Runs statements that see one state of the database. They are sent together with the begin of the transaction.
    async fn read<T: Send + 'static>(
        &self,
        name: &'static str,
        read: impl for<'c> Fn(&'c Client, Arc<Shared>) -> Work<'c, T, ItemError> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        self.shared.dropped.settle().await;
        let call = Arc::new((self.database.schema().clone(), Arc::clone(&self.shared), read));
        let done = self.database.read(move |connection| {
            let call = Arc::clone(&call);
            async move {
                let (schema, shared, read) = &*call;
                let done =
                    read_only(connection, schema, items::BEGIN, |client| read(client, Arc::clone(shared)));
                separate_refusal(done.await)
            }
        });
        done.await.map_err(|failure| failure.store(name))?
    }

    /// Makes a write in a transaction of its own.
    async fn submit<T: Send + 'static>(
        &self,
        name: &'static str,
        write: impl for<'c> Fn(&'c Client, Arc<Shared>) -> Work<'c, T, Failure> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        let done = submit(&self.database, &self.shared.dropped, &self.shared, write).await;
        done.map_err(|failure| failure.store(name))
    }

    async fn refresh(&self, rows: Vec<Refresh>, now: SystemTime) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let rows = Arc::new(rows);
        self.submit("refresh items", move |client, shared| {
            let rows = Arc::clone(&rows);
            Box::pin(async move { items::refresh(client, &shared.statements, &rows, now).await })
        })
        .await
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("schema", self.database.schema()).finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// Connects to a server as a long-term store.
    ///
    /// # Errors
    /// As [`PostgresStore::connect`].
    pub async fn connect_store(self, url: &str) -> Result<PostgresStore, StoreError> {
        PostgresStore::connect_with(url, self).await
    }
}

impl Store for PostgresStore {
    fn get(&self, get: Get) -> StoreFuture<'_, Vec<Option<Item>>> {
        Box::pin(async move {
            let now = get.now;
            let get = Arc::new(get);
            let (items, refreshes) = self
                .read("read items", move |client, shared| {
                    let get = Arc::clone(&get);
                    Box::pin(async move { items::get(client, &shared.statements, &get).await })
                })
                .await?;
            self.refresh(refreshes, now).await?;
            Ok(items)
        })
    }

    fn write(&self, writes: ItemWrites) -> StoreFuture<'_, Vec<bool>> {
        Box::pin(async move {
            writes.check_limits()?;
            let plan = Arc::new(Plan::new(writes));
            self.submit("write items", move |client, shared| {
                let plan = Arc::clone(&plan);
                Box::pin(async move { items::write(client, &shared.statements, &plan).await })
            })
            .await
        })
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Page<Found>> {
        Box::pin(async move {
            let now = search.now;
            let search = Arc::new(search);
            let (page, refreshes) = self
                .read("search items", move |client, shared| {
                    let search = Arc::clone(&search);
                    Box::pin(async move {
                        items::search(client, &shared.statements, &shared.extension, &search).await
                    })
                })
                .await?;
            self.refresh(refreshes, now).await?;
            Ok(page)
        })
    }

    fn namespaces(&self, query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>> {
        let query = Arc::new(query);
        Box::pin(self.read("list namespaces", move |client, shared| {
            let query = Arc::clone(&query);
            Box::pin(async move { items::list(client, &shared.statements, &query).await })
        }))
    }

    fn delete_expired(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        let now = millis(now);
        Box::pin(async move {
            let mut all = 0;
            loop {
                let (found, deleted) = self
                    .submit("delete expired items", move |client, shared| {
                        Box::pin(async move { items::delete_expired(client, &shared.statements, now).await })
                    })
                    .await?;
                all += deleted;
                if found == 0 {
                    return Ok(all);
                }
            }
        })
    }
}
