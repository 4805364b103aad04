use std::path::PathBuf;

use crate::corpus::Skipped;

/// An error of `ask` outside its graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder does not exist.
    #[error("there is no folder or file `{}`", .folder.display())]
    NoSuchFolder {
        /// The path on the command line.
        folder: PathBuf,
        /// The cause.
        source: std::io::Error,
    },

    /// The folder contains no readable document.
    #[error("no text to read in `{}`{}", .folder.display(), Skipped::summary(.skipped))]
    NoText {
        /// The path on the command line.
        folder: PathBuf,
        /// The files that could not be read.
        skipped: Vec<Skipped>,
    },

    /// The full-text index failed.
    #[error("the search in the documents failed")]
    Index(#[source] Box<dyn std::error::Error + Send + Sync>),

    /// The question contains only stop words, such as "is" and "the".
    #[error("no word to search for in `{question}`")]
    NoWords {
        /// The question.
        question: String,
    },

    /// The configuration of the chat endpoint is invalid.
    #[error("{0}")]
    ChatSetup(&'static str),

    /// The chat endpoint failed.
    #[error("the request to model `{model}` at `{endpoint}` failed")]
    Chat {
        /// The name of the model.
        model: String,
        /// The base URL.
        endpoint: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
