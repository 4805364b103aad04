//! Answers a question from a folder of documents, with quotations and their `file:line`.
//!
//! ```text
//! cargo run -p examples --bin ask -- "what is a join, and when does it fail?" docs
//! ```
//!
//! Every question is a thread, in a SQLite file: a killed run goes on with `--resume`, a question to the person can be
//! answered days later, `--history` lists what happened, and `--fork` goes another way from there.
//!
//! Read `inquiry` (the state) first, then `nodes`, then `graph`; `session` runs the graph on a thread, `threads` finds the
//! thread, `person` asks and `history` shows. What the nodes call —reading, searching, quoting— is the `examples` library
//! and knows of no graphs.

mod inquiry;
mod nodes;

mod graph;
mod library;

mod session;
mod threads;

mod arguments;
mod history;
mod person;
mod progress;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Picture};
use session::Session;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(code) => code,
        Err(error) => {
            explain(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let graph = graph::graph()?;
    match arguments.graph {
        Some(Picture::Mermaid) => return print(&graph.to_mermaid()),
        Some(Picture::Dot) => return print(&graph.to_dot()),
        None => {}
    }

    let name = arguments.thread.as_deref();
    let threads = graph.with_checkpointer(threads::store(arguments.db.as_deref())?);
    // Who asks something else on a thread that waits has moved on, as in a chat.
    let threads = threads.abandon_pending();
    if arguments.history {
        let thread = threads::existing(&threads, name, false).await?;
        let history = thread.history().await?;
        if history.is_empty() {
            return Err(format!("there is no thread `{}`", thread.name()).into());
        }
        eprintln!("thread    {}", thread.name());
        return print(&history::table(&history)?);
    }
    if let Some(answer) = &arguments.resume {
        let thread = threads::existing(&threads, name, true).await?;
        return Session::resume(&arguments, thread, answer.as_deref()).await;
    }
    if let Some(checkpoint) = &arguments.fork {
        let thread = threads::existing(&threads, name, false).await?;
        return Session::fork(&arguments, thread, checkpoint).await;
    }
    let thread = threads.thread(name.map_or_else(threads::fresh_name, str::to_owned));
    Session::ask(&arguments, thread).await
}

/// Writes to stdout; a reader that has seen enough (`ask .. | head`) is no failure.
fn print(text: &str) -> Result<ExitCode, Box<dyn Error>> {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn explain(error: &dyn Error) {
    eprintln!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  because: {error}");
        cause = error.source();
    }
}
