//! Crons of servers that are killed.

use std::time::Duration;

use serde_json::{Value, json};

use crate::child::Running;
use crate::http::{ended, id, ok};

async fn runs(port: u16, thread: &str) -> Vec<Value> {
    let runs = ok(port, "GET", &format!("/threads/{thread}/runs?limit=1000"), None).await;
    runs.as_array().expect("runs").clone()
}

/// The server is killed at many moments around the times of a cron.
#[tokio::test]
async fn each_due_time_of_a_cron_starts_at_most_one_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Running::start(folder.path());
    let thread = id(&ok(server.port, "POST", "/threads", Some(&json!({}))).await, "thread_id");
    let cron = json!({ "assistant_id": "job", "schedule": "* * * * * *", "input": { "name": "n" }, "durability": "sync" });
    let path = format!("/threads/{thread}/runs/crons");
    let cron = id(&ok(server.port, "POST", &path, Some(&cron)).await, "cron_id");
    let mut round = 0_u64;
    // On a busy machine, a server may be killed before it starts a run: then it takes more rounds.
    while round < 6 || (runs(server.port, &thread).await.len() < 3 && round < 40) {
        tokio::time::sleep(Duration::from_millis(300 + 137 * (round % 7))).await;
        server.kill();
        server = Running::start(folder.path());
        round += 1;
    }
    let disabled = json!({ "enabled": false });
    ok(server.port, "PATCH", &format!("/runs/crons/{cron}"), Some(&disabled)).await;
    let found = runs(server.port, &thread).await;
    assert!(found.len() >= 3, "{}", found.len());
    for run in &found {
        assert_eq!(ended(server.port, &thread, &id(run, "run_id")).await, "success");
    }
    // A run starts at its time or later, and the next one at a later time: never two in one second.
    let mut seconds: Vec<_> = found.iter().map(|run| id(run, "created_at")[..19].to_owned()).collect();
    seconds.sort_unstable();
    seconds.dedup();
    assert_eq!(seconds.len(), found.len(), "{found:?}");
    // Each run has done its work once.
    let state = ok(server.port, "GET", &format!("/threads/{thread}/state"), None).await;
    let log = state["values"]["log"].as_array().expect("a log");
    for line in ["n begins", "n done"] {
        assert_eq!(log.iter().filter(|found| *found == line).count(), found.len());
    }
}
