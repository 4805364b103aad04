use std::future::Future;

use superstep_store::checkpoint::{CheckpointError, Checkpointer};

/// The place of a store: a file, a folder, a database, or memory.
///
/// Each case gets a new, empty store.
pub trait TestStore: Send + Sync + 'static {
    /// The type of the store.
    type Store: Checkpointer;

    /// Opens the store, as a process does when it starts.
    ///
    /// Each call opens the *same* store with all committed data, even while another handle is open. A store that can be
    /// opened only once returns another handle to it.
    fn open(&self) -> impl Future<Output = Result<Self::Store, CheckpointError>> + Send;

    /// Damages stored data in a way that the store can detect: a wrong length, an invalid number, a missing row.
    ///
    /// No handle is open during the call. Returns `true` if the data was damaged. Returns `false` if the storage does not
    /// support this damage, which skips the case.
    fn damage(&self, damage: &Damage<'_>) -> impl Future<Output = bool> + Send {
        let _ = damage;
        std::future::ready(false)
    }
}

/// The data that [`TestStore::damage`] damages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage<'a> {
    /// The changes of a field. There are many.
    Changes {
        /// The only thread in the store.
        thread: &'a str,
        /// The only field of the thread.
        field: &'a str,
    },
    /// The newest checkpoint of a thread.
    Checkpoint {
        /// The only thread in the store.
        thread: &'a str,
    },
    /// The only record of the newest checkpoint of a thread.
    Record {
        /// The only thread in the store.
        thread: &'a str,
    },
    /// The run that made all checkpoints of a thread.
    Run {
        /// The only thread in the store.
        thread: &'a str,
    },
    /// The newest checkpoint of one of several threads. The other threads stay intact.
    OneThread {
        /// The thread.
        thread: &'a str,
    },
}
