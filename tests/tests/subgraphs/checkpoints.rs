//! Checkpoints of subgraph calls: they are resumed, read and replayed.

use std::sync::Arc;

use superstep::subgraph::Subgraph;
use superstep::{Durability, END, ErrorKind, FailureMode, Graph, Route, START};

use super::stores::on_every_store;
use super::story::{Probe, Story, begin, log_of, next, recording_nodes, story};

recording_nodes! { one two three beside last }

fn inner() -> Subgraph<Story, Probe> {
    let graph = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
    graph.compile().unwrap().as_node("inner")
}

/// Returns the nodes that ran, sorted: a call and its sibling run concurrently.
fn ran_sorted(probe: &Probe) -> String {
    let ran = probe.ran();
    let mut ran: Vec<&str> = ran.split_whitespace().collect();
    ran.sort_unstable();
    ran.join(" ")
}

fn outer(inner: &Subgraph<Story, Probe>) -> Graph<Story, Probe> {
    story().edge(START, (inner, beside)).join((inner, beside), last).edge(last, END).compile().unwrap()
}

#[tokio::test]
async fn finished_nodes_inside_do_not_run_again() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let probe = Arc::new(Probe::default());
            probe.set_failing(&["two"]);
            let graph = outer(&inner());
            let run = store.thread(&graph).run(begin("x")).durability(durability).context(Arc::clone(&probe));
            let error = run.await.unwrap_err();
            assert!(format!("{error:?}").contains("`two`"), "{error:?}");
            assert_eq!(ran_sorted(&probe), "beside one two");

            probe.set_failing(&["three"]);
            let thread = store.thread(&graph);
            let run = thread.resume(()).durability(durability).context(Arc::clone(&probe));
            assert!(run.await.is_err());
            assert_eq!(ran_sorted(&probe), "three two");

            probe.set_failing(&[]);
            let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(ran_sorted(&probe), "last three");
            assert_eq!(log_of(ended.state()), "x one two three beside last");
        })
        .await;
    }
}

#[tokio::test]
async fn call_state_and_history_can_be_read() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["two"]);
        let inner = inner();
        let thread = store.thread(&outer(&inner));
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap_err();
        let within = thread.within(&inner);
        let now = within.state().await.unwrap().unwrap();
        assert_eq!((now.step, next(&now).as_str(), &*now.namespace), (1, "two", "inner"));
        assert_eq!(log_of(&now.state.unwrap()), "x one");
        assert!(now.tasks[0].error.as_ref().unwrap().text.contains("two"));
        let steps: Vec<i64> = within.history().await.unwrap().iter().map(|snapshot| snapshot.step).collect();
        assert_eq!(steps, [1, 0]);
        // The history of the thread itself has none of the call's checkpoints.
        let outside = thread.history().await.unwrap();
        assert!(outside.iter().all(|snapshot| snapshot.namespace.is_empty() && snapshot.step <= 0));
    })
    .await;
}

#[tokio::test]
async fn call_snapshot_names_its_parent_checkpoints() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["two"]);
        let inner = inner();
        let middle = story().edge(START, beside).edge(beside, &inner).edge(&inner, END).compile().unwrap();
        let middle = middle.as_node("middle");
        let graph = story().edge(START, &middle).edge(&middle, last).edge(last, END).compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap_err();
        let outside = thread.state().await.unwrap().unwrap();
        assert!(outside.parents.is_empty());
        let between = thread.within(&middle).state().await.unwrap().unwrap();
        assert_eq!(Vec::from_iter(between.parents), [("".into(), outside.id)]);
        let within = thread.within(&middle).within(&inner);
        let now = within.state().await.unwrap().unwrap();
        let parents = [("".into(), outside.id), ("middle".into(), between.id)];
        assert_eq!(Vec::from_iter(now.parents.clone()), parents);
        // On a branch, the call starts again with the branch's parents. Older snapshots keep theirs.
        thread.at(outside.id).run_again().context(Arc::clone(&probe)).await.unwrap_err();
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
async fn call_replays_from_the_middle() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let inner = inner();
        let thread = store.thread(&outer(&inner));
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        probe.ran();
        let within = thread.within(&inner);
        let history = within.history().await.unwrap();
        let middle = history.iter().find(|snapshot| next(snapshot) == "two").unwrap().id;
        let ended = within.at(middle).run_again().context(Arc::clone(&probe)).await.unwrap();
        // `one` does not run again; the call's sibling does.
        assert_eq!(ran_sorted(&probe), "beside last three two");
        assert_eq!(log_of(ended.state()), "x one two three beside last");
        // From the checkpoint that planned it, the call starts again.
        let planned = thread.history().await.unwrap();
        let planned = planned.iter().rev().find(|snapshot| next(snapshot) == "inner beside").unwrap().id;
        thread.at(planned).run_again().context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(ran_sorted(&probe), "beside last one three two");
    })
    .await;
}

/// The replay is stored, so a run that is resumed in another process continues it.
#[tokio::test]
async fn stopped_replay_continues_the_call_from_the_middle() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let inner = inner();
        let thread = store.thread(&outer(&inner));
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let within = thread.within(&inner);
        let history = within.history().await.unwrap();
        let middle = history.iter().find(|snapshot| next(snapshot) == "two").unwrap().id;
        for dropped in [false, true] {
            probe.ran();
            let again = within.at(middle).run_again().interrupt_before(&inner).context(Arc::clone(&probe));
            match dropped {
                true => drop(again.start().await.unwrap()),
                false => assert_eq!(again.await.unwrap().pause().unwrap().before(), ["inner"]),
            }
            assert_eq!(probe.ran(), "");
            let fork = thread.state().await.unwrap().unwrap().id;
            let resumed = store.thread(&outer(&inner)).resume(()).context(Arc::clone(&probe));
            assert_eq!(log_of(resumed.await.unwrap().state()), "x one two three beside last");
            assert_eq!(ran_sorted(&probe), "beside last three two", "dropped: {dropped}");
            // A replay from the fork itself begins the call anew.
            thread.at(fork).run_again().context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(ran_sorted(&probe), "beside last one three two");
        }
    })
    .await;
}

/// The call continues from the checkpoint once. Neither a resumption nor a later call of the same node goes back there.
#[tokio::test]
async fn replay_continues_from_the_checkpoint_once() {
    #[derive(Route)]
    enum Then {
        #[to("inner")]
        Again,
        #[to(END)]
        Enough,
    }
    async fn turn(story: &Story) -> Then {
        if story.log.iter().filter(|line| *line == "three").count() < 2 { Then::Again } else { Then::Enough }
    }
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let inner = inner();
        let graph = story().edge(START, (&inner, beside)).edge(&inner, turn).edge(beside, END);
        let graph = graph.on_failure(FailureMode::Collect).compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let within = thread.within(&inner);
        let history = within.history().await.unwrap();
        let middle = history.iter().rfind(|snapshot| next(snapshot) == "two").unwrap().id;
        probe.ran();
        probe.set_failing(&["three", "beside"]);
        within.at(middle).run_again().context(Arc::clone(&probe)).await.unwrap_err();
        assert_eq!(ran_sorted(&probe), "beside three two");
        probe.set_failing(&["beside"]);
        store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap_err();
        assert_eq!(ran_sorted(&probe), "beside three");
        probe.set_failing(&[]);
        let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one two three beside one two three");
        assert_eq!(ran_sorted(&probe), "beside one three two");
    })
    .await;
}

#[tokio::test]
async fn loop_starts_a_new_call_each_time() {
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
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let inner = inner();
        let graph = story().edge(START, &inner).edge(&inner, twice).compile().unwrap();
        let ended = store.thread(&graph).run(begin("x")).context(probe).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one two three one two three");
    })
    .await;
}

#[tokio::test]
async fn run_dropped_inside_a_call_continues() {
    use std::future::Future as _;
    use std::task::{Context, Waker};
    for polls in 0..40 {
        on_every_store(async |store| {
            let probe = Arc::new(Probe::default());
            let graph = outer(&inner());
            {
                let thread = store.thread(&graph);
                let mut run =
                    Box::pin(thread.run(begin("x")).durability(Durability::Sync).context(Arc::clone(&probe)));
                for _ in 0..polls {
                    let mut cx = Context::from_waker(Waker::noop());
                    if run.as_mut().poll(&mut cx).is_ready() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            }
            let thread = store.thread(&graph);
            let ended = loop {
                let ended = match thread.state().await.unwrap() {
                    None => thread.run(begin("x")).context(Arc::clone(&probe)).await,
                    Some(_) => thread.resume(()).context(Arc::clone(&probe)).await,
                };
                match ended {
                    // Another handle may not yet see the batch that the dropped run submitted.
                    Err(error)
                        if matches!(
                            error.kind(),
                            ErrorKind::PendingTasks { .. } | ErrorKind::Conflict(_)
                        ) => {}
                    ended => break ended.unwrap(),
                }
            };
            assert_eq!(log_of(ended.state()), "x one two three beside last", "after {polls} polls");
        })
        .await;
    }
}

#[tokio::test]
async fn alias_finds_the_call_of_a_renamed_node() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["two"]);
        let thread = store.thread(&outer(&inner()));
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap_err();
        probe.ran();
        probe.set_failing(&[]);
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
        let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(ran_sorted(&probe), "last three two");
        assert_eq!(log_of(ended.state()), "x one two three beside last");
    })
    .await;
}

#[tokio::test]
async fn drained_run_stops_inside_the_subgraph() {
    use superstep::run::Stop;
    use superstep::{ContextWith, Node, NodeError, named};

    struct Pull(Stop);

    impl Node<ContextWith<Probe>> for Pull {
        type Reads = Story;
        type Output = Result<super::story::StoryUpdate, NodeError>;

        async fn run(&self, _: &Story, cx: &ContextWith<Probe>) -> Self::Output {
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
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let stop = Stop::new();
        let graph = graph(&stop);
        let run = store.thread(&graph).run(begin("x")).stop_by(&stop).context(Arc::clone(&probe));
        let outcome = run.await.unwrap();
        assert!(outcome.pause().unwrap().is_stopped());
        assert_eq!(ran_sorted(&probe), "pull");
        let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(ran_sorted(&probe), "last two");
        assert_eq!(log_of(ended.state()), "x pull two last");
    })
    .await;
}
