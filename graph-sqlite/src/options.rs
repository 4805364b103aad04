use std::thread::available_parallelism;
use std::time::Duration;

/// The durability of an acknowledged write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Synchronous {
    /// An acknowledged write survives a power cut: each group of writes waits for the disk.
    #[default]
    Full,
    /// An acknowledged write survives the end of the process, for example by `kill -9`. A power cut or an operating
    /// system crash may lose the most recent writes. The file stays consistent.
    Normal,
}

/// Options for opening a file.
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
pub struct SqliteOptions {
    pub(crate) synchronous: Synchronous,
    pub(crate) busy_timeout: Duration,
    pub(crate) readers: usize,
}

impl SqliteOptions {
    /// Returns the options that [`SqliteCheckpointer::open`](crate::SqliteCheckpointer::open) uses:
    ///
    /// - [`Synchronous::Full`],
    /// - a busy timeout of five seconds,
    /// - one reader per CPU core, at most four.
    pub fn new() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self {
            synchronous: Synchronous::default(),
            busy_timeout: Duration::from_secs(5),
            readers: cores.clamp(1, 4),
        }
    }

    /// Sets the durability of an acknowledged write.
    #[must_use]
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// Sets how long a call waits for another process that is writing to the file before it fails with
    /// [`Unavailable`](superstep_store::checkpoint::CheckpointError::Unavailable).
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Sets the number of reads that can run at the same time; at least one.
    #[must_use]
    pub fn readers(mut self, readers: usize) -> Self {
        self.readers = readers.max(1);
        self
    }
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self::new()
    }
}
