use std::path::Path;
use std::thread::available_parallelism;
use std::time::Duration;

use superstep_store::checkpoint::CheckpointError;

use crate::{SqliteCache, SqliteCheckpointer, SqliteStore};

/// What an acknowledged write survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Synchronous {
    /// Everything that the disk survives, a power cut included: each group of writes waits for the disk.
    #[default]
    Full,
    /// The end of the process, by `kill -9` for example. What was written in the last moments before a power cut or the
    /// end of the system may be gone then; what is there is whole.
    Normal,
}

/// How a file is to be opened.
///
/// ```
/// use superstep_sqlite::{SqliteCheckpointer, Synchronous};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("threads.db");
/// let store = SqliteCheckpointer::options().synchronous(Synchronous::Normal).readers(2).open(path)?;
/// # drop(store);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) synchronous: Synchronous,
    pub(crate) busy_timeout: Duration,
    pub(crate) readers: usize,
}

impl Options {
    /// What [`SqliteCheckpointer::open`] uses: [`Synchronous::Full`], five seconds, and a reader for each core up to four.
    pub fn new() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self {
            synchronous: Synchronous::default(),
            busy_timeout: Duration::from_secs(5),
            readers: cores.clamp(1, 4),
        }
    }

    /// What an acknowledged write survives.
    #[must_use]
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// How long to wait for another process that is writing to the file before a call fails.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// How many reads go on at the same time; at least one.
    #[must_use]
    pub fn readers(mut self, readers: usize) -> Self {
        self.readers = readers.max(1);
        self
    }

    /// Opens the file, and makes it first if it is not there.
    ///
    /// # Errors
    /// As [`SqliteCheckpointer::open`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<SqliteCheckpointer, CheckpointError> {
        SqliteCheckpointer::open_with(path.as_ref(), &self)
    }

    /// Opens the file as a long-term store, and makes it first if it is not there.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_store(
        self,
        path: impl AsRef<Path>,
    ) -> Result<SqliteStore, superstep_store::store::StoreError> {
        SqliteStore::open_with(path.as_ref(), &self)
    }

    /// Opens the file as a cache of results, and makes it first if it is not there.
    ///
    /// # Errors
    /// As [`SqliteCache::open`].
    pub fn open_cache(
        self,
        path: impl AsRef<Path>,
    ) -> Result<SqliteCache, superstep_store::cache::CacheError> {
        SqliteCache::open_with(path.as_ref(), &self)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
