use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use examples::corpus::Kinds;

/// About this repository. No document speaks of "secrets": the third part takes a second search.
const DEFAULT_QUESTION: &str =
    "Which reducers are there, how are wiring mistakes reported, and how are secrets excluded from dumps?";

/// Answers a question from a folder of text and markdown files, with quotations and their file:line.
///
/// Each question has a thread, kept in a file after every step: a killed `ask` goes on with `--resume`. Where the documents
/// have nothing, you are asked for other words: at once on a terminal; without one, `ask` stops with exit code 3 and says how
/// it goes on.
///
/// With OPENAI_BASE_URL or OPENAI_API_KEY set, and the feature `openai` compiled in, a model (OPENAI_MODEL) writes the
/// answer from the quotations.
#[derive(Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// What to answer; several questions in one are answered one by one. Without it, `ask` asks one about this repository.
    question: Option<String>,

    /// Where the documents are; this repository's own markdown files if not given.
    folder: Option<PathBuf>,

    /// The question's thread. A new question gets a new one, and what looks at threads takes the one used last.
    #[arg(long, value_name = "NAME")]
    pub(crate) thread: Option<String>,

    /// Go on after a kill or a failure; or with an answer to what you were asked: other words, or "" if there are none.
    #[arg(long, value_name = "ANSWER", conflicts_with_all = ["question", "folder"])]
    pub(crate) resume: Option<Option<String>>,

    /// List the thread's checkpoints, newest first, and what changed at each.
    #[arg(long, conflicts_with_all = ["question", "folder", "resume", "json"])]
    pub(crate) history: bool,

    /// Run again from a checkpoint, as a new branch; with a question, ask it there instead. The last characters of an id will
    /// do.
    #[arg(long, value_name = "CHECKPOINT", conflicts_with_all = ["resume", "history"])]
    pub(crate) fork: Option<String>,

    /// The SQLite file that keeps the threads; `$XDG_STATE_HOME/ask/threads.db`, or the same in `~/.local/state`, if not
    /// given.
    #[arg(long, value_name = "FILE")]
    pub(crate) db: Option<PathBuf>,

    /// Print the dump of the run's final state instead of the answer.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print a picture of the graph and do nothing else.
    #[arg(long, value_name = "LANGUAGE", conflicts_with_all = ["json", "resume", "history", "fork"])]
    pub(crate) graph: Option<Picture>,
}

/// A language for pictures.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Picture {
    Mermaid,
    Dot,
}

impl Arguments {
    /// The question, if there is one on the command line.
    pub(crate) fn given_question(&self) -> Option<&str> {
        self.question.as_deref()
    }

    /// The question.
    pub(crate) fn question(&self) -> &str {
        self.given_question().unwrap_or(DEFAULT_QUESTION)
    }

    /// The folder to read, and what in it is a document.
    pub(crate) fn folder(&self) -> std::io::Result<(PathBuf, Kinds)> {
        if let Some(folder) = &self.folder {
            return Ok((folder.clone(), Kinds::Text));
        }
        // `cargo run` says where this package is; the workspace is the folder around it.
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let root = match package.as_deref().and_then(|package| package.parent()) {
            Some(root) => root.to_owned(),
            None => std::env::current_dir()?,
        };
        Ok((root, Kinds::Markdown))
    }
}
