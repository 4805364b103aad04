//! The checkpoint stores for tests of threads. Each can be reopened, as another process would open it.

use std::sync::Arc;

use superstep::checkpoint::{
    CheckpointQuery, Checkpointer, EncryptedCheckpointer, Key, Keys, MemoryCheckpointer,
};
use superstep::thread::Thread;
use superstep::{Graph, GraphState};
use superstep_sqlite::{SqliteCheckpointer, Synchronous};
use tempfile::TempDir;

use crate::postgres::PostgresSchema;

/// The storage behind a store under test.
#[derive(Debug)]
pub enum TestStore {
    /// A store in memory.
    Memory(MemoryCheckpointer),
    /// The folder of a SQLite file.
    File(TempDir),
    /// The inner store of an encrypting one.
    Encrypted(MemoryCheckpointer),
    /// A schema of a PostgreSQL server.
    Postgres(PostgresSchema),
}

/// Runs a test on a fresh store of each kind. Without a PostgreSQL server it skips that one.
pub async fn on_every_store(test: impl AsyncFn(&TestStore)) {
    test(&TestStore::memory()).await;
    test(&TestStore::file()).await;
    test(&TestStore::encrypted()).await;
    if let Some(store) = TestStore::postgres() {
        test(&store).await;
    }
}

impl TestStore {
    /// An empty store in memory.
    pub fn memory() -> Self {
        Self::Memory(MemoryCheckpointer::new())
    }

    /// An empty SQLite file.
    pub fn file() -> Self {
        Self::File(tempfile::tempdir().unwrap())
    }

    /// An empty store in memory, encrypted.
    pub fn encrypted() -> Self {
        Self::Encrypted(MemoryCheckpointer::new())
    }

    /// An empty schema of a PostgreSQL server, if there is one.
    pub fn postgres() -> Option<Self> {
        PostgresSchema::take().map(Self::Postgres)
    }

    /// Opens a new handle of the store.
    pub fn open(&self) -> Arc<dyn Checkpointer> {
        match self {
            Self::Memory(store) => Arc::new(store.clone()),
            Self::Encrypted(store) => Arc::new(encrypting(store.clone())),
            Self::Postgres(schema) => schema.open(),
            Self::File(folder) => {
                // Tests do not cut the power, so no commit waits for the disk.
                let options = SqliteCheckpointer::options().synchronous(Synchronous::Normal).readers(1);
                Arc::new(options.open(folder.path().join("threads.db")).unwrap())
            }
        }
    }

    /// Opens the storage itself: the inner store of an encrypting one.
    pub fn open_inner(&self) -> Arc<dyn Checkpointer> {
        match self {
            Self::Encrypted(store) => Arc::new(store.clone()),
            _ => self.open(),
        }
    }

    /// The thread under test, through a new handle of the store.
    pub fn thread<S: GraphState, D: Send + Sync + 'static>(&self, graph: &Graph<S, D>) -> Thread<S, D> {
        graph.with_checkpointer(self.open()).thread("t")
    }

    /// Every stored byte of the thread: as the store returns it, and as it is in the files.
    pub async fn bytes(&self) -> Vec<u8> {
        let store = self.open();
        let mut bytes = Vec::new();
        let query = CheckpointQuery::new("t");
        for checkpoint in store.list(query).await.unwrap().items {
            bytes.extend(format!("{checkpoint:?}").into_bytes());
            let found = store.get("t", "", Some(checkpoint.id)).await.unwrap().found.unwrap();
            bytes.extend(checkpoint.progress.iter().flat_map(|progress| progress.bytes()));
            bytes
                .extend(found.fields.iter().flat_map(|field| &field.changes).flat_map(|p| p.payload.bytes()));
            bytes.extend(found.records.iter().flat_map(|record| record.payload.bytes()));
        }
        if let Self::File(folder) = self {
            for file in std::fs::read_dir(folder.path()).unwrap() {
                // Another store on the file may be closing, and then removes its log.
                bytes.extend(std::fs::read(file.unwrap().path()).unwrap_or_default());
            }
        }
        bytes
    }
}

/// Encrypts a store.
pub fn encrypting<C: Checkpointer>(store: C) -> EncryptedCheckpointer<C> {
    EncryptedCheckpointer::new(store, Keys::new(Key::new(1, &[7; 32])))
}

/// Returns `true` if the bytes contain a string.
pub fn contains_text(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
