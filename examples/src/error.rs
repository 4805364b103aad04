use std::path::PathBuf;

use crate::corpus::Skipped;

/// What can go wrong before, or while, a question is answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder is not there.
    #[error("no folder or file `{}`", .folder.display())]
    NoSuchFolder {
        /// As it was given.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// The folder holds nothing that could be read.
    #[error("no text to read in `{}`{}", .folder.display(), Skipped::summary(.skipped))]
    NoText {
        /// As it was given.
        folder: PathBuf,
        /// What was there, but could not be read.
        skipped: Vec<Skipped>,
    },

    /// The full-text index failed.
    #[error("searching the documents failed")]
    Index(#[source] Box<dyn std::error::Error + Send + Sync>),

    /// The question consists of words like "what" and "is" alone.
    #[error("no word to search for in `{question}`")]
    NoWords {
        /// As it was asked.
        question: String,
    },

    /// A chat endpoint is configured in a way that cannot work.
    #[error("{0}")]
    ChatSetup(&'static str),

    /// The chat endpoint failed.
    #[error("asking `{model}` at `{endpoint}` failed")]
    Chat {
        /// The model's name.
        model: String,
        /// The base URL.
        endpoint: String,
        /// What the client said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
