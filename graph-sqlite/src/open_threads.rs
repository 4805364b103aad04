//! The threads that have a file open, and the wait for their end.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use superstep_store::checkpoint::CheckpointError;
use tokio::sync::Notify;

/// The threads of an open file. Each has a connection, and ends after the connection is closed.
#[derive(Debug, Default)]
pub(crate) struct OpenThreads {
    state: Mutex<State>,
    /// Wakes threads that wait for an end.
    ended: Condvar,
    /// Wakes futures that wait for the last end.
    all_ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The threads that have started and not ended.
    open: usize,
    ids: HashSet<ThreadId>,
    /// The error of closing the file.
    error: Option<String>,
}

/// The part of a thread that is open. Drop it after the connection.
#[derive(Debug)]
pub(crate) struct OpenThread(Arc<OpenThreads>);

impl OpenThreads {
    /// Starts a thread. `run` must drop its connection before the argument.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        name: &str,
        run: impl FnOnce(OpenThread) + Send + 'static,
    ) -> Result<(), CheckpointError> {
        // Counted before it starts, so that a wait does not miss it. If it does not start, the drop counts it out.
        self.lock().open += 1;
        let open = OpenThread(Arc::clone(self));
        let run = move || {
            open.0.lock().ids.insert(thread::current().id());
            run(open);
        };
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(run)
            .map(drop)
            .map_err(|error| CheckpointError::backend("start a thread", error))
    }

    /// Waits until all threads have ended. Returns the error with which the file was closed.
    pub(crate) async fn wait(&self) -> Option<String> {
        loop {
            // Created before the check, so that no notification is missed.
            let ended = self.all_ended.notified();
            {
                let state = self.lock();
                if state.open == 0 {
                    return state.error.clone();
                }
            }
            ended.await;
        }
    }

    /// Blocks until all threads have ended, or the time is over.
    ///
    /// Returns at once on one of these threads: the last handle of a file may be dropped by a waker that it calls.
    pub(crate) fn block(&self, at_most: Duration) {
        let state = self.lock();
        if state.ids.contains(&thread::current().id()) {
            return;
        }
        let waited = self.ended.wait_timeout_while(state, at_most, |state| state.open > 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenThread {
    /// Blocks until this is the only thread.
    pub(crate) fn wait_for_others(&self) {
        let state = self.0.ended.wait_while(self.0.lock(), |state| state.open > 1);
        drop(state.unwrap_or_else(PoisonError::into_inner));
    }

    /// Records an error of closing the file.
    pub(crate) fn fail(&self, error: &rusqlite::Error) {
        self.0.lock().error.get_or_insert_with(|| error.to_string());
    }
}

impl Drop for OpenThread {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.open -= 1;
        state.ids.remove(&thread::current().id());
        let all = state.open == 0;
        drop(state);
        self.0.ended.notify_all();
        if all {
            self.0.all_ended.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Instant;

    use super::*;

    #[test]
    fn block_ends_after_the_last_thread_or_the_time() {
        let threads = Arc::new(OpenThreads::default());
        let (end, ends) = mpsc::channel::<()>();
        let (blocks, blocked) = mpsc::channel();
        let own = Arc::clone(&threads);
        threads
            .spawn("a", move |open| {
                // A thread does not wait for itself.
                own.block(Duration::from_secs(60));
                blocks.send(()).unwrap();
                let _ = ends.recv();
                drop(open);
            })
            .unwrap();
        blocked.recv().unwrap();
        let begin = Instant::now();
        threads.block(Duration::from_millis(20));
        assert!(begin.elapsed() >= Duration::from_millis(20));
        drop(end);
        threads.block(Duration::from_secs(60));
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
}
