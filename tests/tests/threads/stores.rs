//! The stores that threads are tested on, each of which can be opened again as another process would.

use std::sync::Arc;

use superstep::checkpoint::{
    CheckpointQuery, Checkpointer, EncryptedCheckpointer, Key, Keys, MemoryCheckpointer,
};
use superstep::thread::Thread;
use superstep::{Graph, GraphState};
use superstep_sqlite::{SqliteCheckpointer, Synchronous};
use tempfile::TempDir;

/// Where a store keeps what it is given.
pub(crate) enum Place {
    Memory(MemoryCheckpointer),
    File(TempDir),
    /// What is kept of a store that encrypts.
    Encrypted(MemoryCheckpointer),
}

/// Runs a test on each kind of store, a fresh one each.
pub(crate) async fn on_every_store(test: impl AsyncFn(&Place)) {
    test(&Place::memory()).await;
    test(&Place::file()).await;
    test(&Place::encrypted()).await;
}

impl Place {
    pub(crate) fn memory() -> Self {
        Self::Memory(MemoryCheckpointer::new())
    }

    pub(crate) fn file() -> Self {
        Self::File(tempfile::tempdir().unwrap())
    }

    pub(crate) fn encrypted() -> Self {
        Self::Encrypted(MemoryCheckpointer::new())
    }

    /// A handle of its own: as another process has it, where the store is a file.
    pub(crate) fn open(&self) -> Arc<dyn Checkpointer> {
        match self {
            Self::Memory(store) => Arc::new(store.clone()),
            Self::Encrypted(store) => Arc::new(encrypting(store.clone())),
            Self::File(folder) => {
                // Not waiting for the disk: no power is cut here.
                let options = SqliteCheckpointer::options().synchronous(Synchronous::Normal).readers(1);
                Arc::new(options.open(folder.path().join("threads.db")).unwrap())
            }
        }
    }

    /// What is really kept: of a store that encrypts, what it has been given by it.
    pub(crate) fn kept(&self) -> Arc<dyn Checkpointer> {
        match self {
            Self::Encrypted(store) => Arc::new(store.clone()),
            _ => self.open(),
        }
    }

    /// The thread that tests are about, through a handle of its own.
    pub(crate) fn thread<S: GraphState, D: Send + Sync + 'static>(
        &self,
        graph: &Graph<S, D>,
    ) -> Thread<S, D> {
        graph.with_checkpointer(self.open()).thread("t")
    }

    /// Every byte that is kept of the thread: as the store gives it back, and as it is in the files.
    pub(crate) async fn bytes(&self) -> Vec<u8> {
        let store = self.open();
        let mut bytes = Vec::new();
        let query = CheckpointQuery { thread: "t".into(), ..CheckpointQuery::default() };
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
                // A store that was dropped is closed a little later, and takes its log away with it.
                bytes.extend(std::fs::read(file.unwrap().path()).unwrap_or_default());
            }
        }
        bytes
    }
}

/// A store that encrypts what another one keeps.
pub(crate) fn encrypting<C: Checkpointer>(store: C) -> EncryptedCheckpointer<C> {
    EncryptedCheckpointer::new(store, Keys::new(Key::new(1, &[7; 32])))
}

/// Whether a text is somewhere in bytes.
pub(crate) fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
