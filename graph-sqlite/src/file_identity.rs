use std::path::{Path, PathBuf};

use superstep_store::checkpoint::CheckpointError;

use crate::error::Error;

/// The file that was opened, to notice that another one, or none, has its path.
///
/// An open file that was deleted accepts writes, and loses them when it is closed. Only Unix allows that.
#[derive(Debug)]
pub(crate) struct FileIdentity {
    path: PathBuf,
    opened: Option<Identity>,
}

/// The number of a file. SQLite compares it too, in other journal modes. It is not reused while the file is open.
type Identity = u64;

impl FileIdentity {
    /// Returns the identity of the file that has this path now.
    pub(crate) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), opened: identity(path) }
    }

    /// Fails if the file was deleted, renamed or replaced.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if identity(&self.path) == self.opened {
            return Ok(());
        }
        let reason = format!(
            "`{}` was deleted, renamed or replaced while it was open: close the store before such a change, and open the \
             file again",
            self.path.display()
        );
        Err(CheckpointError::backend("use the file", reason).into())
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    Some(std::fs::metadata(path).ok()?.ino())
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<Identity> {
    None
}
