//! agent-chat-ui in a headless Chromium against this server.
//!
//! - `SUPERSTEP_CHAT_UI`: a folder with the built user interface in `dist`, and `playwright-core` in `node_modules`.
//! - `SUPERSTEP_CHROMIUM`: the program. Without the variable, `chromium` of the `PATH`.
//! - `SUPERSTEP_SCREENSHOTS`: a folder for pictures of each step, if they are wanted.
//!
//! `.ci/with-browser` builds the interface and sets the variables. Without them, the test is skipped, and says so.
#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod graphs;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::process::Command;

async fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let started = graphs::server().start().await.unwrap();
    tokio::spawn(async move { axum::serve(listener, started.router()).await });
    address
}

fn skipped(reason: &str) {
    // Not a macro: the test harness would capture it.
    let _ = writeln!(std::io::stderr(), "SKIPPED: the tests in a browser: {reason}, see .ci/with-browser");
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Finds a program of the `PATH`.
fn program(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_in_a_browser() {
    let Some(interface) = variable("SUPERSTEP_CHAT_UI") else {
        return skipped("SUPERSTEP_CHAT_UI is not set");
    };
    let Some(chromium) = variable("SUPERSTEP_CHROMIUM").map(PathBuf::from).or_else(|| program("chromium"))
    else {
        return skipped("there is no chromium");
    };
    let Some(node) = program("node") else { return skipped("there is no node") };
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/suite.mjs");
    let mut command = Command::new(node);
    command.arg(suite).arg(format!("http://{}", serve().await)).arg(interface).arg(chromium);
    let running = command.kill_on_drop(true).stdin(Stdio::null()).output();
    let output =
        tokio::time::timeout(Duration::from_secs(110), running).await.expect("the suite ends").unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    println!("{text}");
}
