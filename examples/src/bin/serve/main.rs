//! Starts an agent server with three graphs, for the official LangGraph clients and user interfaces.
//! Run with `cargo run -p examples --bin serve`, then open a chat on `http://127.0.0.1:2024`: see `docs/how-to/agent-server.md`.
//!
//! | graph | does |
//! |---|---|
//! | `agent` | chats, calls tools, and asks before it deletes a file: the agent of `agent` |
//! | `ask` | answers a question from a folder of documents: the graph of `ask` |
//! | `report` | writes a report with a subgraph, which asks a person |
//!
//! Threads, runs and assistants are kept in a SQLite file in the user's state folder, or in a PostgreSQL database.

mod arguments;
mod files;
mod log;
mod report;
mod stores;
mod users;

// The graphs of the other programs.
#[path = "../ask/graph.rs"]
mod graph;
#[path = "../ask/inquiry.rs"]
mod inquiry;
#[path = "../ask/library.rs"]
mod library;
#[path = "../agent/model.rs"]
mod model;
#[path = "../ask/nodes.rs"]
mod nodes;
#[path = "../agent/tools.rs"]
mod tools;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use examples::corpus::Kinds;
use superstep::messages::MessagesState;
use superstep_agent::agent::Agent;
use superstep_agent::tool::Tools;
use superstep_server::Server;
use tokio::net::TcpListener;

use arguments::{Arguments, Pair};
use library::Library;
use tools::Folder;

const SYSTEM: &str =
    "You help with calculations and with the files in a folder. Use the tools to find facts you do not know.";

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                eprintln!("  caused by: {error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(level) = arguments.log {
        log::print(level, arguments.log_format);
    }
    let files = arguments.files.clone().map_or_else(files::sample, Ok)?;
    let folder = Arc::new(Folder(files));
    let tools = Tools::<MessagesState, Folder>::new()
        .with(tools::calculate)
        .with(tools::clock)
        .with(tools::search_files)
        .with(tools::delete_file);
    let agent =
        Agent::with_context(model::from_environment()?).system(SYSTEM).tools(tools).graph()?.compile()?;
    let library = Arc::new(Library::open(&arguments.documents(), Kinds::Markdown)?);

    let mut server = Server::new()
        .graph_with_context("agent", agent, move |_| Ok(Arc::clone(&folder)))
        .graph_with_context("ask", graph::graph()?, move |_| Ok(Arc::clone(&library)))
        .graph("report", report::graph()?);
    let users = arguments.users()?;
    if !users.is_empty() {
        server = users::add(server, users);
    } else if let Some(key) = arguments.key() {
        server = server.api_key(key);
    }
    server = limited(server, &arguments);
    let (server, place) = stores::open(server, arguments.db.as_deref()).await?;
    let started = server.start().await?;
    let address = (arguments.host.as_str(), arguments.port);
    let listener = TcpListener::bind(address).await.map_err(|error| {
        format!("cannot listen on {}:{} (choose another port with `--port`): {error}", address.0, address.1)
    })?;
    eprintln!("threads   {place}");
    eprintln!("graphs    agent, ask, report");
    // On stdout: a program that starts the server can read the port.
    println!("serving   http://{}", listener.local_addr()?);
    Ok(started.serve(listener, stop_request()).await?)
}

/// Sets the limits of the arguments, and what webhooks may do.
fn limited(mut server: Server, arguments: &Arguments) -> Server {
    if let Some(Pair(per_second, burst)) = arguments.rate_limit {
        server = server.rate_limit(per_second, burst);
    }
    if let Some(Pair(total, per_caller)) = arguments.stream_limit {
        let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        server = server.stream_limit(count(total), count(per_caller));
    }
    if let Some(bytes) = arguments.body_limit {
        server = server.body_limit(bytes);
    }
    #[cfg(feature = "webhooks")]
    if arguments.private_webhooks {
        server = server.private_webhooks();
    }
    server
}

/// Waits for ctrl-c or, on Unix, for the signal by which service managers stop a process.
async fn stop_request() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    // Without signals, the server runs until it is killed.
    if interrupted.await.is_err() {
        std::future::pending::<()>().await;
    }
}
