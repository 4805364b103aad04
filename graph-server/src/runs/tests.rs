use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use serde_json::{Value, json};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::{END, GraphState, START, StateGraph};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use crate::Server;
use crate::app::App;
use crate::protocol::ThreadId;
use crate::refusing_store::RefusingStore;

#[derive(GraphState, Clone)]
struct Note {
    #[state(input)]
    text: String,
    #[state(reducer = append)]
    log: Vec<String>,
}

async fn begin(note: &Note) -> NoteUpdate {
    Note::update().log([note.text.clone()])
}

static GATE: Semaphore = Semaphore::const_new(0);
static AT_GATE: AtomicUsize = AtomicUsize::new(0);

/// Never ends if the text is `wait`, and waits at the gate if it is `gate`.
async fn work(note: &Note) -> NoteUpdate {
    match note.text.as_str() {
        "wait" => std::future::pending::<()>().await,
        "gate" => {
            AT_GATE.fetch_add(1, Ordering::SeqCst);
            GATE.acquire().await.unwrap().forget();
        }
        _ => {}
    }
    Note::update().log([format!("{} done", note.text)])
}

/// Stores that outlive a server.
#[derive(Clone, Default)]
struct Stores {
    checkpointer: Arc<MemoryCheckpointer>,
    store: RefusingStore,
}

impl Stores {
    async fn start(&self) -> (Arc<App>, Router) {
        let graph =
            StateGraph::<Note>::new().edge(START, begin).edge(begin, work).edge(work, END).compile().unwrap();
        let server = Server::new().graph("note", graph).store(self.store.long_term());
        let started = server.checkpointer(Arc::clone(&self.checkpointer)).start().await.unwrap();
        (Arc::clone(started.app()), started.router())
    }
}

async fn call(routes: &Router, method: Method, path: &str, body: Value) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path).body(Body::from(body.to_string())).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

async fn new_thread(routes: &Router) -> String {
    let (_, thread) = call(routes, Method::POST, "/threads", json!({})).await;
    thread["thread_id"].as_str().unwrap().to_owned()
}

fn run(text: &str, strategy: &str) -> Value {
    json!({ "assistant_id": "note", "input": { "text": text }, "multitask_strategy": strategy })
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

async fn yield_often() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

/// A thread is deleted while a run of it is stored, which then fails.
#[tokio::test]
async fn nobody_waits_for_a_run_that_was_not_accepted() {
    let stores = Stores::default();
    let (app, routes) = stores.start().await;
    let thread = new_thread(&routes).await;
    let path = format!("/threads/{thread}");
    stores.store.refuse("run-open");
    let held = stores.store.hold().await;
    let (own, runs) = (routes.clone(), format!("{path}/runs"));
    let refused = tokio::spawn(async move { call(&own, Method::POST, &runs, run("a", "enqueue")).await.0 });
    let id = ThreadId::parse(&thread).unwrap();
    while app.runs.unfinished(id).is_empty() {
        tokio::task::yield_now().await;
    }
    let own = routes.clone();
    let deleted = tokio::spawn(async move { call(&own, Method::DELETE, &path, Value::Null).await.0 });
    // The deletion waits for the run.
    yield_often().await;
    drop(held);
    assert_eq!(refused.await.unwrap(), 500);
    let deleted = tokio::time::timeout(Duration::from_secs(10), deleted).await;
    assert_eq!(deleted.expect("the deletion ends").unwrap(), 204);
}

/// The first process ends between a run that cancels the earlier ones and the end of these.
#[test]
fn a_run_cancels_the_earlier_ones_also_after_a_restart() {
    for (strategy, log) in
        [("interrupt", json!(["wait", "b", "b done"])), ("rollback", json!(["b", "b done"]))]
    {
        let stores = Stores::default();
        let first = runtime();
        let (path, ids) = first.block_on(async {
            let (_, routes) = stores.start().await;
            let path = format!("/threads/{}", new_thread(&routes).await);
            let (_, a) = call(&routes, Method::POST, &format!("{path}/runs"), run("wait", "enqueue")).await;
            let a = a["run_id"].as_str().unwrap().to_owned();
            let state = format!("{path}/state");
            while call(&routes, Method::GET, &state, Value::Null).await.1["values"]["log"] != json!(["wait"])
            {
                tokio::task::yield_now().await;
            }
            // Its end is not stored.
            stores.store.refuse(&a);
            let (status, b) = call(&routes, Method::POST, &format!("{path}/runs"), run("b", strategy)).await;
            assert_eq!(status, 200);
            (path, [a, b["run_id"].as_str().unwrap().to_owned()])
        });
        drop(first);
        stores.store.accept();
        runtime().block_on(async {
            let (_, routes) = stores.start().await;
            let [a, b] = ids.map(|id| format!("{path}/runs/{id}"));
            let join = format!("{b}/join");
            let joined = call(&routes, Method::GET, &join, Value::Null);
            let (_, values) =
                tokio::time::timeout(Duration::from_secs(10), joined).await.expect("the run ends");
            assert_eq!(values["log"], log);
            let (status, a) = call(&routes, Method::GET, &a, Value::Null).await;
            let expected =
                if strategy == "rollback" { (404, json!(null)) } else { (200, json!("interrupted")) };
            assert_eq!((status, a["status"].clone()), expected);
        });
    }
}

/// The first process ends while it deletes the thread of a run that has ended.
#[test]
fn a_run_without_a_thread_is_executed_once() {
    let stores = Stores::default();
    let first = runtime();
    let path = first.block_on(async {
        let (_, routes) = stores.start().await;
        let (_, run) = call(&routes, Method::POST, "/runs", run("gate", "enqueue")).await;
        while AT_GATE.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let thread = run["thread_id"].as_str().unwrap().to_owned();
        stores.store.refuse(&thread);
        GATE.add_permits(2);
        yield_often().await;
        format!("/threads/{thread}")
    });
    drop(first);
    stores.store.accept();
    runtime().block_on(async {
        let (_, routes) = stores.start().await;
        while call(&routes, Method::GET, &path, Value::Null).await.0 != 404 {
            tokio::task::yield_now().await;
        }
    });
    assert_eq!(AT_GATE.load(Ordering::SeqCst), 1);
}

/// On a runtime of one thread, a wait that does not yield lets nothing else end.
#[test]
fn a_thread_is_deleted_after_the_update_that_goes_on() {
    let (done, deleted) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let status = runtime().block_on(async {
            let stores = Stores::default();
            let (_, routes) = stores.start().await;
            let path = format!("/threads/{}", new_thread(&routes).await);
            call(&routes, Method::POST, &format!("{path}/runs/wait"), run("a", "enqueue")).await;
            let held = stores.store.hold().await;
            let (own, state) = (routes.clone(), format!("{path}/state"));
            let update = json!({ "values": { "text": "b" } });
            let updated = tokio::spawn(async move { call(&own, Method::POST, &state, update).await.0 });
            yield_often().await;
            let own = routes.clone();
            let deleted = tokio::spawn(async move { call(&own, Method::DELETE, &path, Value::Null).await.0 });
            yield_often().await;
            drop(held);
            (updated.await.unwrap(), deleted.await.unwrap())
        });
        done.send(status).unwrap();
    });
    assert_eq!(deleted.recv_timeout(Duration::from_secs(10)).expect("it ends"), (200, 204));
}
