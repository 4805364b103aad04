use std::time::Duration;

/// The behavior of a run whose thread has pending tasks or another writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnConflict {
    /// Fails with [`PendingTasks`](crate::ErrorKind::PendingTasks) or [`Conflict`](crate::ErrorKind::Conflict).
    #[default]
    Reject,
    /// Waits until the thread is idle, at most for this duration, and then fails like [`Reject`](Self::Reject).
    ///
    /// Needs tokio's timer. Runs that wait for the same thread start one after the other, in no particular order. A run with
    /// this option stores its first checkpoint even under [`Durability::Exit`](crate::Durability::Exit), so that the others
    /// see it. A resumption takes over its thread at once; it waits only if another writer does the same at the same moment.
    Wait(Duration),
}
