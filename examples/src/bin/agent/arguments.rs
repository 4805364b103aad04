use std::path::PathBuf;

use clap::Parser;

const MESSAGE: &str =
    "What is 17 times 23, which files are about checkpoints, and what time is it? Then delete old.txt.";

/// An agent with a calculator, a clock and a folder of files, which asks before it deletes one.
///
/// With OPENAI_BASE_URL or OPENAI_API_KEY set, and the feature `openai` compiled in, a model (OPENAI_MODEL) is asked; otherwise
/// one that follows a script stands in for it.
#[derive(Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// What to say to it.
    message: Option<String>,

    /// The conversation.
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub(crate) thread: String,

    /// Let it do what it has asked about.
    #[arg(long, conflicts_with_all = ["message", "no"])]
    yes: bool,

    /// Do not let it.
    #[arg(long, conflicts_with = "message")]
    no: bool,

    /// Where the files are; a sample if not given.
    #[arg(long)]
    pub(crate) folder: Option<PathBuf>,

    /// The SQLite file that keeps the conversations; one beside the sample if not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) db: Option<PathBuf>,
}

impl Arguments {
    /// The answer to what was asked, if one is given.
    pub(crate) fn answer(&self) -> Option<bool> {
        (self.yes || self.no).then_some(self.yes)
    }

    pub(crate) fn message(&self) -> String {
        self.message.clone().unwrap_or_else(|| MESSAGE.to_owned())
    }
}
