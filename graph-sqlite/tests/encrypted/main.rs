//! Encrypted checkpoints in a file: the conformance suite, threads, and the absence of plain text.
#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod conformance;
mod threads;

use std::path::PathBuf;

use superstep_sqlite::SqliteCheckpointer;
use superstep_store::checkpoint::{CheckpointError, EncryptedCheckpointer, Key, Keys};
use tempfile::TempDir;

/// A file in its own temporary folder.
struct File(TempDir);

impl File {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("checkpoints.db")
    }

    fn encrypted(&self) -> Result<EncryptedCheckpointer<SqliteCheckpointer>, CheckpointError> {
        let keys = Keys::new(Key::new(1, &[7; 32]));
        Ok(EncryptedCheckpointer::new(SqliteCheckpointer::open(self.path())?, keys))
    }

    /// Returns `true` if any file of the folder contains the string.
    fn has(&self, text: &str) -> bool {
        let files = std::fs::read_dir(self.0.path()).unwrap().map(|file| std::fs::read(file?.path()));
        let Ok(files) = files.collect::<Result<Vec<_>, _>>() else {
            // Another store on the file may be closing and deletes its log, so a file may have vanished.
            return self.has(text);
        };
        files.iter().any(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
    }
}
