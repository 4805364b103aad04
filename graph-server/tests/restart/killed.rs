//! Servers that are killed in the middle of runs.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

use crate::child::{Running, effects, open_gate};
use crate::http::{call, ended, id, ok, parse, send};

fn job(name: &str) -> Value {
    json!({ "assistant_id": "job", "input": { "name": name } })
}

/// A run whose finished nodes never run again: each superstep is stored before the next begins.
fn synchronous(name: &str) -> Value {
    json!({ "assistant_id": "job", "input": { "name": name }, "durability": "sync" })
}

async fn log(port: u16, thread: &str) -> Value {
    ok(port, "GET", &format!("/threads/{thread}/state"), None).await["values"]["log"].clone()
}

pub(crate) async fn happens(folder: &Path, effect: &str) {
    while !effects(folder).iter().any(|line| line == effect) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn unfinished_runs_continue_after_a_restart_in_their_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Running::start(folder.path());
    let thread = id(&ok(first.port, "POST", "/threads", Some(&json!({}))).await, "thread_id");
    let path = format!("/threads/{thread}/runs");
    let mut runs = Vec::new();
    for name in ["wait-a", "b", "c"] {
        runs.push(id(&ok(first.port, "POST", &path, Some(&synchronous(name))).await, "run_id"));
    }
    happens(folder.path(), "work wait-a").await;
    let cancelled = format!("{path}/{}/cancel?action=interrupt", runs[1]);
    assert_eq!(call(first.port, "POST", &cancelled, None).await.expect("a response").0, 202);
    first.kill();

    open_gate(folder.path());
    let second = Running::start(folder.path());
    let mut statuses = Vec::new();
    for run in &runs {
        statuses.push(ended(second.port, &thread, run).await);
    }
    // The second run was cancelled while it waited.
    assert_eq!(statuses, ["success", "interrupted", "success"]);
    assert_eq!(
        log(second.port, &thread).await,
        json!(["wait-a begins", "wait-a done", "c begins", "c done"])
    );
    // A finished node does not run again; the one that was cut off does.
    assert_eq!(effects(folder.path()), ["begin wait-a", "work wait-a", "work wait-a", "begin c", "work c"]);
    assert_eq!(ok(second.port, "GET", &format!("/threads/{thread}"), None).await["status"], "idle");
}

#[tokio::test]
async fn an_accepted_answer_counts_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Running::start(folder.path());
    let thread = id(&ok(first.port, "POST", "/threads", Some(&json!({}))).await, "thread_id");
    let path = format!("/threads/{thread}/runs");
    let asked = ok(first.port, "POST", &format!("{path}/wait"), Some(&job("ask"))).await;
    assert!(asked["__interrupt__"].is_array(), "{asked}");
    let resume = json!({ "assistant_id": "job", "command": { "resume": "yes" } });
    let run = id(&ok(first.port, "POST", &path, Some(&resume)).await, "run_id");
    happens(folder.path(), "answered yes").await;
    first.kill();

    open_gate(folder.path());
    let second = Running::start(folder.path());
    assert_eq!(ended(second.port, &thread, &run).await, "success");
    assert_eq!(log(second.port, &thread).await, json!(["ask begins", "ask answered yes"]));
}

#[tokio::test]
async fn a_client_rejoins_the_run_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Running::start(folder.path());
    let thread = id(&ok(first.port, "POST", "/threads", Some(&json!({}))).await, "thread_id");
    let path = format!("/threads/{thread}/runs");
    let mut body = synchronous("wait-a");
    body["stream_mode"] = json!(["updates"]);
    body["stream_resumable"] = json!(true);
    let run = id(&ok(first.port, "POST", &path, Some(&body)).await, "run_id");
    happens(folder.path(), "work wait-a").await;
    let mut connection =
        send(first.port, "GET", &format!("{path}/{run}/stream"), None, "last-event-id: -1\r\n")
            .await
            .expect("a stream");
    let mut text = String::new();
    while !text.split_once("id: 1.2").is_some_and(|(_, rest)| rest.contains('\n')) {
        let mut part = [0; 1_024];
        let count = connection.read(&mut part).await.expect("events");
        text.push_str(std::str::from_utf8(&part[..count]).expect("text"));
    }
    first.kill();

    let second = Running::start(folder.path());
    let last = text.lines().find_map(|line| line.strip_prefix("id: 1.2")).expect("an id");
    let headers = format!("last-event-id: 1.2{last}\r\n");
    let mut connection =
        send(second.port, "GET", &format!("{path}/{run}/stream"), None, &headers).await.expect("a stream");
    open_gate(folder.path());
    let mut rest = String::new();
    connection.read_to_string(&mut rest).await.expect("the rest");
    let (_, rest) = parse(&rest).expect("a response");
    let shown = format!("{text}{rest}");
    // Each update once, over both processes.
    assert_eq!(shown.matches("wait-a begins").count(), 1, "{shown}");
    assert_eq!(shown.matches("wait-a done").count(), 1, "{shown}");
    assert!(rest.contains("\"attempt\":2"), "{rest}");
}

/// The server is killed at many moments while runs arrive. Every run that was acknowledged is executed once.
#[tokio::test]
async fn acknowledged_runs_are_executed_exactly_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Running::start(folder.path());
    let thread = id(&ok(server.port, "POST", "/threads", Some(&json!({}))).await, "thread_id");
    let path = format!("/threads/{thread}/runs");
    let (mut acknowledged, mut next) = (Vec::new(), 0);
    let mut round = 0_u64;
    // On a busy machine, a server may be killed before it answers: then it takes more rounds.
    while round < 8 || (acknowledged.len() <= 8 && round < 40) {
        let port = server.port;
        let killer = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(4 + 7 * round)).await;
            server.kill();
        });
        loop {
            next += 1;
            let name = format!("n{next}");
            match call(port, "POST", &path, Some(&job(&name))).await {
                Ok((200, text)) => {
                    let run: Value = serde_json::from_str(&text).expect("a run");
                    acknowledged.push((name, id(&run, "run_id")));
                }
                Ok((status, text)) => panic!("{status}: {text}"),
                Err(_) => break,
            }
        }
        killer.await.expect("the server is killed");
        server = Running::start(folder.path());
        round += 1;
    }
    for (_, run) in &acknowledged {
        assert_eq!(ended(server.port, &thread, run).await, "success");
    }
    let log = log(server.port, &thread).await;
    let log: Vec<_> =
        log.as_array().expect("a log").iter().map(|line| line.as_str().expect("a line")).collect();
    for (name, _) in &acknowledged {
        for line in [format!("{name} begins"), format!("{name} done")] {
            assert_eq!(log.iter().filter(|found| **found == line).count(), 1, "{line}");
        }
    }
    let mut distinct = log.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), log.len(), "a run was executed twice");
    assert!(acknowledged.len() > 8, "{}", acknowledged.len());
}

#[tokio::test]
async fn a_delayed_run_survives_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Running::start(folder.path());
    let thread = id(&ok(first.port, "POST", "/threads", Some(&json!({}))).await, "thread_id");
    let path = format!("/threads/{thread}/runs");
    let mut runs = Vec::new();
    for (name, seconds) in [("later", 3_600.0), ("soon", 1.5)] {
        let mut body = job(name);
        body["after_seconds"] = json!(seconds);
        runs.push(id(&ok(first.port, "POST", &path, Some(&body)).await, "run_id"));
    }
    assert_eq!(effects(folder.path()), [""; 0]);
    first.kill();

    let second = Running::start(folder.path());
    let shown = ok(second.port, "GET", &format!("{path}/{}", runs[0]), None).await;
    assert_eq!(shown["status"], "pending");
    assert_eq!(ended(second.port, &thread, &runs[1]).await, "success");
    assert_eq!(effects(folder.path()), ["begin soon", "work soon"]);
    let cancel = format!("{path}/{}/cancel?wait=1", runs[0]);
    assert_eq!(call(second.port, "POST", &cancel, None).await.expect("a response").0, 200);
    assert_eq!(ended(second.port, &thread, &runs[0]).await, "interrupted");
}
