//! Durable steps of a workflow: each runs once, several run concurrently, and each has an event.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::policy::Retry;
use superstep::workflow::{Flow, Workflow};
use superstep::{Context, ContextWith, EventKind, Graph, NodeError, Outcome, Result, StreamMode};

use super::stores::on_every_store;

/// Records the steps that ran, and lets steps fail.
#[derive(Default)]
struct Probe {
    done: Mutex<Vec<String>>,
    failing: Mutex<Vec<&'static str>>,
    running: AtomicUsize,
    max_concurrent: AtomicUsize,
}

impl Probe {
    async fn read(&self, name: &str) -> Result<usize> {
        let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
        self.max_concurrent.fetch_max(running, Ordering::Relaxed);
        tokio::task::yield_now().await;
        self.running.fetch_sub(1, Ordering::Relaxed);
        self.done.lock().unwrap().push(name.to_owned());
        match self.failing.lock().unwrap().contains(&name) {
            true => Err(NodeError::msg(format!("{name} is broken"))),
            false => Ok(name.len()),
        }
    }

    fn set_failing(&self, names: &[&'static str]) {
        *self.failing.lock().unwrap() = names.to_vec();
    }

    fn done(&self) -> Vec<String> {
        let mut done = std::mem::take(&mut *self.done.lock().unwrap());
        done.sort();
        done
    }
}

#[derive(Serialize, Deserialize)]
struct Publish(usize);

impl Question for Publish {
    type Answer = String;
}

async fn letters(names: &[String], probe: &ContextWith<Probe>) -> Result<String> {
    let read = names.iter().map(|name| probe.step(name, probe.context().read(name)));
    let lengths: Vec<usize> = probe.steps(read).at_most(2).await?;
    let total = lengths.iter().sum();
    let title = probe.interrupt(Publish(total)).await;
    probe.step("publish", probe.context().read("publish")).await?;
    Ok(format!("{title}: {lengths:?}"))
}

fn graph() -> Graph<Flow<Vec<String>, String>, Probe> {
    Workflow::with_context(letters).compile().unwrap()
}

fn names() -> Vec<String> {
    ["a", "bb", "ccc", "dddd", "eeeee"].map(str::to_owned).to_vec()
}

#[tokio::test]
async fn steps_run_once_across_failures_and_interrupts() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let pending = async || store.thread(&graph()).interrupts().await.unwrap().only::<Publish>();
        probe.set_failing(&["bb"]);
        let error = store.thread(&graph()).run(names()).context(Arc::clone(&probe)).await.unwrap_err();
        assert!(format!("{error:?}").contains("bb is broken"), "{error:?}");
        // Its concurrent step has ended, and no later step has started beyond the limit.
        let mut done = probe.done();
        assert!(done.starts_with(&["a".to_owned(), "bb".to_owned()]) && done.len() <= 3, "{done:?}");
        assert_eq!(probe.max_concurrent.load(Ordering::Relaxed), 2);

        probe.set_failing(&[]);
        let waits = store.thread(&graph()).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert!(matches!(waits, Outcome::Interrupted(_)));
        done.extend(probe.done());
        done.sort();
        assert_eq!(done, ["a", "bb", "bb", "ccc", "dddd", "eeeee"]);

        let publish = pending().await.unwrap();
        assert_eq!(publish.0, 15);
        probe.set_failing(&["publish"]);
        let thread = store.thread(&graph());
        thread.resume(publish.answer("Letters".to_owned())).context(Arc::clone(&probe)).await.unwrap_err();
        probe.set_failing(&[]);
        let ended = store.thread(&graph()).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(ended.value().unwrap(), "Letters: [1, 2, 3, 4, 5]");
        assert_eq!(probe.done(), ["publish", "publish"]);
    })
    .await;
}

#[tokio::test]
async fn steps_run_once_without_a_checkpointer() {
    let probe = Arc::new(Probe::default());
    let mut run = graph().run(names()).context(Arc::clone(&probe)).start().unwrap();
    while run.step().await.unwrap() {}
    let publish = run.pause().unwrap().only::<Publish>().unwrap();
    run.answer([publish.answer("Letters".to_owned())]).unwrap();
    assert_eq!(run.finish().await.unwrap().value().unwrap(), "Letters: [1, 2, 3, 4, 5]");
    assert_eq!(probe.done(), ["a", "bb", "ccc", "dddd", "eeeee", "publish"]);
}

#[tokio::test(start_paused = true)]
async fn steps_survive_a_retry() {
    async fn flaky(probe: &ContextWith<Probe>) -> Result<u32> {
        probe.step("once", probe.context().read("once")).await?;
        let attempt = probe.attempt();
        if attempt < 3 { Err(NodeError::msg("not yet")) } else { Ok(attempt) }
    }
    let probe = Arc::new(Probe::default());
    let graph = Workflow::with_context(flaky).policy(Retry::attempts(3)).compile().unwrap();
    assert_eq!(graph.run(()).context(Arc::clone(&probe)).await.unwrap().value().unwrap(), 3);
    assert_eq!(probe.done(), ["once"]);
}

#[tokio::test]
async fn step_events_carry_their_keys() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let mut seen = Vec::new();
        let mut listen = |event: &superstep::Event<Flow<Vec<String>, String>>| {
            if let EventKind::StepFinished { node, key, kept, .. } = &event.kind {
                assert_eq!(&**node, "letters");
                let shown = format!("{:?}", event.kind);
                assert_eq!(
                    shown,
                    format!(
                        r#"{{"type":"step_finished","node":"letters","task":0,"key":"{key}","kept":{kept}}}"#
                    )
                );
                seen.push(format!("{key}{}", if *kept { " kept" } else { "" }));
            }
            let json = serde_json::to_value(event).unwrap();
            assert!(json["type"] != "step_finished" || json["key"].is_string(), "{json}");
        };
        let names = names()[..2].to_vec();
        let run = store.thread(&graph()).run(names).context(Arc::clone(&probe));
        run.stream().for_each(&mut listen).await.unwrap();
        let thread = store.thread(&graph());
        let publish = thread.interrupts().await.unwrap().only::<Publish>().unwrap();
        let run = thread.resume(publish.answer("x".to_owned())).context(probe).events([StreamMode::Tasks]);
        run.stream().for_each(&mut listen).await.unwrap();
        seen[..2].sort();
        seen[2..4].sort();
        assert_eq!(seen, ["a", "bb", "a kept", "bb kept", "publish"]);
    })
    .await;
}

#[tokio::test]
async fn empty_step_list_returns_nothing() {
    let probe = Arc::new(Probe::default());
    let cx = ContextWith::<Probe>::detached("letters", Arc::clone(&probe));
    let none: [superstep::durable::DurableStep<'_, u32>; 0] = [];
    assert!(cx.steps(none).await.unwrap().is_empty());
    let one = cx.steps([cx.step("a", async { Ok::<_, NodeError>(1) })]).at_most(0).await.unwrap();
    assert_eq!(one, [1]);
    let twice =
        cx.steps(["b", "b"].map(|key| cx.step(key, async { Ok::<_, NodeError>(1) }))).await.unwrap_err();
    assert!(twice.to_string().contains("twice"), "{twice}");
}

#[tokio::test]
async fn steps_of_different_types_join_with_tokio() {
    async fn both(cx: &Context) -> Result<(u32, String)> {
        let (number, text) = tokio::try_join!(
            cx.step("number", async { Ok::<_, NodeError>(1_u32) }),
            cx.step("text", async { Ok::<_, NodeError>("one".to_owned()) }),
        )?;
        Ok((number, text))
    }
    let ended = Workflow::new(both).compile().unwrap().run(()).await.unwrap();
    assert_eq!(ended.value().unwrap(), (1, "one".to_owned()));
}
