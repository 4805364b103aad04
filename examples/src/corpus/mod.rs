//! A folder of documents, cut into passages that know where they stand.

mod passage;
mod skipped;
mod walk;

use std::path::Path;

pub use passage::{Line, Passage};
pub use skipped::{Reason, Skipped};
pub use walk::Kinds;

use crate::Error;

/// What was read from a folder.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// Every passage, in the order of files and lines.
    pub passages: Vec<Passage>,
    /// How many files they are from.
    pub files: usize,
    /// What was there, but is not among the passages, and why.
    pub skipped: Vec<Skipped>,
}

impl Corpus {
    /// Reads all documents under `folder` (or the one file that it names).
    ///
    /// A file that cannot be read is no failure: it is listed in [`Corpus::skipped`].
    ///
    /// # Errors
    /// [`Error::NoSuchFolder`], or [`Error::NoText`] when nothing under it could be read.
    pub fn read(folder: &Path, kinds: Kinds) -> Result<Self, Error> {
        let walk::Found { texts, skipped } = walk::walk(folder, kinds)?;
        let files = texts.len();
        let passages: Vec<_> =
            texts.into_iter().flat_map(|(file, text)| passage::passages(&file, &text)).collect();
        if passages.is_empty() {
            return Err(Error::NoText { folder: folder.to_owned(), skipped });
        }
        Ok(Self { passages, files, skipped })
    }
}

#[cfg(test)]
mod tests;
