use std::future::poll_fn;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use rusqlite::{Connection, InterruptHandle};
use superstep_store::checkpoint::{CheckpointError, CheckpointId, Loaded};

use crate::connection;
use crate::error::{Error, Operation};
use crate::open_threads::OpenThreads;
use crate::options::SqliteOptions;
use crate::queue::Queue;
use crate::reader::{self, Read};
use crate::writer::{self, WriteQueue};

/// An open file, with the threads that read and write it. Checkpointer, long-term store and cache share it.
///
/// The queues are closed first, by [`close`](Self::close) or by the drop of the last handle. Then the readers end. The
/// writer ends last, after the accepted writes.
pub(crate) struct OpenFile {
    pub(crate) path: PathBuf,
    pub(crate) writes: WriteQueue,
    reads: Arc<Queue<Read>>,
    readers: Vec<InterruptHandle>,
    /// The number of reads on callers' threads.
    inline_reads: AtomicU32,
    threads: Arc<OpenThreads>,
}

/// The number of reads on callers' threads after which one of the callers yields.
const INLINE_READS: u32 = 32;

/// The maximum time for which a drop blocks. Longer than closing a file takes, unless another process locks it or a
/// write of many rows is under way. An async runtime has to bear it.
const MAX_BLOCK: Duration = Duration::from_secs(1);

impl OpenFile {
    pub(crate) fn open(path: &Path, options: &SqliteOptions) -> Result<Arc<Self>, CheckpointError> {
        let path = connection::create_file(path)?;
        let db = connection::writer(&path, options)?;
        // If a later step fails, dropping `file` ends the threads that are already running.
        let mut file = Self {
            path,
            writes: WriteQueue::new(),
            // A bound of 0: an abandoned read never runs.
            reads: Arc::new(Queue::new(0)),
            readers: Vec::new(),
            inline_reads: AtomicU32::new(0),
            threads: Arc::default(),
        };
        for _ in 0..options.readers {
            let db = connection::reader(&file.path, options)?;
            file.readers.push(db.get_interrupt_handle());
            reader::spawn(db, Arc::clone(&file.reads), &file.threads)?;
        }
        writer::spawn(db, &file.path, options, &file.writes, &file.threads)?;
        Ok(Arc::new(file))
    }

    /// Reads after all abandoned writes are done.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        operation: Operation,
        query: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, CheckpointError> {
        self.writes.wait_for_abandoned().await;
        reader::read(&self.reads, operation, query).await
    }

    /// The same for a checkpoint, which is read on this thread if that is possible without waiting.
    pub(crate) async fn read_checkpoint(
        &self,
        operation: Operation,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Loaded, CheckpointError> {
        self.writes.wait_for_abandoned().await;
        let (thread, namespace) = (Arc::clone(&operation.thread), Arc::clone(&operation.namespace));
        match self.writes.read_inline(&thread, &namespace, checkpoint) {
            Some(loaded) => {
                self.yield_at_times().await;
                Ok(loaded)
            }
            None => {
                let query = move |db: &_| reader::get(db, &thread, &namespace, checkpoint);
                reader::read(&self.reads, operation, query).await
            }
        }
    }

    /// Lets the other tasks of the runtime run after [`INLINE_READS`] reads on callers' threads.
    ///
    /// These reads do not wait, so a task that only reads would keep its thread.
    async fn yield_at_times(&self) {
        let mut yields = self.inline_reads.fetch_add(1, Ordering::Relaxed) % INLINE_READS == INLINE_READS - 1;
        poll_fn(|cx| {
            if !mem::take(&mut yields) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Closes the file: runs the submitted calls, refuses later ones, and waits until every connection is closed.
    pub(crate) async fn close(&self) -> Result<(), CheckpointError> {
        self.close_queues();
        match self.threads.wait().await {
            None => Ok(()),
            Some(error) => Err(CheckpointError::backend("close the file", error)),
        }
    }

    fn close_queues(&self) {
        self.writes.close();
        self.reads.close();
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.close_queues();
        // No caller waits for a read: its future borrows a handle.
        self.readers.iter().for_each(InterruptHandle::interrupt);
        self.threads.block(MAX_BLOCK);
    }
}
