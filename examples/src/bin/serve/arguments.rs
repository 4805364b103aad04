use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Parser, ValueEnum};

/// An agent server for the official LangGraph clients: Python and JavaScript SDK, useStream, agent-chat-ui, RemoteGraph.
///
/// If OPENAI_BASE_URL or OPENAI_API_KEY is set and the program was built with the feature `openai`, the graph `agent` uses the model
/// OPENAI_MODEL. Otherwise it uses a scripted model.
#[derive(Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// The address to listen on. Every program that reaches it can use the server, unless there is a key
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: String,

    /// The port to listen on; 0 chooses a free one
    #[arg(long, default_value_t = 2024)]
    pub(crate) port: u16,

    /// The SQLite file, or the URL of a PostgreSQL database, for threads, runs and assistants [default: a file in the state folder]
    #[arg(long, value_name = "FILE|postgres://..")]
    pub(crate) db: Option<PathBuf>,

    /// The key that requests must have in the header `x-api-key` [default: the variable SUPERSTEP_API_KEY, or no key]
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,

    /// A user with a key of its own, who sees only the threads of this user. May be given several times [default: the variable
    /// SUPERSTEP_USERS, with spaces between the users, or no users]
    #[arg(long, value_name = "NAME=KEY", conflicts_with = "api_key")]
    user: Vec<UserKey>,

    /// The requests that each caller may send per second, and how many may come at once [default: no limit]
    #[arg(long, value_name = "PER_SECOND[:BURST]")]
    pub(crate) rate_limit: Option<Pair>,

    /// The responses that may wait for a run or stream its events, of all callers and of each [default: no limit]
    #[arg(long, value_name = "TOTAL[:PER_CALLER]")]
    pub(crate) stream_limit: Option<Pair>,

    /// The maximum size of the body of a request [default: 16 MiB]
    #[arg(long, value_name = "BYTES")]
    pub(crate) body_limit: Option<usize>,

    /// Lets webhooks have addresses of this machine and of private networks
    #[cfg(feature = "webhooks")]
    #[arg(long)]
    pub(crate) private_webhooks: bool,

    /// The events of the log to print on stderr, from this level on [default: no log]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<LogLevel>,

    /// The form of the log
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,

    /// The folder of files for `agent` [default: a sample folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) files: Option<PathBuf>,

    /// The folder of documents for `ask` [default: the markdown files of this repository]
    #[arg(long, value_name = "FOLDER")]
    documents: Option<PathBuf>,
}

/// The levels of the log.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// The forms of the log.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people
    Text,
    /// JSON objects, one on each line
    Json,
}

impl Arguments {
    /// Returns the key. Other users can see the arguments of a process, but not its variables.
    pub(crate) fn key(&self) -> Option<String> {
        let variable = || std::env::var("SUPERSTEP_API_KEY").ok();
        self.api_key.clone().or_else(variable).filter(|key| !key.is_empty())
    }

    /// Returns the users.
    pub(crate) fn users(&self) -> Result<Vec<UserKey>, InvalidUser> {
        if self.user.is_empty() {
            let variable = std::env::var("SUPERSTEP_USERS").unwrap_or_default();
            return variable.split_whitespace().map(str::parse).collect();
        }
        Ok(self.user.clone())
    }

    pub(crate) fn documents(&self) -> PathBuf {
        let repository = || Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        self.documents.clone().unwrap_or_else(repository)
    }
}

/// The name of a user and its key.
#[derive(Clone)]
pub(crate) struct UserKey {
    pub(crate) name: String,
    pub(crate) key: String,
}

/// A string that does not name a user and its key. It is not shown, because it may contain a key.
#[derive(Debug)]
pub(crate) struct InvalidUser;

impl fmt::Display for InvalidUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a user is NAME=KEY, and both are not empty")
    }
}

impl std::error::Error for InvalidUser {}

impl FromStr for UserKey {
    type Err = InvalidUser;

    fn from_str(text: &str) -> Result<Self, InvalidUser> {
        match text.split_once('=') {
            Some((name, key)) if !name.is_empty() && !key.is_empty() => {
                Ok(Self { name: name.to_owned(), key: key.to_owned() })
            }
            _ => Err(InvalidUser),
        }
    }
}

/// Two positive numbers. The second is the same as the first if it is left out.
#[derive(Clone, Copy)]
pub(crate) struct Pair(pub(crate) u32, pub(crate) u32);

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        let (first, second) = text.split_once(':').unwrap_or((text, text));
        let pair = number(first).zip(number(second)).map(|(first, second)| Self(first, second));
        pair.ok_or_else(|| "expected one or two positive numbers, such as `10` or `10:50`".to_owned())
    }
}
