use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use examples::corpus::Kinds;

/// About this repository. No document speaks of "secrets": the third part takes a second search.
const DEFAULT_QUESTION: &str =
    "Which reducers are there, how are wiring mistakes reported, and how are secrets excluded from dumps?";

/// Answers a question from a folder of text and markdown files, with quotations and their file:line.
///
/// With OPENAI_BASE_URL or OPENAI_API_KEY set, and the feature `openai` compiled in, a model (OPENAI_MODEL) writes the
/// answer from the quotations.
#[derive(Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// What to answer; several questions in one are answered one by one.
    #[arg(default_value = DEFAULT_QUESTION)]
    pub(crate) question: String,

    /// Where the documents are; this repository's own markdown files if not given.
    folder: Option<PathBuf>,

    /// Print the dump of the run's final state instead of the answer.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print a picture of the graph and do nothing else.
    #[arg(long, value_name = "LANGUAGE", conflicts_with = "json")]
    pub(crate) graph: Option<Picture>,
}

/// A language for pictures.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Picture {
    Mermaid,
    Dot,
}

impl Arguments {
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
