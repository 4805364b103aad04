//! What is stored of a subgraph is gone on with, looked into and replayed.

use std::sync::Arc;

use superstep::subgraph::Subgraph;
use superstep::{Durability, END, ErrorKind, Graph, START};

use super::stores::on_every_store;
use super::story::{Story, World, begin, next, story, tellers, told};

tellers! { one two three beside last }

fn inner() -> Subgraph<Story, World> {
    let graph = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
    graph.compile().unwrap().as_node("inner")
}

/// The nodes that ran, by name: a call and its sibling run side by side.
fn ran(world: &World) -> String {
    let ran = world.ran();
    let mut ran: Vec<&str> = ran.split_whitespace().collect();
    ran.sort_unstable();
    ran.join(" ")
}

fn outer(inner: &Subgraph<Story, World>) -> Graph<Story, World> {
    story().edge(START, (inner, beside)).join((inner, beside), last).edge(last, END).compile().unwrap()
}

#[tokio::test]
async fn what_has_finished_within_does_not_run_again() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |place| {
            let world = Arc::new(World::default());
            world.breaks(&["two"]);
            let graph = outer(&inner());
            let run = place.thread(&graph).run(begin("x")).durability(durability).context(Arc::clone(&world));
            let error = run.await.unwrap_err();
            assert!(format!("{error:?}").contains("`two`"), "{error:?}");
            assert_eq!(ran(&world), "beside one two");

            world.breaks(&["three"]);
            let thread = place.thread(&graph);
            let run = thread.resume(()).durability(durability).context(Arc::clone(&world));
            assert!(run.await.is_err());
            assert_eq!(ran(&world), "three two");

            world.breaks(&[]);
            let ended = place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap();
            assert_eq!(ran(&world), "last three");
            assert_eq!(told(ended.state()), "x one two three beside last");
        })
        .await;
    }
}

#[tokio::test]
async fn a_call_can_be_looked_into() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["two"]);
        let inner = inner();
        let thread = place.thread(&outer(&inner));
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap_err();
        let within = thread.within(&inner);
        let now = within.state().await.unwrap().unwrap();
        assert_eq!((now.step, next(&now).as_str(), &*now.namespace), (1, "two", "inner"));
        assert_eq!(told(&now.state.unwrap()), "x one");
        assert!(now.tasks[0].error.as_ref().unwrap().text.contains("two"));
        let steps: Vec<i64> = within.history().await.unwrap().iter().map(|snapshot| snapshot.step).collect();
        assert_eq!(steps, [1, 0]);
        // The history of the thread itself has nothing of it.
        let outside = thread.history().await.unwrap();
        assert!(outside.iter().all(|snapshot| snapshot.namespace.is_empty() && snapshot.step <= 0));
    })
    .await;
}

#[tokio::test]
async fn a_snapshot_of_a_call_says_which_checkpoints_it_is_within() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["two"]);
        let inner = inner();
        let middle = story().edge(START, beside).edge(beside, &inner).edge(&inner, END).compile().unwrap();
        let middle = middle.as_node("middle");
        let graph = story().edge(START, &middle).edge(&middle, last).edge(last, END).compile().unwrap();
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap_err();
        let outside = thread.state().await.unwrap().unwrap();
        assert!(outside.parents.is_empty());
        let between = thread.within(&middle).state().await.unwrap().unwrap();
        assert_eq!(Vec::from_iter(between.parents), [("".into(), outside.id)]);
        let within = thread.within(&middle).within(&inner);
        let now = within.state().await.unwrap().unwrap();
        let parents = [("".into(), outside.id), ("middle".into(), between.id)];
        assert_eq!(Vec::from_iter(now.parents.clone()), parents);
        // The call begins anew on a branch, and says so; what is there says what it said.
        thread.at(outside.id).run_again().context(Arc::clone(&world)).await.unwrap_err();
        let branch = thread.state().await.unwrap().unwrap().id;
        let there = within.state().await.unwrap().unwrap();
        assert_eq!(
            (there.parents[""], within.at(now.id).state().await.unwrap().unwrap().parents),
            (branch, now.parents)
        );
    })
    .await;
}

#[tokio::test]
async fn a_call_is_replayed_from_the_middle() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let inner = inner();
        let thread = place.thread(&outer(&inner));
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        world.ran();
        let within = thread.within(&inner);
        let history = within.history().await.unwrap();
        let middle = history.iter().find(|snapshot| next(snapshot) == "two").unwrap().id;
        let ended = within.at(middle).run_again().context(Arc::clone(&world)).await.unwrap();
        // `one` does not run again; the call's sibling does.
        assert_eq!(ran(&world), "beside last three two");
        assert_eq!(told(ended.state()), "x one two three beside last");
        // From the checkpoint that has planned it, a call begins anew.
        let planned = thread.history().await.unwrap();
        let planned = planned.iter().rev().find(|snapshot| next(snapshot) == "inner beside").unwrap().id;
        thread.at(planned).run_again().context(Arc::clone(&world)).await.unwrap();
        assert_eq!(ran(&world), "beside last one three two");
    })
    .await;
}

#[tokio::test]
async fn a_loop_calls_it_anew_each_time() {
    use superstep::Route;
    #[derive(Route)]
    enum Again {
        #[to("inner")]
        Again,
        #[to(END)]
        Enough,
    }
    async fn twice(story: &Story) -> Again {
        if story.log.len() < 6 { Again::Again } else { Again::Enough }
    }
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let inner = inner();
        let graph = story().edge(START, &inner).edge(&inner, twice).compile().unwrap();
        let ended = place.thread(&graph).run(begin("x")).context(world).await.unwrap();
        assert_eq!(told(ended.state()), "x one two three one two three");
    })
    .await;
}

#[tokio::test]
async fn a_run_that_is_dropped_within_a_call_is_gone_on_with() {
    use std::future::Future as _;
    use std::task::{Context, Waker};
    for polls in 0..40 {
        on_every_store(async |place| {
            let world = Arc::new(World::default());
            let graph = outer(&inner());
            {
                let thread = place.thread(&graph);
                let mut run = Box::pin(
                    thread
                        .run(begin("x"))
                        .durability(Durability::Sync)
                        .context(Arc::clone(&world))
                        .into_future(),
                );
                for _ in 0..polls {
                    let mut cx = Context::from_waker(Waker::noop());
                    if run.as_mut().poll(&mut cx).is_ready() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            }
            let thread = place.thread(&graph);
            let ended = match thread.state().await.unwrap() {
                // Another handle may not see yet what was handed over when the run was dropped.
                None => match thread.run(begin("x")).context(Arc::clone(&world)).await {
                    Err(error) if matches!(error.kind(), ErrorKind::PendingTasks { .. }) => {
                        thread.resume(()).context(Arc::clone(&world)).await.unwrap()
                    }
                    ended => ended.unwrap(),
                },
                Some(_) => thread.resume(()).context(Arc::clone(&world)).await.unwrap(),
            };
            assert_eq!(told(ended.state()), "x one two three beside last", "after {polls} polls");
        })
        .await;
    }
}

#[tokio::test]
async fn a_call_is_found_when_its_node_has_another_name() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["two"]);
        let thread = place.thread(&outer(&inner()));
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap_err();
        world.ran();
        world.breaks(&[]);
        let graph =
            story().edge(START, one).edge(one, two).edge(two, three).edge(three, END).compile().unwrap();
        let renamed = graph.as_node("renamed");
        let graph = story()
            .edge(START, (&renamed, beside))
            .join((&renamed, beside), last)
            .edge(last, END)
            .alias(&renamed, "inner")
            .compile()
            .unwrap();
        let ended = place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(ran(&world), "last three two");
        assert_eq!(told(ended.state()), "x one two three beside last");
    })
    .await;
}

#[tokio::test]
async fn a_run_that_is_told_to_stop_stops_within() {
    use superstep::run::Stop;
    use superstep::{ContextWith, Node, NodeError, named};

    struct Pull(Stop);

    impl Node<ContextWith<World>> for Pull {
        type Reads = Story;
        type Output = Result<super::story::StoryUpdate, NodeError>;

        async fn run(&self, _: &Story, cx: &ContextWith<World>) -> Self::Output {
            super::story::enter(cx, "pull").await?;
            self.0.drain();
            Ok(super::story::say("pull"))
        }
    }

    let graph = |stop: &Stop| {
        let pull = named("pull", Pull(stop.clone()));
        let inner = story().edge(START, &pull).edge(&pull, two).edge(two, END).compile().unwrap();
        let inner = inner.as_node("inner");
        story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap()
    };
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let stop = Stop::new();
        let graph = graph(&stop);
        let run = place.thread(&graph).run(begin("x")).stop_by(&stop).context(Arc::clone(&world));
        let outcome = run.await.unwrap();
        assert!(outcome.pause().unwrap().is_stopped());
        assert_eq!(ran(&world), "pull");
        let ended = place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(ran(&world), "last two");
        assert_eq!(told(ended.state()), "x pull two last");
    })
    .await;
}
