//! The official clients against this server. Each suite is a program in their language, which this test starts with the address of
//! a server on the loopback interface. The suites know the protocol, not this server.
//!
//! - `SUPERSTEP_PYTHON`: a Python that has `langgraph-sdk`, `langgraph`, `a2a-sdk`, `mcp` and `openapi-spec-validator`.
//! - `SUPERSTEP_PYTHON_A2A_0_3`: a Python that has the last `a2a-sdk` of version 0.3.
//! - `SUPERSTEP_NODE_MODULES`: folders that have `@langchain/langgraph-sdk`, with `:` between them; each is tested.
//! - `SUPERSTEP_REACT_MODULES`: a folder that has `@langchain/react`, React, and a DOM.
//!
//! `.ci/with-clients` installs the clients and sets them. Without one, its suites are skipped, and say so.
#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod graphs;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use tokio::net::TcpListener;
use tokio::process::Command;

/// Starts a server, and returns its address.
async fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let started = graphs::server().start().await.unwrap();
    tokio::spawn(async move { axum::serve(listener, started.router()).await });
    address
}

/// Returns a variable. Without it, says that the tests of a language are skipped.
fn variable(name: &str, what: &str) -> Option<String> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    if value.is_none() {
        // Not a macro: the test harness would capture it.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {what}: {name} is not set, see .ci/with-clients");
    }
    value
}

/// Runs a suite to its end.
async fn run(program: &str, suite: &str, options: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let mut command = Command::new(program);
    command.arg(folder.join(suite)).arg(format!("http://{}", serve().await)).args(options).kill_on_drop(true);
    // Clients must not look for other servers or keys.
    command
        .env_remove("LANGSMITH_API_KEY")
        .env("LANGSMITH_TRACING", "false")
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.stdin(Stdio::null()).output().await.unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{suite} {options:?}\n{text}");
    println!("{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn python_client() {
    let Some(python) = variable("SUPERSTEP_PYTHON", "the tests with the Python client") else { return };
    run(&python, "python/main.py", &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a2a_0_3_client() {
    let Some(python) = variable("SUPERSTEP_PYTHON_A2A_0_3", "the tests with the client of A2A 0.3") else {
        return;
    };
    run(&python, "python/main.py", &["agents_0_3"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn react_hook() {
    let Some(folder) = variable("SUPERSTEP_REACT_MODULES", "the tests with the React hook") else { return };
    run("node", "js/react.mjs", &[&folder]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript_clients() {
    let Some(folders) = variable("SUPERSTEP_NODE_MODULES", "the tests with the JavaScript client") else {
        return;
    };
    for folder in folders.split(':') {
        run("node", "js/main.mjs", &[folder]).await;
    }
}
