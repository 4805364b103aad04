use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use examples::corpus::Kinds;

/// About this repository. No document contains the word "confidential", so the third part needs a second search.
const DEFAULT_QUESTION: &str = "Which reducers are there, how are wiring mistakes reported, and how are confidential fields excluded from dumps?";

/// Answers a question from a folder of text and markdown files, with quotations and their file:line.
///
/// Each question is a thread, which is stored in a file or database after every step. Use `--resume` to continue after a kill. If the documents
/// contain nothing about a part of the question, `ask` asks you for other words. Without a terminal it exits with code 3 and prints
/// the command to continue.
///
/// If OPENAI_BASE_URL or OPENAI_API_KEY is set and `ask` was built with the feature `openai`, the model OPENAI_MODEL writes
/// the answer from the quotations.
#[derive(Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// The question; it may consist of several parts [default: a question about this repository]
    question: Option<String>,

    /// The folder of documents [default: the markdown files of this repository]
    folder: Option<PathBuf>,

    /// The name of the thread [default: a new thread for a question, otherwise the thread used last]
    #[arg(long, value_name = "NAME")]
    pub(crate) thread: Option<String>,

    /// Continue after a kill or a failure, or with an answer: other words to search for, or "" if you know none
    #[arg(long, value_name = "ANSWER", conflicts_with_all = ["question", "folder"])]
    pub(crate) resume: Option<Option<String>>,

    /// List the checkpoints of the thread, newest first, with their changes
    #[arg(long, conflicts_with_all = ["question", "folder", "resume", "json"])]
    pub(crate) history: bool,

    /// Run again from a checkpoint on a new branch, or ask another question there; the end of the id is enough
    #[arg(long, value_name = "CHECKPOINT", conflicts_with_all = ["resume", "history"])]
    pub(crate) fork: Option<String>,

    /// The SQLite file or PostgreSQL database for the threads: a path, or a URL such as `postgres://user@host/database` [default:
    /// `ask/threads.db` in `$XDG_STATE_HOME` or `~/.local/state`]
    #[arg(long, value_name = "FILE|URL")]
    pub(crate) db: Option<PathBuf>,

    /// Print the final state as JSON instead of the answer
    #[arg(long)]
    pub(crate) json: bool,

    /// Print a diagram of the graph and exit
    #[arg(long, value_name = "LANGUAGE", conflicts_with_all = ["json", "resume", "history", "fork"])]
    pub(crate) graph: Option<Picture>,
}

/// A language for diagrams.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Picture {
    Mermaid,
    Dot,
}

impl Arguments {
    /// Returns the question on the command line, if there is one.
    pub(crate) fn given_question(&self) -> Option<&str> {
        self.question.as_deref()
    }

    /// Returns the question on the command line, or else the default.
    pub(crate) fn question(&self) -> &str {
        self.given_question().unwrap_or(DEFAULT_QUESTION)
    }

    /// Returns the folder to read and the kinds of its documents.
    pub(crate) fn folder(&self) -> std::io::Result<(PathBuf, Kinds)> {
        if let Some(folder) = &self.folder {
            return Ok((folder.clone(), Kinds::Text));
        }
        // `cargo run` sets this package's folder; the workspace is its parent folder.
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let root = match package.as_deref().and_then(|package| package.parent()) {
            Some(root) => root.to_owned(),
            None => std::env::current_dir()?,
        };
        Ok((root, Kinds::Markdown))
    }
}
