//! Durable steps of a workflow: each is done once, several at the same time, and told of.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::policy::Retry;
use superstep::workflow::{Flow, Workflow};
use superstep::{Context, ContextWith, EventKind, Graph, NodeError, Outcome, Result, StreamMode};

use super::stores::on_every_store;

/// What was really done, and what shall fail.
#[derive(Default)]
struct World {
    done: Mutex<Vec<String>>,
    broken: Mutex<Vec<&'static str>>,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl World {
    async fn read(&self, name: &str) -> Result<usize> {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        tokio::task::yield_now().await;
        self.now.fetch_sub(1, Ordering::Relaxed);
        self.done.lock().unwrap().push(name.to_owned());
        match self.broken.lock().unwrap().contains(&name) {
            true => Err(NodeError::msg(format!("{name} is broken"))),
            false => Ok(name.len()),
        }
    }

    fn breaks(&self, names: &[&'static str]) {
        *self.broken.lock().unwrap() = names.to_vec();
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

async fn letters(names: &[String], world: &ContextWith<World>) -> Result<String> {
    let read = names.iter().map(|name| world.step(name, world.context().read(name)));
    let lengths: Vec<usize> = world.steps(read).at_most(2).await?;
    let total = lengths.iter().sum();
    let title = world.interrupt(Publish(total)).await;
    world.step("publish", world.context().read("publish")).await?;
    Ok(format!("{title}: {lengths:?}"))
}

fn graph() -> Graph<Flow<Vec<String>, String>, World> {
    Workflow::with_context(letters).compile().unwrap()
}

fn names() -> Vec<String> {
    ["a", "bb", "ccc", "dddd", "eeeee"].map(str::to_owned).to_vec()
}

#[tokio::test]
async fn are_done_once_behind_failures_and_questions() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let pending = async || place.thread(&graph()).interrupts().await.unwrap().only::<Publish>();
        world.breaks(&["bb"]);
        let error = place.thread(&graph()).run(names()).context(Arc::clone(&world)).await.unwrap_err();
        assert!(format!("{error:?}").contains("bb is broken"), "{error:?}");
        // What was under way beside it has come to its end, and no more was begun than had room before.
        let mut done = world.done();
        assert!(done.starts_with(&["a".to_owned(), "bb".to_owned()]) && done.len() <= 3, "{done:?}");
        assert_eq!(world.most.load(Ordering::Relaxed), 2);

        world.breaks(&[]);
        let waits = place.thread(&graph()).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert!(matches!(waits, Outcome::Interrupted(_)));
        done.extend(world.done());
        done.sort();
        assert_eq!(done, ["a", "bb", "bb", "ccc", "dddd", "eeeee"]);

        let publish = pending().await.unwrap();
        assert_eq!(publish.0, 15);
        world.breaks(&["publish"]);
        let thread = place.thread(&graph());
        thread.resume(publish.answer("Letters".to_owned())).context(Arc::clone(&world)).await.unwrap_err();
        world.breaks(&[]);
        let ended = place.thread(&graph()).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(ended.value().unwrap(), "Letters: [1, 2, 3, 4, 5]");
        assert_eq!(world.done(), ["publish", "publish"]);
    })
    .await;
}

#[tokio::test]
async fn of_a_run_without_a_store_are_done_once_as_well() {
    let world = Arc::new(World::default());
    let mut run = graph().run(names()).context(Arc::clone(&world)).start().unwrap();
    while run.step().await.unwrap() {}
    let publish = run.pause().unwrap().only::<Publish>().unwrap();
    run.answer([publish.answer("Letters".to_owned())]).unwrap();
    assert_eq!(run.finish().await.unwrap().value().unwrap(), "Letters: [1, 2, 3, 4, 5]");
    assert_eq!(world.done(), ["a", "bb", "ccc", "dddd", "eeeee", "publish"]);
}

#[tokio::test(start_paused = true)]
async fn are_kept_when_a_policy_tries_the_function_again() {
    async fn flaky(world: &ContextWith<World>) -> Result<u32> {
        world.step("once", world.context().read("once")).await?;
        let attempt = world.attempt();
        if attempt < 3 { Err(NodeError::msg("not yet")) } else { Ok(attempt) }
    }
    let world = Arc::new(World::default());
    let graph = Workflow::with_context(flaky).policy(Retry::attempts(3)).compile().unwrap();
    assert_eq!(graph.run(()).context(Arc::clone(&world)).await.unwrap().value().unwrap(), 3);
    assert_eq!(world.done(), ["once"]);
}

#[tokio::test]
async fn are_told_to_whoever_listens_with_their_keys() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let mut told = Vec::new();
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
                told.push(format!("{key}{}", if *kept { " kept" } else { "" }));
            }
            let json = serde_json::to_value(event).unwrap();
            assert!(json["type"] != "step_finished" || json["key"].is_string(), "{json}");
        };
        let names = names()[..2].to_vec();
        let run = place.thread(&graph()).run(names).context(Arc::clone(&world));
        run.stream().for_each(&mut listen).await.unwrap();
        let thread = place.thread(&graph());
        let publish = thread.interrupts().await.unwrap().only::<Publish>().unwrap();
        let run = thread.resume(publish.answer("x".to_owned())).context(world).events([StreamMode::Tasks]);
        run.stream().for_each(&mut listen).await.unwrap();
        told[..2].sort();
        told[2..4].sort();
        assert_eq!(told, ["a", "bb", "a kept", "bb kept", "publish"]);
    })
    .await;
}

#[tokio::test]
async fn none_is_a_list_of_nothing() {
    let world = Arc::new(World::default());
    let cx = ContextWith::<World>::detached("letters", Arc::clone(&world));
    let none: [superstep::durable::DurableStep<'_, u32>; 0] = [];
    assert!(cx.steps(none).await.unwrap().is_empty());
    let one = cx.steps([cx.step("a", async { Ok::<_, NodeError>(1) })]).at_most(0).await.unwrap();
    assert_eq!(one, [1]);
    let twice =
        cx.steps(["b", "b"].map(|key| cx.step(key, async { Ok::<_, NodeError>(1) }))).await.unwrap_err();
    assert!(twice.to_string().contains("twice"), "{twice}");
}

#[tokio::test]
async fn of_different_types_are_joined_by_tokio() {
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
