//! Shows a complete program: `ask` answers a question from a folder of documents, with quotations and their `file:line`.
//! Run with `cargo run -p examples --bin ask -- "how does a join work, and when does it fail?" docs`.
//!
//! Each question is a thread in a SQLite file, or in a PostgreSQL database. `--resume` continues a killed run or answers a question of the program, even days
//! later. `--history` lists the checkpoints, and `--fork` starts a new branch from one.
//!
//! Read `inquiry` (the state) first, then `nodes`, then `graph`. `session` runs the graph on a thread, `threads` finds the thread,
//! `person` asks the user, and `history` prints the checkpoints. The `examples` library reads, searches and quotes the documents; it
//! does not use graphs.

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
            print_error(&*error);
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
    let threads = graph.with_checkpointer(threads::store(arguments.db.as_deref()).await?);
    // As in a chat, a new question on a waiting thread abandons the old one.
    let threads = threads.abandon_pending();
    if arguments.history {
        let thread = threads::existing(&threads, name, false).await?;
        let history = thread.history().await?;
        if history.is_empty() {
            return Err(format!(
                "there is no thread `{}`: ask a question with this name first",
                thread.name()
            )
            .into());
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
    let thread = threads.thread(name.map_or_else(threads::new_name, str::to_owned));
    Session::ask(&arguments, thread).await
}

/// Writes to stdout. A closed pipe, as with `ask .. | head`, is not an error.
fn print(text: &str) -> Result<ExitCode, Box<dyn Error>> {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn print_error(error: &dyn Error) {
    eprintln!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  caused by: {error}");
        cause = error.source();
    }
}
