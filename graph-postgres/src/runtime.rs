use std::future::Future;
use std::io;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread with a runtime, which drives the connections of one store.
///
/// The callers of the store may use any async runtime, or none, and each may end at any time. A call that was submitted
/// is completed all the same.
#[derive(Debug)]
pub(crate) struct Runtime {
    handle: Handle,
    /// Ends the thread when it is dropped.
    _stop: oneshot::Sender<()>,
}

impl Runtime {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        thread::Builder::new().name("superstep-postgres".to_owned()).spawn(move || {
            // The sender is never used: it is dropped.
            drop(runtime.block_on(stopped));
        })?;
        Ok(Self { handle, _stop: stop })
    }

    /// Runs a future on the thread, to its end. Returns `None` if it panics, or if the thread has ended.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.handle.spawn(work).await.ok()
    }

    /// Runs a future on the thread until this call is dropped.
    pub(crate) async fn run_while_awaited<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let task = self.handle.spawn(work);
        let _abort = AbortOnDrop(task.abort_handle());
        task.await.ok()
    }

    /// Starts a future on the thread.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.handle.spawn(work));
    }
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
