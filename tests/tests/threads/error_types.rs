//! The names of the types of nodes' errors, in errors and in snapshots.

use superstep::thread::ThreadStatus;
use superstep::{END, ErrorKind, Graph, GraphState, NodeFailure, Result, START, StateGraph, bail};
use tests::stores::{TestStore, on_every_store};

#[derive(GraphState, Clone)]
struct Job {
    text: String,
    caught: Option<String>,
}

async fn parse(job: &Job) -> Result<()> {
    if job.text == "panic" {
        panic!("as asked");
    }
    if job.text.is_empty() {
        bail!("there is no text");
    }
    job.text.parse::<u32>()?;
    Ok(())
}

fn graph() -> StateGraph<Job> {
    StateGraph::<Job>::new().edge(START, parse).edge(parse, END)
}

fn plain() -> Graph<Job> {
    graph().compile().unwrap()
}

#[tokio::test]
async fn error_and_snapshot_name_the_type() {
    on_every_store(async |store: &TestStore| {
        let graph = plain().with_checkpointer(store.open());
        let cases = [
            ("ten", Some("core::num::error::ParseIntError")),
            ("", Some("superstep::NodeError")),
            ("panic", None),
        ];
        for (text, expected) in cases {
            let thread = graph.thread(format!("thread {text:?}"));
            let error = thread.run(Job::input().text(text)).await.unwrap_err();
            let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
            assert_eq!((first.error_type(), first.panicked), (expected, text == "panic"));

            let snapshot = thread.state().await.unwrap().unwrap();
            let stored = snapshot.tasks[0].error.clone().unwrap();
            assert_eq!(stored.error_type.as_deref(), expected);
            let json = serde_json::to_value(&snapshot.tasks[0]).unwrap();
            assert_eq!(json["error"].get("error_type").and_then(|name| name.as_str()), expected);
        }
        let unfinished = graph.unfinished().next_page().await.unwrap().unwrap();
        let types = unfinished.iter().map(|thread| match &thread.status {
            ThreadStatus::Failed(errors) => errors[0].error_type.clone(),
            status => panic!("{status:?}"),
        });
        let types: Vec<_> = types.flatten().collect();
        assert_eq!(types, ["superstep::NodeError", "core::num::error::ParseIntError"]);
    })
    .await;
}

#[tokio::test]
async fn error_handler_sees_the_type() {
    async fn catch(failure: &NodeFailure) -> JobUpdate {
        Job::update().caught(failure.error_type().map(str::to_owned))
    }
    on_every_store(async |store: &TestStore| {
        let graph = graph().on_error(parse, catch).compile().unwrap().with_checkpointer(store.open());
        let job = graph.thread("1").run(Job::input().text("ten")).await.unwrap().into_state();
        assert_eq!(job.caught.as_deref(), Some("core::num::error::ParseIntError"));
    })
    .await;
}
