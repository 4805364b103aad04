use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio_postgres::Client;

use crate::database::Database;
use crate::error::Failure;
use crate::transaction::{Once, Work};

/// The calls whose futures were dropped before they were completed. They are completed all the same.
///
/// A later call waits for them, so that it sees their result, and so that a write is not overtaken by one that was dropped
/// before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dropped {
    calls: Arc<Mutex<Vec<watch::Receiver<()>>>>,
}

impl Dropped {
    /// Waits until all dropped calls are completed.
    pub(crate) async fn settle(&self) {
        loop {
            let next = {
                let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
                // A call is completed when its sender is gone.
                calls.retain(|call| call.has_changed().is_ok());
                calls.last().cloned()
            };
            let Some(mut call) = next else { return };
            // Nothing is ever sent: this waits for the end.
            while call.changed().await.is_ok() {}
        }
    }

    /// Begins a call. It is completed when the first value is dropped. Its future is dropped if the second is dropped
    /// before that.
    fn begin(&self) -> (watch::Sender<()>, Watch) {
        let (ending, ended) = watch::channel(());
        (ending, Watch { dropped: self.clone(), ended: Some(ended) })
    }
}

/// Makes a write in a transaction of its own, after the dropped calls of `dropped`. It is made once, also if this future is
/// dropped.
pub(crate) async fn submit<T: Send + 'static, S: Send + Sync + 'static>(
    database: &Arc<Database>,
    dropped: &Dropped,
    shared: &Arc<S>,
    write: impl for<'c> Fn(&'c Client, Arc<S>) -> Work<'c, T, Failure> + Send + Sync + 'static,
) -> Result<T, Failure> {
    dropped.settle().await;
    let (ending, watch) = dropped.begin();
    let call = Arc::new((Arc::clone(shared), write, ending));
    let once = Once::new(database.schema());
    let done = database.run(move |connection| {
        let (once, call) = (once.clone(), Arc::clone(&call));
        async move {
            let (shared, write, _) = &*call;
            once.attempt(connection, |client| write(client, Arc::clone(shared))).await
        }
    });
    let done = done.await;
    drop(watch);
    done
}

/// Watches the future of a call.
#[derive(Debug)]
struct Watch {
    dropped: Dropped,
    ended: Option<watch::Receiver<()>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Some(ended) = self.ended.take().filter(|ended| ended.has_changed().is_ok()) else { return };
        self.dropped.calls.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
    }
}
