use std::path::PathBuf;

use clap::Parser;

const MESSAGE: &str =
    "What is 17 times 23, which files are about checkpoints, and what time is it? Then delete old.txt.";

/// An agent with a calculator, a clock and a folder of files. It asks before it deletes a file.
///
/// If OPENAI_BASE_URL or OPENAI_API_KEY is set and the program was built with the feature `openai`, the agent uses the model
/// OPENAI_MODEL. Otherwise it uses a scripted model.
#[derive(Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// The message to the agent
    message: Option<String>,

    /// The name of the conversation
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub(crate) thread: String,

    /// Allow the action that the agent asked about
    #[arg(long, conflicts_with_all = ["message", "no"])]
    yes: bool,

    /// Deny the action that the agent asked about
    #[arg(long, conflicts_with = "message")]
    no: bool,

    /// The folder of files [default: a sample folder]
    #[arg(long)]
    pub(crate) folder: Option<PathBuf>,

    /// The SQLite file for the conversations [default: a file next to the sample folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) db: Option<PathBuf>,
}

impl Arguments {
    /// Returns the answer on the command line, if there is one.
    pub(crate) fn answer(&self) -> Option<bool> {
        (self.yes || self.no).then_some(self.yes)
    }

    pub(crate) fn message(&self) -> String {
        self.message.clone().unwrap_or_else(|| MESSAGE.to_owned())
    }
}
