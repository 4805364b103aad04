//! A folder of documents, split into passages with file and line.

mod passage;
mod skipped;
mod walk;

use std::path::Path;

pub use passage::{Line, Passage};
pub use skipped::{Reason, Skipped};
pub use walk::Kinds;

use crate::Error;

/// The documents of a folder.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// All passages, in the order of files and lines.
    pub passages: Vec<Passage>,
    /// The number of files with passages.
    pub files: usize,
    /// The files that were skipped, with the reasons.
    pub skipped: Vec<Skipped>,
}

impl Corpus {
    /// Reads all documents in `folder`, which may also be a single file.
    ///
    /// Files that cannot be read are listed in [`Corpus::skipped`].
    ///
    /// # Errors
    /// [`Error::NoSuchFolder`]; [`Error::NoText`], if the folder contains no readable document.
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
