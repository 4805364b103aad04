use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use superstep_store::checkpoint::CheckpointError;

use crate::connection;
use crate::error::{Error, Operation};
use crate::options::SqliteOptions;
use crate::queue::Queue;
use crate::reader::{self, Read};
use crate::writer::{self, WriteQueue};

/// An open file, with the threads that read and write it. Checkpointer, long-term store and cache share it.
pub(crate) struct OpenFile {
    pub(crate) path: PathBuf,
    pub(crate) writes: WriteQueue,
    reads: Arc<Queue<Read>>,
}

impl OpenFile {
    pub(crate) fn open(path: &Path, options: &SqliteOptions) -> Result<Arc<Self>, CheckpointError> {
        let path = connection::create_file(path)?;
        let db = connection::writer(&path, options)?;
        // If a later step fails, dropping `file` ends the threads that are already running.
        let file = Arc::new(Self {
            path,
            writes: WriteQueue::new(),
            // A bound of 0: an abandoned read never runs.
            reads: Arc::new(Queue::new(0)),
        });
        for _ in 0..options.readers {
            reader::spawn(connection::reader(&file.path, options)?, Arc::clone(&file.reads))?;
        }
        writer::spawn(db, &file.writes)?;
        Ok(file)
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
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.writes.close();
        self.reads.close();
    }
}
