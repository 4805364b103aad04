//! Lists of the tasks of an agent.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::Method;
use serde_json::{Value, json};
use superstep::store::{LongTermStore, MemoryStore};

use crate::a2a::{error, new, result};
use crate::client::{Client, server};
use crate::graphs::Gate;
use crate::growth::Counted;

async fn ask(client: &Client) -> String {
    let task = result(client, "order", "SendMessage", new(json!([{ "data": { "item": "tea" } }]))).await;
    task["task"]["id"].as_str().unwrap().to_owned()
}

async fn answer(client: &Client, task: &str) {
    let mut answer = new(json!([{ "data": true }]));
    answer["message"]["taskId"] = task.into();
    let task = result(client, "order", "SendMessage", answer).await;
    assert_eq!(task["task"]["status"]["state"], "TASK_STATE_COMPLETED");
}

/// Returns the ids of a page and the token of the next one.
async fn page(client: &Client, params: Value) -> (Vec<String>, Value) {
    let mut page = result(client, "order", "ListTasks", params).await;
    let ids = page["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned());
    (ids.collect(), page["nextPageToken"].take())
}

#[tokio::test]
async fn tasks_are_listed_newest_first_in_pages() {
    let client = Client::new().await;
    let mut ids = Vec::new();
    for text in ["a", "b", "c"] {
        let task =
            result(&client, "chat", "SendMessage", new(json!([{ "text": text }]))).await["task"].take();
        ids.insert(0, task["id"].clone());
    }
    // Tasks of another agent, and runs that are no tasks, are not listed.
    result(&client, "order", "SendMessage", new(json!([{ "data": { "item": "tea" } }]))).await;
    let thread = client.thread().await;
    let body = json!({ "assistant_id": "chat", "input": { "messages": [] } });
    client.post(&format!("/threads/{thread}/runs/wait"), body).await.ok();
    let list = |params: Value| result(&client, "chat", "ListTasks", params);
    let all = list(json!({})).await;
    let found: Vec<_> = all["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()).collect();
    assert_eq!((found, &all["totalSize"], &all["nextPageToken"]), (ids.clone(), &json!(3), &json!("")));
    assert_eq!(all["tasks"][0]["artifacts"], json!([]));
    let first = list(json!({ "pageSize": 2, "includeArtifacts": true })).await;
    assert_eq!(first["tasks"][0]["artifacts"][0]["parts"][0]["text"], "Yours");
    let rest = list(json!({ "pageSize": 2, "pageToken": first["nextPageToken"] })).await;
    assert_eq!((&rest["tasks"][0]["id"], &rest["nextPageToken"]), (&ids[2], &json!("")));
    let context = ids[1].as_str().unwrap().split(':').next().unwrap();
    assert_eq!(list(json!({ "contextId": context })).await["tasks"][0]["id"], ids[1]);
    assert_eq!(list(json!({ "status": "TASK_STATE_FAILED" })).await["totalSize"], 0);
    assert_eq!(list(json!({ "statusTimestampAfter": "2100-01-01T00:00:00Z" })).await["totalSize"], 0);
    let waiting =
        result(&client, "order", "ListTasks", json!({ "status": "TASK_STATE_INPUT_REQUIRED" })).await;
    assert_eq!(waiting["totalSize"], 1);
    let token = first["nextPageToken"].as_str().unwrap();
    let other = json!({ "pageToken": token, "status": "TASK_STATE_FAILED" });
    for params in [json!({ "pageToken": "x" }), json!({ "pageToken": &token[1..] }), other] {
        assert_eq!(error(&client, "chat", "ListTasks", params).await, -32_602);
    }
    let foreign = json!({ "pageToken": token });
    assert_eq!(error(&client, "order", "ListTasks", foreign).await, -32_602);
}

#[tokio::test]
async fn walk_has_each_task_once_while_tasks_change_and_begin() {
    let client = Client::new().await;
    let mut tasks = Vec::new();
    for _ in 0..12 {
        tasks.push(ask(&client).await);
    }
    let mut params = json!({ "pageSize": 3 });
    let mut found = Vec::new();
    // The walk goes from the newest to the oldest. One is answered before its turn, one after it, and another begins.
    for (before, after) in [(0, 11), (1, 8), (2, 5)] {
        let (ids, token) = page(&client, params.clone()).await;
        found.extend(ids);
        params["pageToken"] = token;
        answer(&client, &tasks[before]).await;
        answer(&client, &tasks[after]).await;
        ask(&client).await;
    }
    let (ids, token) = page(&client, params).await;
    assert_eq!(token, "");
    found.extend(ids);
    let expected: Vec<_> = tasks.iter().rev().cloned().collect();
    assert_eq!(found, expected);
    // A new walk has the tasks of the last changes first.
    let (ids, _) = page(&client, json!({ "pageSize": 4 })).await;
    assert_eq!(ids[1..3], [tasks[5].clone(), tasks[2].clone()]);
    assert!(!tasks.contains(&ids[0]) && !tasks.contains(&ids[3]));
}

#[tokio::test]
async fn deleted_tasks_are_not_listed() {
    let client = Client::new().await;
    let (one, two) = (ask(&client).await, ask(&client).await);
    let (thread, run) = two.split_once(':').unwrap();
    let (ids, token) = page(&client, json!({ "pageSize": 1 })).await;
    assert_eq!(ids, [&*two]);
    assert_eq!(page(&client, json!({ "contextId": thread })).await.0, [&*two]);
    let context = one.split(':').next().unwrap();
    let deleted = client.send(Method::DELETE, &format!("/threads/{context}"), None, &[]).await;
    assert_eq!(deleted.status(), 204);
    assert_eq!(page(&client, json!({ "pageToken": token, "pageSize": 1 })).await, (vec![], json!("")));
    let deleted = client.send(Method::DELETE, &format!("/threads/{thread}/runs/{run}"), None, &[]).await;
    assert_eq!(deleted.status(), 204);
    assert_eq!(page(&client, json!({})).await, (vec![], json!("")));
    assert_eq!(error(&client, "order", "GetTask", json!({ "id": two })).await, -32_001);
}

#[tokio::test]
async fn page_costs_the_same_wherever_it_is() {
    let (gate, items) = (Gate::new(), Arc::new(AtomicUsize::new(0)));
    let store = Counted::new(MemoryStore::new(), Arc::clone(&items));
    let client = Client::of(server(&gate).store(LongTermStore::new(store)), gate).await;
    let mut all = BTreeSet::new();
    let mut costs = Vec::new();
    for _ in 0..2 {
        for _ in 0..40 {
            all.insert(ask(&client).await);
        }
        let mut found = BTreeSet::new();
        let mut params = json!({ "pageSize": 8 });
        loop {
            let before = items.load(Ordering::SeqCst);
            let (ids, token) = page(&client, params.clone()).await;
            costs.push(items.load(Ordering::SeqCst) - before);
            assert!(ids.into_iter().all(|id| found.insert(id)), "a task is listed twice");
            if token == "" {
                break;
            }
            params["pageToken"] = token;
        }
        assert_eq!(found, all);
    }
    let (least, most) = (costs.iter().min(), costs.iter().max());
    // A page also passes over the places that its tasks had before.
    assert!(most <= least.map(|least| least + 40).as_ref(), "{costs:?}");
}
