//! Continued subgraph calls: after failures, pruning, replays, copies and dropped runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::Prune;
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::subgraph::{ParentCommand, Subgraph};
use superstep::thread::as_node;
use superstep::{
    ContextWith, Durability, END, ErrorKind, FailureMode, Graph, Node, NodeError, Overwrite, Route, START,
    named,
};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, next, recording_nodes, say, story};

recording_nodes! { one two three beside last helper }

#[derive(Serialize, Deserialize, Debug)]
struct Ask {
    what: String,
}

impl Question for Ask {
    type Answer = bool;

    // So that a wrong answer reaches the node.
    fn answer_schema() -> Option<serde_json::Value> {
        None
    }
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Ask { what: "ask".into() }).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

async fn count(story: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let seen = format!("n{}", story.log.len());
    cx.context().note(&seen);
    Ok(say(seen))
}

fn ran_sorted(probe: &Probe) -> String {
    let ran = probe.ran();
    let mut ran: Vec<&str> = ran.split_whitespace().collect();
    ran.sort_unstable();
    ran.join(" ")
}

fn probe() -> Arc<Probe> {
    Arc::new(Probe::default())
}

macro_rules! mapped {
    ($graph:expr, $name:expr) => {
        $graph
            .compile()
            .unwrap()
            .as_node($name)
            .mapped(|_: &Story| begin("in"), |done| say(done.appended(|story: &Story| &story.log).join("+")))
    };
}

#[tokio::test]
async fn replay_from_the_middle_returns_the_whole_call() {
    for per_thread in [false, true] {
        on_every_store(async |store| {
            let probe = probe();
            let inner = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
            let inner = mapped!(inner, "inner");
            let inner = if per_thread { inner.per_thread() } else { inner };
            let graph = story().edge(START, &inner).edge(&inner, END).compile().unwrap();
            let thread = store.thread(&graph);
            thread.run(begin("w")).context(Arc::clone(&probe)).await.unwrap();
            let ended = thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(log_of(ended.state()), "w one+two+three x one+two+three");
            probe.ran();
            let within = thread.within(&inner);
            let history = within.history().await.unwrap();
            let middle = history.iter().find(|snapshot| next(snapshot) == "two").unwrap().id;
            let ended = within.at(middle).run_again().context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(ran_sorted(&probe), "three two");
            assert_eq!(log_of(ended.state()), "w one+two+three x one+two+three", "per_thread {per_thread}");
        })
        .await;
    }
}

#[tokio::test]
async fn pruning_keeps_the_state_of_each_key() {
    on_every_store(async |store| {
        let probe = probe();
        let inner = mapped!(story().edge(START, count).edge(count, END), "inner")
            .keyed(|story: &Story| story.value.unwrap_or(0).to_string());
        let graph = story().edge(START, &inner).edge(&inner, END).compile().unwrap();
        let thread = store.thread(&graph);
        for key in [1, 2, 2_u32] {
            thread.run(begin("x").value(key)).context(Arc::clone(&probe)).await.unwrap();
        }
        assert_eq!(probe.ran(), "n1 n1 n3");
        let stored = graph.with_checkpointer(store.open());
        stored.prune(Prune::new().keep_last(1)).await.unwrap();
        thread.run(begin("x").value(2_u32)).context(Arc::clone(&probe)).await.unwrap();
        thread.run(begin("x").value(1_u32)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(probe.ran(), "n5 n3");
    })
    .await;
}

#[tokio::test]
async fn pruning_keeps_the_start_of_a_waiting_call() {
    let inner = story().edge(START, one).edge(one, two).edge(two, ask).edge(ask, END);
    let inner = mapped!(inner, "inner").per_thread();
    let deep = story().edge(START, &inner).edge(&inner, END).compile().unwrap().as_node("deep");
    let deep = deep
        .mapped(|_: &Story| begin("deep"), |done| say(done.appended(|story: &Story| &story.log).join(" ")));
    let deep = deep.per_thread();
    let graph = story().edge(START, &deep).edge(&deep, last).edge(last, END).compile().unwrap();
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let probe = probe();
            for text in ["x", "y"] {
                let thread = store.thread(&graph);
                thread.run(begin(text)).durability(durability).context(Arc::clone(&probe)).await.unwrap();
                let stored = graph.with_checkpointer(store.open());
                stored.prune(Prune::new().keep_last(1)).await.unwrap();
                let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
                let run = thread.resume(asked.answer(true)).durability(durability);
                let ended = run.context(Arc::clone(&probe)).await.unwrap();
                if text == "y" {
                    let all = "x one+two+ask true last y one+two+ask true last";
                    assert_eq!(log_of(ended.state()), all, "{durability:?}");
                }
            }
        })
        .await;
    }
}

#[tokio::test]
async fn pruned_call_can_be_read_and_replayed() {
    let deep = story().edge(START, one).edge(one, two).edge(two, END).compile().unwrap().as_node("deep");
    let inner = story().edge(START, &deep).edge(&deep, three).edge(three, END).compile().unwrap();
    let inner = inner.as_node("inner");
    let graph = story().edge(START, beside).edge(beside, &inner).edge(&inner, last).edge(last, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let thread = store.thread(&graph);
        for text in ["x", "y"] {
            thread.run(begin(text)).context(Arc::clone(&probe)).await.unwrap();
        }
        let stored = graph.with_checkpointer(store.open());
        stored.prune(Prune::new().keep_last(2)).await.unwrap();
        probe.ran();
        let within = thread.within(&inner);
        let history = within.history().await.unwrap();
        // A retained checkpoint of the nested call needs the last one.
        assert_eq!(history.iter().map(next).collect::<Vec<_>>(), ["", "three", "deep"]);
        let all = "x beside one two three last y beside one two";
        assert_eq!(log_of(history[1].state.as_ref().unwrap()), all);
        let deepest = within.clone().within(&deep).history().await.unwrap();
        assert_eq!(deepest.len(), 2);
        assert_eq!(log_of(deepest[0].state.as_ref().unwrap()), all);
        let ended = within.at(history[1].id).run_again().context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), format!("{all} three last"));
        assert_eq!(probe.ran(), "three last");
    })
    .await;
}

#[derive(Route)]
enum Hand {
    #[to("helper")]
    Over,
}

#[tokio::test]
async fn next_call_continues_after_a_parent_command() {
    async fn speak(_: &Story) -> ParentCommand<Story, Hand> {
        ParentCommand::update(say("said")).goto(Hand::Over)
    }
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let probe = probe();
            let inner = story().edge(START, count).edge(count, speak).edge(speak, END);
            let inner = mapped!(inner, "inner").per_thread();
            let graph = story().edge(START, &inner).edge(&inner, END).edge(helper, END).compile().unwrap();
            let thread = store.thread(&graph);
            for _ in 0..2 {
                thread.run(begin("x")).durability(durability).context(Arc::clone(&probe)).await.unwrap();
            }
            assert_eq!(probe.ran(), "n1 helper n3 helper", "{durability:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn parent_command_applies_once_wherever_the_run_is_dropped() {
    use std::task::{Context, Waker};
    async fn speak(_: &Story, cx: &ContextWith<Probe>) -> Result<ParentCommand<Story, Vec<Hand>>, NodeError> {
        cx.step("paid", async { Ok::<_, std::io::Error>(1_u32) }).await?;
        Ok(ParentCommand::update(say("said")).goto(vec![Hand::Over, Hand::Over]))
    }
    for polls in 0..40 {
        on_every_store(async |store| {
            let probe = probe();
            let deep = story().edge(START, one).edge(one, speak).edge(speak, two).edge(two, END);
            let bot = deep.compile().unwrap().as_node("bot");
            let graph =
                story().edge(START, (&bot, beside)).edge(&bot, last).edge(last, END).edge(helper, END);
            let graph = graph.edge(beside, END).compile().unwrap();
            {
                let thread = store.thread(&graph);
                let run = thread.run(begin("x")).durability(Durability::Sync).context(Arc::clone(&probe));
                let mut run = Box::pin(run);
                for _ in 0..polls {
                    if run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            }
            let thread = store.thread(&graph);
            let ended = match thread.state().await.unwrap() {
                // Another handle may not yet see the batch that the dropped run submitted.
                None => match thread.run(begin("x")).context(Arc::clone(&probe)).await {
                    Err(error) if matches!(error.kind(), ErrorKind::PendingTasks { .. }) => {
                        thread.resume(()).context(Arc::clone(&probe)).await.unwrap()
                    }
                    ended => ended.unwrap(),
                },
                Some(_) => thread.resume(()).context(Arc::clone(&probe)).await.unwrap(),
            };
            assert_eq!(log_of(ended.state()), "x one said beside helper", "after {polls} polls");
        })
        .await;
    }
}

#[tokio::test]
async fn two_calls_can_be_answered_in_any_order() {
    for order in [[0, 1], [1, 0]] {
        for durability in [Durability::Sync, Durability::Exit] {
            on_every_store(async |store| {
                let probe = probe();
                let a = story().edge(START, one).edge(one, ask).edge(ask, two).edge(two, END);
                let a = a.compile().unwrap().as_node("a");
                let b = mapped!(story().edge(START, one).edge(one, ask).edge(ask, END), "b").per_thread();
                let graph = story().edge(START, (&a, &b)).join((&a, &b), last).edge(last, END);
                let graph = graph.compile().unwrap();
                let thread = store.thread(&graph);
                thread.run(begin("x")).durability(durability).context(Arc::clone(&probe)).await.unwrap();
                let asked = thread.interrupts().await.unwrap().all::<Ask>().unwrap();
                assert_eq!(asked.len(), 2);
                let wrong =
                    thread.interrupts().await.unwrap().interrupts()[order[0]].answer_json("no".into());
                let wrong = thread.resume(wrong).durability(durability).context(Arc::clone(&probe)).await;
                let wrong = format!("{wrong:?}");
                let thread = store.thread(&graph);
                let now = thread.interrupts().await.unwrap();
                assert_eq!(now.interrupts().len(), 2, "{wrong}");
                let first = thread.resume(asked[order[0]].answer(true)).durability(durability);
                let paused = first.context(Arc::clone(&probe)).await.unwrap();
                assert_eq!(paused.pause().unwrap().interrupts().len(), 1);
                assert_eq!(store.thread(&graph).interrupts().await.unwrap().interrupts().len(), 1);
                let thread = store.thread(&graph);
                let ended = thread.resume(asked[order[1]].answer(true)).context(Arc::clone(&probe)).await;
                assert_eq!(log_of(ended.unwrap().state()), "x one ask true two one+ask true last");
                assert_eq!(ran_sorted(&probe), "ask ask last one one two");
            })
            .await;
        }
    }
}

struct Flaky(Arc<AtomicU32>, bool);

impl Node<ContextWith<Probe>> for Flaky {
    type Reads = Story;
    type Output = Result<StoryUpdate, NodeError>;

    async fn run(&self, _: &Story, cx: &ContextWith<Probe>) -> Self::Output {
        enter(cx, "flaky").await?;
        let more =
            self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        if more && self.1 {
            tokio::time::sleep(Duration::from_secs(3600)).await;
        }
        if more { Err(NodeError::msg("flaky")) } else { Ok(say("flaky")) }
    }
}

#[tokio::test]
async fn retry_continues_the_call() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for stored in [true, false] {
            on_every_store(async |store| {
                let probe = probe();
                let left = Arc::new(AtomicU32::new(2));
                let flaky = named("flaky", Flaky(Arc::clone(&left), false));
                let inner = story().edge(START, one).edge(one, &flaky).edge(&flaky, two).edge(two, END);
                let inner = inner.compile().unwrap().as_node("inner");
                let graph = story().edge(START, (&inner, beside)).edge(&inner, END).edge(beside, END).policy(
                    &inner,
                    Policy::new().retry(Retry::attempts(3).backoff(Duration::from_millis(1))),
                );
                let graph = graph.compile().unwrap();
                let ended = if stored {
                    let thread = store.thread(&graph);
                    thread.run(begin("x")).durability(durability).context(Arc::clone(&probe)).await.unwrap()
                } else {
                    graph.run(begin("x")).context(Arc::clone(&probe)).await.unwrap()
                };
                assert_eq!(log_of(ended.state()), "x one flaky two beside");
                assert_eq!(ran_sorted(&probe), "beside flaky flaky flaky one two");
            })
            .await;
        }
    }
}

#[tokio::test]
async fn call_dropped_by_a_timeout_continues_on_resume() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let probe = probe();
            let left = Arc::new(AtomicU32::new(1));
            let flaky = named("flaky", Flaky(Arc::clone(&left), true));
            let inner = story().edge(START, one).edge(one, &flaky).edge(&flaky, two).edge(two, END);
            let inner = inner.compile().unwrap().as_node("inner");
            let graph = story().edge(START, &inner).edge(&inner, END).compile().unwrap();
            let thread = store.thread(&graph);
            let run = thread.run(begin("x")).durability(durability);
            let run = run.superstep_timeout(Duration::from_millis(300)).context(Arc::clone(&probe));
            let error = run.await.unwrap_err();
            let ended = thread.resume(()).context(Arc::clone(&probe)).await;
            let ended = ended.unwrap_or_else(|second| panic!("{error:?} then {second:?}"));
            assert_eq!(log_of(ended.state()), "x one flaky two");
            if durability != Durability::Exit {
                assert_eq!(ran_sorted(&probe), "flaky flaky one two", "{durability:?}");
            }
        })
        .await;
    }
}

fn asking() -> (Subgraph<Story, Probe>, Graph<Story, Probe>) {
    let deep = story().edge(START, one).edge(one, ask).edge(ask, two).edge(two, END);
    let inner = deep.compile().unwrap().as_node("inner");
    let graph = story().edge(START, (&inner, beside)).join((&inner, beside), last).edge(last, END);
    let graph = graph.compile().unwrap();
    (inner, graph)
}

#[tokio::test]
async fn failed_sibling_leaves_the_interrupt_open() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let probe = probe();
            probe.set_failing(&["beside"]);
            let (_, graph) = asking();
            let run = store.thread(&graph).run(begin("x")).durability(durability);
            let run = run.on_failure(FailureMode::Collect).context(Arc::clone(&probe));
            assert!(run.await.is_err());
            probe.ran();
            probe.set_failing(&[]);
            let run = store.thread(&graph).resume(()).durability(durability).context(Arc::clone(&probe));
            run.await.unwrap();
            assert_eq!(ran_sorted(&probe), "beside", "{durability:?}");
            let thread = store.thread(&graph);
            let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
            let ended = thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(log_of(ended.state()), "x one ask true two beside last");
        })
        .await;
    }
}

#[tokio::test]
async fn copied_thread_continues_in_its_own_call() {
    on_every_store(async |store| {
        let probe = probe();
        let (inner, graph) = asking();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let copy = thread.copy("copy").await.unwrap();
        let stored = graph.with_checkpointer(store.open());
        stored.prune(Prune::new().keep_last(1)).await.unwrap();
        probe.ran();
        for thread in [&copy, &thread] {
            let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
            let ended = thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(log_of(ended.state()), "x one ask true two beside last");
            assert_eq!(probe.ran(), "ask two last");
        }
        assert!(copy.delete().await.unwrap());
        assert!(copy.within(&inner).state().await.unwrap().is_none());
        assert!(thread.within(&inner).state().await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn abandoned_call_is_not_continued() {
    on_every_store(async |store| {
        let probe = probe();
        let inner = story().edge(START, count).edge(count, ask).edge(ask, END);
        let inner = mapped!(inner, "inner").per_thread();
        let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(begin("a")).context(Arc::clone(&probe)).await.unwrap();
        let old = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        thread.run(begin("b")).abandon_pending().context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(probe.ran(), "n1 n1");
        assert!(thread.resume(old.answer(true)).context(Arc::clone(&probe)).await.is_err());
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "a b n1+ask true last");
        assert_eq!(probe.ran(), "ask last");
        // `update` as the node replaces a half-finished call.
        thread.run(begin("c")).context(Arc::clone(&probe)).await.unwrap();
        thread.update(say("by hand"), as_node(&inner)).context(Arc::clone(&probe)).await.unwrap();
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "a b n1+ask true last c by hand last");
        thread.run(begin("d")).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(probe.ran(), "n4 last n4");
    })
    .await;
}

#[tokio::test]
async fn nested_call_replays_and_asks_again() {
    on_every_store(async |store| {
        let probe = probe();
        let deep = story().edge(START, one).edge(one, ask).edge(ask, two).edge(two, END);
        let deep = deep.compile().unwrap().as_node("de/ep#1:%ü");
        let middle = story().edge(START, three).edge(three, &deep).edge(&deep, END);
        let middle = mapped!(middle, "mi/d#2:é").per_thread();
        let graph = story().edge(START, &middle).edge(&middle, last).edge(last, END).compile().unwrap();
        let thread = store.thread(&graph);
        for text in ["x", "y"] {
            thread.run(begin(text)).context(Arc::clone(&probe)).await.unwrap();
            let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
            thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        }
        probe.ran();
        let within = thread.within(&middle).within(&deep);
        let history = within.history().await.unwrap();
        let at = |what: &str| history.iter().find(|snapshot| next(snapshot) == what).unwrap().id;
        let ended = within.at(at("two")).run_again().context(Arc::clone(&probe)).await.unwrap();
        let all = "x three+one+ask true+two last y three+one+ask true+two last";
        assert_eq!(probe.ran(), "two last");
        assert_eq!(log_of(ended.state()), all);
        within.at(at("ask")).run_again().context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(probe.ran(), "");
        let asked = store.thread(&graph).interrupts().await.unwrap().only::<Ask>().unwrap();
        let ended =
            store.thread(&graph).resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(probe.ran(), "ask two last");
        assert_eq!(log_of(ended.state()), all);
    })
    .await;
}

#[tokio::test]
async fn overwrite_survives_an_interrupt() {
    async fn clear(_: &Story) -> StoryUpdate {
        Story::update().log(Overwrite(vec!["clean".to_owned()]))
    }
    on_every_store(async |store| {
        let probe = probe();
        let inner = story().edge(START, one).edge(one, clear).edge(clear, two).edge(two, ask).edge(ask, END);
        let inner = inner.compile().unwrap().as_node("inner");
        let middle = story().edge(START, &inner).edge(&inner, three).edge(three, END);
        let middle = middle.compile().unwrap().as_node("middle");
        let graph = story().edge(START, &middle).edge(&middle, last).edge(last, END).compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let ended =
            store.thread(&graph).resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "clean two ask true three last");
    })
    .await;
}

#[tokio::test]
async fn per_thread_call_returns_only_its_new_entries() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let probe = probe();
            let inner = story().edge(START, count).edge(count, ask).edge(ask, END);
            let inner = mapped!(inner, "inner").per_thread();
            let graph = story().edge(START, &inner).edge(&inner, END).compile().unwrap();
            for _ in 0..2 {
                let thread = store.thread(&graph);
                thread.run(begin("x")).durability(durability).context(Arc::clone(&probe)).await.unwrap();
                let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
                let run = thread.resume(asked.answer(true)).durability(durability);
                run.context(Arc::clone(&probe)).await.unwrap();
            }

            assert_eq!(probe.ran(), "n1 ask n4 ask", "{durability:?}");
            let ended = store.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
            assert_eq!(log_of(&ended), "x n1+ask true x n4+ask true", "{durability:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn per_thread_state_persists_with_every_durability() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for with_successor in [false, true] {
            on_every_store(async |store| {
                let probe = probe();
                let inner = mapped!(story().edge(START, count).edge(count, END), "inner").per_thread();
                let graph = match with_successor {
                    false => story().edge(START, &inner).edge(&inner, END),
                    true => story().edge(START, &inner).edge(&inner, last).edge(last, END),
                };
                let graph = graph.compile().unwrap();
                for _ in 0..3 {
                    let thread = store.thread(&graph);
                    thread.run(begin("x")).durability(durability).context(Arc::clone(&probe)).await.unwrap();
                }

                assert_eq!(probe.ran().replace(" last", ""), "n1 n3 n5", "{durability:?} {with_successor}");
            })
            .await;
        }
    }
}
