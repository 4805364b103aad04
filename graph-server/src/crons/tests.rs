use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use serde_json::{Value, json};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::{END, Graph, GraphState, START, StateGraph};
use tower::ServiceExt as _;

use super::scheduler_task::pass;
use crate::Server;
use crate::app::App;
use crate::protocol::Timestamp;
use crate::refusing_store::RefusingStore;

#[derive(GraphState, Clone)]
struct Report {
    #[state(input)]
    about: String,
    #[state(reducer = append)]
    log: Vec<String>,
}

async fn write(report: &Report) -> ReportUpdate {
    Report::update().log([format!("about {}", report.about)])
}

fn graph() -> Graph<Report> {
    StateGraph::<Report>::new().edge(START, write).edge(write, END).compile().unwrap()
}

/// A server whose own look at the clock finds nothing to do: the crons are due once a year.
struct Running {
    app: Arc<App>,
    routes: Router,
}

impl Running {
    async fn start(stores: &(MemoryCheckpointer, RefusingStore)) -> Self {
        let server = Server::new().graph("report", graph());
        let started =
            server.checkpointer(stores.0.clone()).store(stores.1.long_term()).start().await.unwrap();
        Self { app: Arc::clone(started.app()), routes: started.router() }
    }

    async fn new() -> Self {
        Self::start(&(MemoryCheckpointer::new(), RefusingStore::new())).await
    }

    async fn call(&self, method: Method, path: &str, body: Value) -> Value {
        let request = Request::builder().method(method).uri(path).body(Body::from(body.to_string())).unwrap();
        let response = self.routes.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        assert!(status.is_success(), "{path}: {status} {body:?}");
        serde_json::from_slice(&body).unwrap_or_default()
    }

    async fn get(&self, path: &str) -> Value {
        self.call(Method::GET, path, Value::Null).await
    }

    async fn thread(&self) -> String {
        text(&self.call(Method::POST, "/threads", json!({})).await, "thread_id")
    }

    /// Creates a cron on a thread, and returns its path.
    async fn cron(&self, thread: &str, more: Value) -> String {
        let mut body =
            json!({ "assistant_id": "report", "schedule": "0 0 1 1 *", "input": { "about": "tea" } });
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let cron = self.call(Method::POST, &format!("/threads/{thread}/runs/crons"), body).await;
        format!("/runs/crons/{}", text(&cron, "cron_id"))
    }

    /// Returns the time of the next run of a cron.
    async fn next(&self, cron: &str) -> Timestamp {
        text(&self.get(cron).await, "next_run_date").parse().unwrap()
    }

    async fn runs(&self, thread: &str) -> usize {
        self.get(&format!("/threads/{thread}/runs")).await.as_array().unwrap().len()
    }
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

fn days(days: u64) -> std::time::Duration {
    std::time::Duration::from_secs(days * 86_400)
}

#[tokio::test]
async fn each_due_time_starts_one_run() {
    let server = Running::new().await;
    let thread = server.thread().await;
    let cron = server.cron(&thread, json!({ "metadata": { "of": "ann" } })).await;
    let due = server.next(&cron).await;
    assert_eq!(pass(&server.app, Timestamp::now()).await.unwrap(), Some(due));
    assert_eq!(server.runs(&thread).await, 0);
    let next = pass(&server.app, due).await.unwrap().unwrap();
    assert_eq!(server.next(&cron).await, next);
    assert!(next.since(due) >= days(365) && next.since(due) <= days(366));
    pass(&server.app, due).await.unwrap();
    let runs = server.get(&format!("/threads/{thread}/runs")).await;
    assert_eq!(runs.as_array().unwrap().len(), 1, "the same time starts nothing more");
    assert_eq!(runs[0]["metadata"]["of"], "ann");
    assert_eq!(format!("/runs/crons/{}", text(&runs[0]["metadata"], "cron_id")), cron);
    let joined = server.get(&format!("/threads/{thread}/runs/{}/join", text(&runs[0], "run_id"))).await;
    assert_eq!(joined["log"], json!(["about tea"]));
    pass(&server.app, next).await.unwrap();
    assert_eq!(server.runs(&thread).await, 2);
}

#[tokio::test]
async fn missed_times_start_one_run_after_a_restart() {
    let stores = (MemoryCheckpointer::new(), RefusingStore::new());
    let first = Running::start(&stores).await;
    let thread = first.thread().await;
    let cron = first.cron(&thread, json!({})).await;
    let late = first.next(&cron).await.after(days(5 * 365));
    drop(first);
    let second = Running::start(&stores).await;
    pass(&second.app, late).await.unwrap();
    assert_eq!(second.runs(&thread).await, 1);
    assert!(second.next(&cron).await > late);
}

#[tokio::test]
async fn no_run_starts_after_the_end() {
    let server = Running::new().await;
    let thread = server.thread().await;
    let cron = server.cron(&thread, json!({})).await;
    let due = server.next(&cron).await;
    // After the second of the times.
    let end = due.after(days(367));
    server.call(Method::PATCH, &cron, json!({ "end_time": end })).await;
    pass(&server.app, due).await.unwrap();
    let second = server.next(&cron).await;
    assert_eq!(pass(&server.app, second).await.unwrap(), None);
    assert_eq!(server.get(&cron).await["next_run_date"], Value::Null);
    pass(&server.app, second.after(days(3_650))).await.unwrap();
    assert_eq!(server.runs(&thread).await, 2);
    // A server that comes back after the end starts nothing.
    let other = server.cron(&thread, json!({ "end_time": end })).await;
    pass(&server.app, end.after(days(1))).await.unwrap();
    assert_eq!((server.runs(&thread).await, &server.get(&other).await["next_run_date"]), (2, &Value::Null));
}

#[tokio::test]
async fn disabled_and_deleted_crons_start_nothing() {
    let server = Running::new().await;
    let thread = server.thread().await;
    let disabled = server.cron(&thread, json!({ "enabled": false })).await;
    let deleted = server.cron(&thread, json!({})).await;
    let due = server.next(&deleted).await;
    server.call(Method::DELETE, &deleted, Value::Null).await;
    assert_eq!(pass(&server.app, due).await.unwrap(), None);
    assert_eq!(server.runs(&thread).await, 0);
    server.call(Method::PATCH, &disabled, json!({ "enabled": true })).await;
    pass(&server.app, due).await.unwrap();
    assert_eq!(server.runs(&thread).await, 1);
}

#[tokio::test]
async fn a_cron_without_its_thread_is_disabled() {
    let server = Running::new().await;
    let thread = server.thread().await;
    let cron = server.cron(&thread, json!({})).await;
    let due = server.next(&cron).await;
    server.call(Method::DELETE, &format!("/threads/{thread}"), Value::Null).await;
    assert_eq!(pass(&server.app, due).await.unwrap(), None);
    assert_eq!(server.get(&cron).await["enabled"], false);
}

#[tokio::test]
async fn runs_without_a_thread_have_threads_of_their_own() {
    let server = Running::new().await;
    for completion in ["keep", "delete"] {
        let body = json!({
            "assistant_id": "report", "schedule": "0 0 1 1 *", "input": { "about": completion },
            "on_run_completed": completion,
        });
        server.call(Method::POST, "/runs/crons", body).await;
    }
    let due = server.app.records.next_cron(Timestamp::now()).await.unwrap().unwrap();
    pass(&server.app, due).await.unwrap();
    server.app.runs.idle().await;
    let threads = server.call(Method::POST, "/threads/search", json!({})).await;
    assert_eq!(threads.as_array().unwrap().len(), 1);
    assert_eq!(threads[0]["values"]["log"], json!(["about keep"]));
}

#[tokio::test]
async fn a_cron_that_cannot_start_does_not_stop_the_others() {
    let stores = (MemoryCheckpointer::new(), RefusingStore::new());
    let server = Running::start(&stores).await;
    let (broken, sound) = (server.thread().await, server.thread().await);
    let cron = server.cron(&broken, json!({})).await;
    let due = server.next(&cron).await;
    server.cron(&sound, json!({ "schedule": "0 1 1 1 *" })).await;
    let late = due.after(std::time::Duration::from_secs(3_600));
    stores.1.refuse(&broken);
    let next = pass(&server.app, late).await.unwrap();
    assert_eq!((server.runs(&broken).await, server.runs(&sound).await), (0, 1));
    assert!(next.is_some_and(|next| next > late), "the broken one is not asked again at once");
    stores.1.accept();
    pass(&server.app, late).await.unwrap();
    assert_eq!((server.runs(&broken).await, server.runs(&sound).await), (1, 1));
}

#[cfg(feature = "tracing")]
#[tokio::test]
async fn runs_of_crons_are_logged() {
    let (log, _guard) = crate::log::recorder::Recorder::start();
    let stores = (MemoryCheckpointer::new(), RefusingStore::new());
    let server = Running::start(&stores).await;
    let thread = server.thread().await;
    let cron = server.cron(&thread, json!({})).await;
    let due = server.next(&cron).await;
    stores.1.refuse(&thread);
    pass(&server.app, due).await.unwrap();
    stores.1.accept();
    pass(&server.app, due).await.unwrap();
    server.call(Method::DELETE, &format!("/threads/{thread}"), Value::Null).await;
    pass(&server.app, due.after(days(367))).await.unwrap();
    assert_eq!(
        log.lines(&["cron.", "run.accepted"], &["status"]),
        ["ERROR cron.failed 500", "INFO run.accepted", "INFO cron.started", "ERROR cron.failed 404"]
    );
    let events = log.events(&["cron."]);
    assert!(events.iter().all(|event| cron.ends_with(&event.fields["cron.id"])));
    assert!(!log.text().contains("tea"), "{}", log.text());
}

#[tokio::test]
async fn many_crons_that_fail_do_not_keep_a_later_one() {
    let stores = (MemoryCheckpointer::new(), RefusingStore::new());
    let server = Running::start(&stores).await;
    let (broken, sound) = (server.thread().await, server.thread().await);
    let mut due = None;
    for _ in 0..150 {
        let cron = server.cron(&broken, json!({})).await;
        due = Some(server.next(&cron).await);
    }
    server.cron(&sound, json!({ "schedule": "0 1 1 1 *" })).await;
    let late = due.unwrap().after(std::time::Duration::from_secs(3_600));
    stores.1.refuse(&broken);
    let next = pass(&server.app, late).await.unwrap();
    assert_eq!((server.runs(&broken).await, server.runs(&sound).await), (0, 1));
    assert!(next.is_some_and(|next| next > late));
}
