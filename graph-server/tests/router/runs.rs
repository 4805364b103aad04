//! Creating runs, reading them and waiting for them.

use axum::http::Method;
use serde_json::json;

use crate::client::Client;

#[tokio::test]
async fn a_run_stops_at_a_question_and_continues_with_the_answer() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let runs = format!("/threads/{thread}/runs");

    let input = json!({ "assistant_id": "order", "input": { "item": "tea" } });
    let first = client.post(&format!("{runs}/wait"), input).await;
    let values = first.ok();
    assert_eq!(values["log"], json!(["found tea"]));
    assert_eq!(values["__interrupt__"][0]["value"], json!({ "item": "tea" }));
    assert!(!first.text.contains("4111-secret"), "{}", first.text);
    assert!(first.header("content-location").starts_with(&runs), "{:?}", first.headers);

    let state = client.get(&format!("/threads/{thread}/state")).await.ok();
    assert_eq!(state["next"], json!(["ask"]));
    assert_eq!(state["tasks"][0]["interrupts"], values["__interrupt__"]);
    assert_eq!(client.get(&format!("/threads/{thread}")).await.ok()["status"], "interrupted");

    let answer = json!({ "assistant_id": "order", "command": { "resume": true } });
    let second = client.post(&format!("{runs}/wait"), answer).await;
    assert_eq!(second.ok()["log"], json!(["found tea", "approved: true", "shipped tea"]));
    assert_eq!(client.get(&format!("/threads/{thread}")).await.ok()["status"], "idle");

    let listed = client.get(&runs).await.ok();
    let statuses: Vec<_> = listed.as_array().unwrap().iter().map(|run| run["status"].clone()).collect();
    assert_eq!(statuses, ["success", "success"]);
    let history = client.post(&format!("/threads/{thread}/history"), json!({ "limit": 100 })).await.ok();
    let steps: Vec<_> =
        history.as_array().unwrap().iter().map(|state| state["metadata"]["step"].clone()).collect();
    assert_eq!(steps, [3, 2, 1, 0, -1]);
}

#[tokio::test]
async fn a_background_run_is_stored_before_it_is_acknowledged() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let runs = format!("/threads/{thread}/runs");
    let body = json!({ "assistant_id": "slow", "input": { "name": "a" }, "metadata": { "who": "me" } });
    let created = client.post(&runs, body.clone()).await;
    let run = created.ok();
    let id = run["run_id"].as_str().unwrap();
    assert_eq!(created.header("content-location"), format!("{runs}/{id}"));
    assert_eq!(created.header("location"), format!("{runs}/{id}/join"));
    assert_eq!(run["kwargs"]["input"], body["input"]);
    assert_eq!(run["metadata"]["who"], "me");
    assert_eq!(run["metadata"]["graph_id"], "slow");

    let found = client.get(&format!("{runs}/{id}")).await.ok();
    assert_eq!(found["status"], "running");
    let shown = client.get(&format!("/threads/{thread}")).await.ok();
    assert_eq!(shown["status"], "busy");
    assert_eq!(shown["metadata"]["graph_id"], "slow");
    client.reply(Method::DELETE, &format!("{runs}/{id}"), None).await.refused(409);

    let join = tokio::spawn({
        let (client, path) = (client.clone(), format!("{runs}/{id}/join"));
        async move { client.get(&path).await }
    });
    client.gate.open(1);
    assert_eq!(join.await.unwrap().ok()["log"], json!(["a begins", "a done"]));
    assert_eq!(client.ended(&thread, id).await["status"], "success");
    // A run that has ended is joined as well.
    assert_eq!(client.get(&format!("{runs}/{id}/join")).await.ok()["log"], json!(["a begins", "a done"]));
    assert_eq!(client.reply(Method::DELETE, &format!("{runs}/{id}"), None).await.status, 204);
    client.get(&format!("{runs}/{id}")).await.refused(404);
}

#[tokio::test]
async fn a_failed_run_says_why_and_the_next_run_works() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let runs = format!("/threads/{thread}/runs");
    let body = |text: &str| json!({ "assistant_id": "fail", "input": { "text": text } });
    let failed = client.post(&format!("{runs}/wait"), body("boom")).await.ok();
    assert_eq!(failed, json!({ "__error__": { "error": "BoomError", "message": "boom" } }));
    let shown = client.get(&format!("/threads/{thread}")).await.ok();
    assert_eq!((&shown["status"], &shown["error"]["error"]), (&json!("error"), &json!("BoomError")));
    let streamed = client.post(&format!("{runs}/stream"), body("boom")).await;
    let last = streamed.events().pop().unwrap();
    assert_eq!((last.0.as_str(), &last.1["message"]), ("error", &json!("boom")));
    assert_eq!(client.post(&format!("{runs}/wait"), body("fine")).await.ok(), json!({ "text": "fine" }));
    assert_eq!(client.get(&format!("/threads/{thread}")).await.ok()["status"], "idle");
    let statuses = client.get(&format!("{runs}?status=error&select=status")).await.ok();
    assert_eq!(statuses, json!([{ "status": "error" }, { "status": "error" }]));
}

#[tokio::test]
async fn stateless_runs_leave_nothing_behind() {
    let client = Client::new().await;
    let body = json!({ "assistant_id": "fail", "input": { "text": "fine" } });
    let done = client.post("/runs/wait", body.clone()).await;
    assert_eq!(done.ok(), json!({ "text": "fine" }));
    assert!(done.header("content-location").starts_with("/runs/"), "{:?}", done.headers);
    let streamed = client.post("/runs/stream", body.clone()).await;
    let names: Vec<_> = streamed.events().into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["metadata", "values", "values"]);
    let run = client.post("/runs", body).await.ok();
    let (thread, id) = (run["thread_id"].as_str().unwrap(), run["run_id"].as_str().unwrap());
    for _ in 0..1_000 {
        if client.get(&format!("/threads/{thread}/runs/{id}")).await.status == 404 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    client.get(&format!("/threads/{thread}")).await.refused(404);
    assert_eq!(client.post("/threads/search", json!({})).await.ok(), json!([]));
}

#[tokio::test]
async fn a_kept_stateless_run_has_a_thread() {
    let client = Client::new().await;
    let body = json!({ "assistant_id": "order", "input": { "item": "tea" }, "on_completion": "keep" });
    let done = client.post("/runs/wait", body).await;
    assert!(done.ok()["__interrupt__"].is_array());
    let path = done.header("content-location").to_owned();
    let thread = path.split('/').nth(2).unwrap();
    assert_eq!(client.get(&format!("/threads/{thread}/state")).await.ok()["next"], json!(["ask"]));
}

#[tokio::test]
async fn a_thread_is_created_with_its_first_run_if_the_client_says_so() {
    let client = Client::new().await;
    let thread = "01890a5d-ac96-774b-bcce-b302099a8057";
    let mut body = json!({ "assistant_id": "fail", "input": { "text": "fine" } });
    client.post(&format!("/threads/{thread}/runs/wait"), body.clone()).await.refused(404);
    body["if_not_exists"] = json!("create");
    assert_eq!(client.post(&format!("/threads/{thread}/runs/wait"), body).await.ok()["text"], "fine");
    assert_eq!(client.get(&format!("/threads/{thread}")).await.ok()["status"], "idle");
}

/// Later runs of the thread do not change the outcome of an earlier one.
#[tokio::test]
async fn a_run_that_has_ended_is_joined_with_its_own_outcome() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let runs = format!("/threads/{thread}/runs");
    let mut ids = Vec::new();
    for text in ["boom", "first", "second"] {
        let run = client.post(&runs, json!({ "assistant_id": "fail", "input": { "text": text } })).await.ok();
        ids.push(run["run_id"].as_str().unwrap().to_owned());
        client.ended(&thread, &ids[ids.len() - 1]).await;
    }
    let mut outcomes = Vec::new();
    for id in &ids {
        outcomes.push(client.get(&format!("{runs}/{id}/join")).await.ok());
    }
    assert_eq!(outcomes[0]["__error__"]["message"], "boom", "{}", outcomes[0]);
    assert_eq!(outcomes[1..], [json!({ "text": "first" }), json!({ "text": "second" })]);
}

/// The request of a run is shown without the fields that are never shown.
#[tokio::test]
async fn secrets_of_an_input_are_not_in_the_run() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let runs = format!("/threads/{thread}/runs");
    let input = json!({ "name": "ann", "password": "hunter2", "pin": "hunter3" });
    let body = json!({ "assistant_id": "secret", "input": input.clone() });
    let made = client.post(&runs, body).await;
    let id = made.ok()["run_id"].as_str().unwrap().to_owned();
    let ended = client.ended(&thread, &id).await;
    assert_eq!(ended["kwargs"]["input"], json!({ "name": "ann" }));
    let state = client.get(&format!("/threads/{thread}/state")).await;
    assert_eq!(state.ok()["values"], json!({ "name": "ann" }));
    let update =
        json!([{ "password": "hunter2", "name": "bob" }, { "$overwrite": { "password": "hunter2" } }]);
    let body = json!({ "assistant_id": "secret", "command": { "update": update } });
    let batch = json!([body.clone()]);
    let updated = client.post(&runs, body).await;
    updated.ok();
    let batched = client.post("/runs/batch", batch).await;
    batched.ok();
    let list = client.get(&runs).await;
    assert_eq!(list.ok()[0]["kwargs"]["command"]["update"], json!([{ "name": "bob" }, { "$overwrite": {} }]));
    let cron = json!({ "assistant_id": "secret", "schedule": "0 0 1 1 *", "input": input });
    let cron = client.post("/runs/crons", cron).await;
    assert_eq!(cron.ok()["payload"]["input"], json!({ "name": "ann" }));
    let path = format!("/runs/crons/{}", cron.ok()["cron_id"].as_str().unwrap());
    let crons = [client.get(&path).await, client.post("/runs/crons/search", json!({})).await];
    for reply in [made, state, updated, batched, list, cron].into_iter().chain(crons) {
        assert!(!reply.text.contains("hunter"), "{}", reply.text);
    }
}
