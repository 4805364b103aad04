//! The server, as a process that a test can kill.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{ContextWith, END, Graph, GraphState, Result, START, StateGraph, bail};
use superstep_server::Server;
use superstep_sqlite::{SqliteCheckpointer, SqliteStore};

/// The folder of the files that outlive a process.
const FOLDER: &str = "SUPERSTEP_SERVER_TEST_FOLDER";

#[derive(GraphState, Clone)]
struct Job {
    #[state(input)]
    name: String,
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = String;
}

/// Writes a line about an effect.
fn effect(folder: &Path, line: &str) {
    let file = OpenOptions::new().create(true).append(true).open(folder.join("effects"));
    let _ = file.and_then(|mut file| writeln!(file, "{line}"));
}

async fn begin(job: &Job, cx: &ContextWith<PathBuf>) -> JobUpdate {
    effect(cx.context(), &format!("begin {}", job.name));
    Job::update().log([format!("{} begins", job.name)])
}

/// Waits for the file `gate`, asks a question or fails if the name says so.
async fn work(job: &Job, cx: &ContextWith<PathBuf>) -> Result<JobUpdate> {
    effect(cx.context(), &format!("work {}", job.name));
    while job.name.starts_with("wait") && !cx.context().join("gate").exists() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    if job.name.starts_with("ask") {
        let answer = cx.interrupt(Approve).await;
        effect(cx.context(), &format!("answered {answer}"));
        while !cx.context().join("gate").exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        return Ok(Job::update().log([format!("{} answered {answer}", job.name)]));
    }
    if job.name == "fail" {
        bail!("boom");
    }
    Ok(Job::update().log([format!("{} done", job.name)]))
}

fn graph() -> Graph<Job, PathBuf> {
    StateGraph::<Job>::with_context::<PathBuf>()
        .edge(START, begin)
        .edge(begin, work)
        .edge(work, END)
        .compile()
        .expect("the graph")
}

/// Not a test of its own: the process that the tests start and kill.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let folder = PathBuf::from(folder);
    let file = folder.join("threads.db");
    let context = folder.clone();
    let server = Server::new()
        .graph_with_context("job", graph(), move |_| Ok(context.clone()))
        .checkpointer(SqliteCheckpointer::open(&file).expect("the threads"))
        .store(SqliteStore::open(&file).expect("the records"));
    #[cfg(feature = "webhooks")]
    let server = server.private_webhooks();
    let server = server.start().await.expect("the server");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("listening on {}", listener.local_addr().expect("an address").port());
    axum::serve(listener, server.router()).await.expect("the server serves");
}

/// A running server.
pub(crate) struct Running {
    process: Child,
    pub(crate) port: u16,
}

impl Running {
    pub(crate) fn start(folder: &Path) -> Self {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "child::child", "--nocapture"])
            .env(FOLDER, folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_once("listening on ")?.1.trim().parse().ok())
            .expect("the server listens");
        Self { process, port }
    }

    /// Kills the process at once, as a power failure does.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the effects that happened, in order.
pub(crate) fn effects(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("effects")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

pub(crate) fn open_gate(folder: &Path) {
    std::fs::write(folder.join("gate"), "").expect("the gate");
}
