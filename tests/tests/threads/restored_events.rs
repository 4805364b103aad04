//! The stream of a resumed run: results of tasks that had finished before it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::stream::RunStream;
use superstep::{ContextWith, Durability, END, NodeError, START, StreamMode};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, recording_nodes, say, story};

recording_nodes! { one two three last }

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Go).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

/// Returns the events of a stream as JSON, to its end or its error.
async fn events(mut stream: RunStream<Story>) -> Vec<Value> {
    let mut events = Vec::new();
    while let Some(Ok(event)) = stream.next().await {
        events.push(serde_json::to_value(event).unwrap());
    }
    events
}

/// Returns the results among events: path and node, `*` if it is restored, and the update.
fn results(events: &[Value]) -> Vec<String> {
    let of_update = |event: &&Value| event["type"] == "update";
    let text = |event: &Value| {
        let path: Vec<&str> =
            event["namespace"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let mark = if event["restored"] == true { "*" } else { "" };
        format!(
            "{}{mark} {}",
            [&path[..], &[event["node"].as_str().unwrap()]].concat().join("/"),
            event["data"]
        )
    };
    events.iter().filter(of_update).map(text).collect()
}

#[tokio::test]
async fn finished_siblings_come_first_and_are_marked() {
    let graph = story().edge(START, (one, ask, two)).join((one, ask, two), last).edge(last, END);
    let graph = graph.compile().unwrap();
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let thread = store.thread(&graph);
            let run = thread.run(begin("in")).durability(durability).context(Probe::default());
            let before = events(run.stream()).await;
            assert_eq!(results(&before), [r#"one [{"log":["one"]}]"#, r#"two [{"log":["two"]}]"#]);
            let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
            let run = store.thread(&graph).resume(go.answer(true)).durability(durability);
            let after = events(run.context(Probe::default()).stream()).await;
            assert_eq!(
                results(&after),
                [
                    r#"one* [{"log":["one"]}]"#,
                    r#"two* [{"log":["two"]}]"#,
                    r#"ask [{"log":["ask true"]}]"#,
                    r#"last [{"log":["last"]}]"#
                ]
            );
            // The same event, apart from its number and the mark.
            let known = before.iter().find(|event| event["type"] == "update").unwrap();
            let mut restored = after.iter().find(|event| event["type"] == "update").unwrap().clone();
            restored["sequence"] = known["sequence"].clone();
            assert_eq!(restored.as_object_mut().unwrap().remove("restored"), Some(json!(true)));
            assert_eq!(&restored, known);
            let kinds: Vec<&str> =
                after.iter().map(|event| event["type"].as_str().unwrap()).take(6).collect();
            assert_eq!(
                kinds,
                ["values", "task_finished", "update", "task_finished", "update", "task_started"]
            );
            let marked = |event: &&Value| event["type"] == "task_finished" && event["restored"] == true;
            assert_eq!(after.iter().filter(marked).count(), 2);
            assert_eq!(after.last().unwrap()["data"]["log"], json!(["in", "one", "ask true", "two", "last"]));
        })
        .await;
    }
}

#[tokio::test]
async fn failed_sibling_leaves_restored_results() {
    let graph = story().edge(START, (one, two)).edge(one, END).edge(two, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["two"]);
        let thread = store.thread(&graph);
        events(thread.run(begin("in")).context(Arc::clone(&probe)).stream()).await;
        probe.set_failing(&[]);
        let modes = [StreamMode::Updates];
        let run = store.thread(&graph).resume(()).context(Arc::clone(&probe)).events(modes);
        let after = events(run.stream()).await;
        assert_eq!(results(&after), [r#"one* [{"log":["one"]}]"#, r#"two [{"log":["two"]}]"#]);
        assert_eq!(after.len(), 3);
        // A replay runs all tasks, and a finished thread has nothing to restore.
        let start = thread.history().await.unwrap()[1].id;
        let again = events(thread.at(start).run_again().context(Arc::clone(&probe)).stream()).await;
        assert_eq!(results(&again), [r#"one [{"log":["one"]}]"#, r#"two [{"log":["two"]}]"#]);
        let nothing = events(thread.resume(()).context(probe).events(modes).stream()).await;
        assert_eq!(nothing.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn continued_call_restores_its_own_results() {
    let inner = story().edge(START, (one, ask)).join((one, ask), three).edge(three, END);
    let inner = inner.compile().unwrap().as_node("inner");
    let graph = story().edge(START, (&inner, two)).join((&inner, two), last).edge(last, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        let before = events(thread.run(begin("in")).context(Probe::default()).stream()).await;
        assert!(results(&before).iter().all(|result| !result.contains('*')), "{before:?}");
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let run = store.thread(&graph).resume(go.answer(true)).context(Probe::default());
        let after = events(run.stream()).await;
        assert_eq!(
            results(&after),
            [
                r#"two* [{"log":["two"]}]"#,
                r#"inner/one* [{"log":["one"]}]"#,
                r#"inner/ask [{"log":["ask true"]}]"#,
                r#"inner/three [{"log":["three"]}]"#,
                r#"inner [{"log":["one"]},{"log":["ask true"]},{"log":["three"]}]"#,
                r#"last [{"log":["last"]}]"#
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn retry_within_a_run_restores_nothing_twice() {
    use std::sync::atomic::{AtomicU32, Ordering};
    for stored in [true, false] {
        on_every_store(async |store| {
            let failed = Arc::new(AtomicU32::new(0));
            let flaky = superstep::named("flaky", {
                let failed = Arc::clone(&failed);
                move |_: &Story| {
                    let fails = failed.fetch_add(1, Ordering::SeqCst) < 2;
                    async move { if fails { Err(NodeError::msg("flaky")) } else { Ok(say("flaky")) } }
                }
            });
            let inner = story().edge(START, (one, &flaky)).edge(one, END).edge(&flaky, END);
            let inner = inner.compile().unwrap().as_node("inner");
            let retry = Policy::new().retry(Retry::attempts(3).backoff(std::time::Duration::from_millis(1)));
            let graph =
                story().edge(START, &inner).edge(&inner, END).policy(&inner, retry).compile().unwrap();
            let stream = match stored {
                true => store.thread(&graph).run(begin("in")).context(Probe::default()).stream(),
                false => graph.run(begin("in")).context(Probe::default()).stream(),
            };
            let results = results(&events(stream).await);
            assert_eq!(
                results.iter().filter(|result| result.starts_with("inner/one")).count(),
                1,
                "{results:?}"
            );
            assert!(results.iter().all(|result| !result.contains('*')), "{results:?}");
        })
        .await;
    }
}
