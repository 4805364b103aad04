use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use superstep_store::checkpoint::{CheckpointError, Checkpointer};

/// Where a store is: a file, a folder, a database, or just a store in memory.
///
/// Each case is given a new place, in which nothing has been stored yet.
pub trait Place: Send + Sync + 'static {
    /// The store.
    type Store: Checkpointer;

    /// Opens the store that is here, as a process does when it starts.
    ///
    /// Called again, it opens the *same* store, with all that was committed; also while another one is open. A store that
    /// can be opened but once gives out another handle to it.
    fn open(&self) -> impl Future<Output = Result<Self::Store, CheckpointError>> + Send;

    /// Spoils what is stored, so that the store can see that it is spoilt: a length that is wrong, a number of no meaning, a
    /// row that is gone. No store is open meanwhile. Gives back whether it has done so; a place that cannot, or that has
    /// nothing of the kind, says no, and is not asked any further.
    fn damage(&self, damage: &Damage<'_>) -> impl Future<Output = bool> + Send {
        let _ = damage;
        std::future::ready(false)
    }
}

/// What [`Place::damage`] is to spoil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage<'a> {
    /// The pieces of a field: there are many.
    Pieces {
        /// The thread; nothing else is in the store.
        thread: &'a str,
        /// The field; there is no other in the thread.
        field: &'a str,
    },
    /// The newest checkpoint of a thread itself.
    Checkpoint {
        /// The thread; nothing else is in the store.
        thread: &'a str,
    },
    /// A record of the newest checkpoint of a thread; there is one.
    Record {
        /// The thread; nothing else is in the store.
        thread: &'a str,
    },
    /// The run that has made all checkpoints of a thread.
    Run {
        /// The thread; nothing else is in the store.
        thread: &'a str,
    },
    /// The newest checkpoint of one thread among others, which stay as they are.
    OneThread {
        /// The thread.
        thread: &'a str,
    },
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A place of whatever kind: cases are not made again for each store.
#[doc(hidden)]
pub trait AnyPlace: Send + Sync {
    fn open_any(&self) -> BoxFuture<'_, Result<Arc<dyn Checkpointer>, CheckpointError>>;
    fn damage_any<'a>(&'a self, damage: &'a Damage<'a>) -> BoxFuture<'a, bool>;
}

impl<P: Place> AnyPlace for P {
    fn open_any(&self) -> BoxFuture<'_, Result<Arc<dyn Checkpointer>, CheckpointError>> {
        Box::pin(async move { Ok(Arc::new(self.open().await?) as Arc<dyn Checkpointer>) })
    }

    fn damage_any<'a>(&'a self, damage: &'a Damage<'a>) -> BoxFuture<'a, bool> {
        Box::pin(self.damage(damage))
    }
}
