//! Answers a question from a folder of documents, with quotations and their `file:line`.
//!
//! ```text
//! cargo run -p examples --bin ask -- "what is a join, and when does it fail?" docs
//! ```
//!
//! Read `inquiry` (the state) first, then `nodes`, then `graph`; this file reads the arguments, runs the graph and
//! prints what happens. What the nodes call —reading, searching, quoting— is the `examples` library and knows of no
//! graphs.

mod inquiry;
mod nodes;

mod graph;
mod library;

mod arguments;
mod progress;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use graph_core::{EventKind, GraphState as _, StreamMode};

use arguments::{Arguments, Picture};
use inquiry::Inquiry;
use library::Library;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            explain(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let graph = graph::graph()?;
    match arguments.graph {
        Some(Picture::Mermaid) => return print(&graph.to_mermaid()),
        Some(Picture::Dot) => return print(&graph.to_dot()),
        None => {}
    }

    let (folder, kinds) = arguments.folder()?;
    let library = Library::open(&folder, kinds)?;
    let mut events = graph
        .run(Inquiry::input(arguments.question.as_str()))
        .context(library)
        .events([StreamMode::Updates, StreamMode::Custom])
        .stream();

    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                progress::report(&event);
                if let EventKind::Done(outcome) = event.kind {
                    return finish(outcome.state(), &arguments, &folder);
                }
            }
            Err(error) => {
                // A failed run, too, has a state: as of its last good superstep.
                if let (true, Some(inquiry)) = (arguments.json, error.state::<Inquiry>()) {
                    print(&dump(inquiry)?)?;
                }
                return Err(error.into());
            }
        }
    }
    Err("the run ended without a word".into())
}

fn finish(inquiry: &Inquiry, arguments: &Arguments, folder: &Path) -> Result<(), Box<dyn Error>> {
    if arguments.json {
        print(&dump(inquiry)?)?;
    }
    match &inquiry.answer {
        Some(_) if arguments.json => Ok(()),
        Some(answer) => print(&answer.text),
        None => Err(format!("nothing in `{}` answers `{}`", folder.display(), inquiry.question).into()),
    }
}

fn dump(inquiry: &Inquiry) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&inquiry.dump()).map(|json| json + "\n")
}

/// Writes to stdout; a reader that has seen enough (`ask .. | head`) is no failure.
fn print(text: &str) -> Result<(), Box<dyn Error>> {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
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
