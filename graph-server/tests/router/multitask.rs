//! Runs on a busy thread.

use serde_json::{Value, json};

use crate::client::Client;

fn slow(name: &str, strategy: &str) -> Value {
    json!({ "assistant_id": "slow", "input": { "name": name }, "multitask_strategy": strategy })
}

/// A thread on which run `a` is at its gate.
async fn busy() -> (Client, String, String) {
    let client = Client::new().await;
    let thread = client.thread().await;
    let run = client.post(&format!("/threads/{thread}/runs"), slow("a", "enqueue")).await.ok();
    client.gate.begun(1).await;
    (client, thread, run["run_id"].as_str().unwrap().to_owned())
}

async fn log(client: &Client, thread: &str) -> Value {
    client.get(&format!("/threads/{thread}/state")).await.ok()["values"]["log"].clone()
}

#[tokio::test]
async fn reject_refuses_the_new_run() {
    let (client, thread, first) = busy().await;
    let detail = client.post(&format!("/threads/{thread}/runs"), slow("b", "reject")).await.refused(409);
    assert!(detail.contains("busy"), "{detail}");
    client.gate.open(1);
    assert_eq!(client.ended(&thread, &first).await["status"], "success");
    assert_eq!(client.get(&format!("/threads/{thread}/runs")).await.ok().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn enqueue_runs_one_after_the_other_in_order() {
    let (client, thread, first) = busy().await;
    let mut runs = vec![first];
    for name in ["b", "c", "d"] {
        let run = client.post(&format!("/threads/{thread}/runs"), slow(name, "enqueue")).await.ok();
        assert_eq!(run["status"], "pending");
        runs.push(run["run_id"].as_str().unwrap().to_owned());
    }
    let listed = client.get(&format!("/threads/{thread}/runs?status=pending&select=run_id")).await.ok();
    let newest_first: Vec<_> = runs.iter().skip(1).rev().map(|run| json!({ "run_id": run })).collect();
    assert_eq!(listed, json!(newest_first));
    client.gate.open(4);
    for run in &runs {
        assert_eq!(client.ended(&thread, run).await["status"], "success");
    }
    let expected: Vec<_> = ["a", "b", "c", "d"]
        .into_iter()
        .flat_map(|name| [format!("{name} begins"), format!("{name} done")])
        .collect();
    assert_eq!(log(&client, &thread).await, json!(expected));
    assert_eq!(client.get(&format!("/threads/{thread}")).await.ok()["status"], "idle");
}

#[tokio::test]
async fn interrupt_keeps_the_work_of_the_first_run() {
    let (client, thread, first) = busy().await;
    let waiting = client.post(&format!("/threads/{thread}/runs"), slow("w", "enqueue")).await.ok();
    let second = client.post(&format!("/threads/{thread}/runs"), slow("b", "interrupt")).await.ok();
    client.gate.open(1);
    let second = second["run_id"].as_str().unwrap();
    assert_eq!(client.ended(&thread, second).await["status"], "success");
    assert_eq!(client.ended(&thread, &first).await["status"], "interrupted");
    assert_eq!(client.ended(&thread, waiting["run_id"].as_str().unwrap()).await["status"], "interrupted");
    assert_eq!(log(&client, &thread).await, json!(["a begins", "b begins", "b done"]));
}

#[tokio::test]
async fn rollback_removes_the_first_run() {
    let (client, thread, first) = busy().await;
    let second = client.post(&format!("/threads/{thread}/runs"), slow("b", "rollback")).await.ok();
    client.gate.open(1);
    let second = second["run_id"].as_str().unwrap();
    assert_eq!(client.ended(&thread, second).await["status"], "success");
    client.get(&format!("/threads/{thread}/runs/{first}")).await.refused(404);
    assert_eq!(log(&client, &thread).await, json!(["b begins", "b done"]));
}

#[tokio::test]
async fn an_answer_that_has_to_wait_is_checked_when_its_turn_comes() {
    let (client, thread, first) = busy().await;
    let body =
        json!({ "assistant_id": "slow", "command": { "resume": { "0123456789abcdef0123456789abcdef": 1 } } });
    let late = client.post(&format!("/threads/{thread}/runs"), body).await.ok();
    client.gate.open(1);
    client.ended(&thread, &first).await;
    let late = late["run_id"].as_str().unwrap();
    assert_eq!(client.ended(&thread, late).await["status"], "error");
    let error = client.get(&format!("/threads/{thread}")).await.ok()["error"]["message"].clone();
    assert!(error.as_str().unwrap().contains("no such question is open"), "{error}");
}

#[tokio::test]
async fn states_are_not_updated_under_a_run() {
    let (client, thread, first) = busy().await;
    let update = json!({ "values": { "log": ["by hand"] } });
    client.post(&format!("/threads/{thread}/state"), update.clone()).await.refused(409);
    client.gate.open(1);
    client.ended(&thread, &first).await;
    client.post(&format!("/threads/{thread}/state"), update).await.ok();
    assert_eq!(log(&client, &thread).await, json!(["a begins", "a done", "by hand"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_runs_are_all_executed_once() {
    let client = Client::new().await;
    client.gate.open(1_000);
    let thread = client.thread().await;
    let runs = (0..50).map(|n| {
        let (client, path) = (client.clone(), format!("/threads/{thread}/runs/wait"));
        tokio::spawn(async move { client.post(&path, slow(&n.to_string(), "enqueue")).await.ok() })
    });
    for run in runs.collect::<Vec<_>>() {
        run.await.unwrap();
    }
    let log = log(&client, &thread).await;
    let mut names: Vec<_> = log.as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert_eq!(names.len(), 100);
    for pair in names.chunks(2) {
        assert_eq!(pair[0].split(' ').next(), pair[1].split(' ').next(), "{names:?}");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 100);
}
