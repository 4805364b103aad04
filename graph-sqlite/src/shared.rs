use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use superstep_store::checkpoint::CheckpointError;

use crate::open;
use crate::options::Options;
use crate::queue::Queue;
use crate::reader::{self, Read};
use crate::trouble::{About, Trouble};
use crate::writer::{self, Writes};

/// An open file: the threads that write and read it, for whatever is kept in it.
pub(crate) struct Shared {
    pub(crate) path: PathBuf,
    pub(crate) writes: Writes,
    reads: Arc<Queue<Read>>,
}

impl Shared {
    pub(crate) fn open(path: &Path, options: &Options) -> Result<Arc<Self>, CheckpointError> {
        let path = open::place(path)?;
        let db = open::writer(&path, options)?;
        // From here on, whatever fails ends the threads that are there.
        let shared = Arc::new(Self {
            path,
            writes: Writes::new(),
            // A read that nobody waits for is not read.
            reads: Arc::new(Queue::new(0)),
        });
        for _ in 0..options.readers {
            reader::spawn(open::reader(&shared.path, options)?, Arc::clone(&shared.reads))?;
        }
        writer::spawn(db, &shared.writes)?;
        Ok(shared)
    }

    /// Reads behind the writes of calls that were dropped.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        about: About,
        query: impl FnOnce(&Connection) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, CheckpointError> {
        self.writes.settled().await;
        reader::read(&self.reads, about, query).await
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.writes.close();
        self.reads.close();
    }
}
