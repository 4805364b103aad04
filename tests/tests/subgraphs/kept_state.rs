//! Subgraphs that keep their state on the thread, inside subgraphs that begin anew with each call.

use std::sync::Arc;

use expect_test::expect;
use serde::{Deserialize, Serialize};
use superstep::checkpoint::{MemoryCheckpointer, Prune};
use superstep::interrupt::Question;
use superstep::subgraph::{CallResult, Mapped, Subgraph};
use superstep::workflow::{Final, Flow, Workflow};
use superstep::{ContextWith, Durability, END, Graph, NodeError, Route, START, StateGraph};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryInput, StoryUpdate, begin, enter, next, recording_nodes, say, story};

recording_nodes! { one last }

const DURABILITIES: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

#[derive(Serialize, Deserialize, Debug)]
struct Ask;

impl Question for Ask {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Ask).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

async fn count(story: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let seen = format!("n{}", story.log.len());
    cx.context().note(&seen);
    Ok(say(seen))
}

/// A node whose step stores its checkpoint with every durability.
async fn paid(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    cx.step("pay", async { Ok::<_, std::io::Error>(1_u32) }).await?;
    Ok(say("paid"))
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

type Kept = Subgraph<
    Story,
    Probe,
    Mapped<Story, fn(&Story) -> StoryInput, fn(CallResult<Story>) -> StoryUpdate, StoryUpdate>,
>;

/// A subgraph that keeps its state.
fn kept(graph: StateGraph<Story, Probe>) -> Kept {
    let input: fn(&Story) -> StoryInput = |_| begin("in");
    let output: fn(CallResult<Story>) -> StoryUpdate =
        |done| say(done.appended(|story| &story.log).join("+"));
    graph.compile().unwrap().as_node("counter").mapped(input, output).per_thread()
}

/// A subgraph that keeps its state and notes the number of items in it.
fn counter() -> Kept {
    kept(story().edge(START, count).edge(count, END))
}

/// A graph with the counter inside a subgraph that begins anew with each call, on the parent state or on its own.
fn around(inner: &Kept, shared: bool) -> Graph<Story, Probe> {
    let outer = story().edge(START, one).edge(one, inner).edge(inner, END);
    let graph = match shared {
        true => {
            let outer = outer.compile().unwrap().as_node("outer");
            story().edge(START, &outer).edge(&outer, paid)
        }
        false => {
            let outer = mapped!(outer, "outer");
            story().edge(START, &outer).edge(&outer, paid)
        }
    };
    graph.edge(paid, END).compile().unwrap()
}

fn probe() -> Arc<Probe> {
    Arc::new(Probe::default())
}

/// Returns the recorded counts.
fn counts(probe: &Probe) -> String {
    let ran = probe.ran();
    ran.split_whitespace().filter(|ran| ran.starts_with('n')).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn state_is_kept_inside_calls_that_begin_anew() {
    for shared in [true, false] {
        for durability in DURABILITIES {
            on_every_store(async |store| {
                let (probe, graph) = (probe(), around(&counter(), shared));
                for _ in 0..3 {
                    let run = store.thread(&graph).run(begin("x")).durability(durability);
                    run.context(Arc::clone(&probe)).await.unwrap();
                }
                assert_eq!(counts(&probe), "n1 n3 n5", "{durability:?}, shared {shared}");
            })
            .await;
        }
    }
}

#[tokio::test]
async fn state_is_kept_several_levels_deep() {
    for durability in DURABILITIES {
        on_every_store(async |store| {
            let probe = probe();
            let inner = counter();
            let keyed = story().edge(START, &inner).edge(&inner, END);
            let keyed = mapped!(keyed, "keyed").keyed(|story: &Story| story.value.unwrap_or(0).to_string());
            let middle = story().edge(START, &keyed).edge(&keyed, END).compile().unwrap().as_node("middle");
            let outer = story().edge(START, &middle).edge(&middle, END).compile().unwrap().as_node("outer");
            let graph = story().edge(START, &outer).edge(&outer, last).edge(last, END).compile().unwrap();
            for key in [1, 2, 1, 1, 2_u32] {
                let run = store.thread(&graph).run(begin("x").value(key)).durability(durability);
                run.context(Arc::clone(&probe)).await.unwrap();
            }
            assert_eq!(counts(&probe), "n1 n1 n3 n5 n3", "{durability:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn loop_inside_a_call_continues_its_own_state() {
    #[derive(Route)]
    enum Again {
        #[to("counter")]
        Again,
        #[to(END)]
        Done,
    }
    async fn again(story: &Story) -> Again {
        if story.log.len().is_multiple_of(3) { Again::Done } else { Again::Again }
    }
    on_every_store(async |store| {
        let (probe, inner) = (probe(), counter());
        let outer = mapped!(story().edge(START, &inner).edge(&inner, again), "outer");
        let graph = story().edge(START, &outer).edge(&outer, END).compile().unwrap();
        for _ in 0..2 {
            store.thread(&graph).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        }
        assert_eq!(counts(&probe), "n1 n3 n5 n7");
    })
    .await;
}

#[tokio::test]
async fn branch_has_its_own_state_inside_calls() {
    for shared in [true, false] {
        on_every_store(async |store| {
            let (probe, graph) = (probe(), around(&counter(), shared));
            let thread = store.thread(&graph);
            thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
            let first = thread.state().await.unwrap().unwrap().id;
            for _ in 0..2 {
                thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
            }
            assert_eq!(counts(&probe), "n1 n3 n5");
            let history = thread.history().await.unwrap();
            let planned = |snapshot: &&superstep::thread::Snapshot<Story>| next(snapshot) == "outer";
            let second = history.iter().filter(planned).nth(1).unwrap().id;
            thread.at(first).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
            thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(counts(&probe), "n3 n5", "a fork after the first call");
            thread.at(second).run_again().context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(counts(&probe), "n3", "a replay of the second call");
        })
        .await;
    }
}

#[tokio::test]
async fn pruning_keeps_the_state_inside_calls() {
    for durability in DURABILITIES {
        for shared in [true, false] {
            on_every_store(async |store| {
                let (probe, graph) = (probe(), around(&counter(), shared));
                let stored = graph.with_checkpointer(store.open());
                for _ in 0..3 {
                    let run = stored.thread("t").run(begin("x")).durability(durability);
                    run.context(Arc::clone(&probe)).await.unwrap();
                    stored.prune(Prune::new().keep_last(1)).await.unwrap();
                }
                assert_eq!(counts(&probe), "n1 n3 n5", "{durability:?}, shared {shared}");
            })
            .await;
        }
    }
}

#[tokio::test]
async fn answered_call_leaves_its_state_for_the_next() {
    for durability in DURABILITIES {
        on_every_store(async |store| {
            let probe = probe();
            let inner = story().edge(START, count).edge(count, ask).edge(ask, END);
            let graph = around(&kept(inner), true);
            for _ in 0..3 {
                let run = store.thread(&graph).run(begin("x")).durability(durability);
                run.context(Arc::clone(&probe)).await.unwrap();
                let thread = store.thread(&graph);
                let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
                let run = thread.resume(asked.answer(true)).durability(durability);
                run.context(Arc::clone(&probe)).await.unwrap();
                graph.with_checkpointer(store.open()).prune(Prune::new().keep_last(1)).await.unwrap();
            }
            assert_eq!(counts(&probe), "n1 n4 n7", "{durability:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn abandoned_call_leaves_no_state() {
    for durability in DURABILITIES {
        on_every_store(async |store| {
            let probe = probe();
            let inner = counter();
            let outer = story().edge(START, &inner).edge(&inner, ask).edge(ask, END);
            let outer = outer.compile().unwrap().as_node("outer");
            let graph = story().edge(START, &outer).edge(&outer, END).compile().unwrap();
            let thread = store.thread(&graph);
            let run = || thread.run(begin("x")).durability(durability).context(Arc::clone(&probe));
            run().await.unwrap();
            run().abandon_pending().await.unwrap();
            assert_eq!(counts(&probe), "n1 n1", "{durability:?}");
            let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
            thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
            run().await.unwrap();
            assert_eq!(counts(&probe), "n3", "{durability:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn abandoned_finished_call_leaves_no_state() {
    let inner = counter();
    let graph = story().edge(START, (&inner, ask)).edge(&inner, END).edge(ask, END).compile().unwrap();
    for durability in DURABILITIES {
        on_every_store(async |store| {
            let probe = probe();
            let thread = store.thread(&graph);
            let run = || thread.run(begin("x")).durability(durability).context(Arc::clone(&probe));
            run().await.unwrap();
            run().abandon_pending().await.unwrap();
            assert_eq!(counts(&probe), "n1 n1", "{durability:?}");
            let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
            thread
                .resume(asked.answer(true))
                .durability(durability)
                .context(Arc::clone(&probe))
                .await
                .unwrap();
            run().await.unwrap();
            assert_eq!(counts(&probe), "n3", "{durability:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn call_replayed_from_its_input_can_be_resumed() {
    let inner = kept(story().edge(START, count).edge(count, ask).edge(ask, END));
    let graph = story().edge(START, &inner).edge(&inner, END).compile().unwrap();
    for durability in DURABILITIES {
        on_every_store(async |store| {
            let probe = probe();
            let thread = store.thread(&graph);
            thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
            let call = thread.within(&inner);
            let first = call.history().await.unwrap().last().unwrap().id;
            let again = call.at(first).run_again().durability(durability);
            again.context(Arc::clone(&probe)).await.unwrap();
            let thread = store.thread(&graph);
            let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
            let resumed = thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await;
            let ended = resumed.unwrap_or_else(|error| panic!("{durability:?}: {error:?}"));
            assert_eq!(ended.state().log, ["x", "n1+ask true"], "{durability:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn copied_thread_has_the_state_inside_calls() {
    on_every_store(async |store| {
        let (probe, graph) = (probe(), around(&counter(), false));
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let copy = thread.copy("copy").await.unwrap();
        copy.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(counts(&probe), "n1 n3 n3");
    })
    .await;
}

#[tokio::test]
async fn workflow_inside_a_call_has_its_previous_result() {
    async fn total(
        _: &(),
        previous: Option<&u32>,
        cx: &ContextWith<Probe>,
    ) -> superstep::Result<Final<(), u32>> {
        let sum = 1 + previous.copied().unwrap_or_default();
        cx.context().note(format!("n{sum}"));
        Ok(Final { value: (), save: sum })
    }
    on_every_store(async |store| {
        let probe = probe();
        let workflow = Workflow::with_context(total).compile().unwrap().as_node("total");
        let workflow = workflow.mapped(|_: &Story| Flow::begin(()), |_| Story::update()).per_thread();
        let outer = story().edge(START, &workflow).edge(&workflow, END).compile().unwrap().as_node("outer");
        let graph = story().edge(START, &outer).edge(&outer, END).compile().unwrap();
        for _ in 0..3 {
            store.thread(&graph).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        }
        assert_eq!(counts(&probe), "n1 n2 n3");
    })
    .await;
}

#[derive(Serialize, Deserialize)]
struct Topic(u32);

#[derive(Route)]
enum Each {
    #[to("outer")]
    Outer(Topic),
}

async fn split(story: &Story) -> Vec<Each> {
    story.value.map(|value| Each::Outer(Topic(value))).into_iter().collect()
}

#[tokio::test]
async fn each_key_of_packets_has_its_own_state_inside() {
    on_every_store(async |store| {
        let (probe, inner) = (probe(), counter());
        let outer = story().edge(START, &inner).edge(&inner, END).compile().unwrap().as_node("outer");
        let outer = outer
            .mapped_packet(|_: &Story, _: &Topic| begin("in"), |_| Story::update())
            .keyed_by_packet(|_: &Story, topic: &Topic| topic.0.to_string());
        let graph = story().edge(START, split).edge(&outer, END).compile().unwrap();
        for key in [1, 2, 1_u32] {
            let run = store.thread(&graph).run(begin("x").value(key));
            run.context(Arc::clone(&probe)).await.unwrap();
        }
        assert_eq!(counts(&probe), "n1 n1 n3");
    })
    .await;
}

#[test]
fn state_below_calls_that_store_nothing_is_refused() {
    let inner = counter();
    let middle = story().edge(START, &inner).edge(&inner, END).compile().unwrap().as_node("middle");
    let outer = story().edge(START, &middle).edge(&middle, END).compile().unwrap().as_node("outer");
    let unstored = outer.clone().unstored();
    let packets = outer.mapped_packet(|_: &Story, _: &Topic| begin("in"), |_| Story::update());
    let graph = story().edge(START, &unstored).edge(&unstored, END);
    expect![[r#"
        graph `Story`: cannot be built, it has 1 mistake
          subgraph `middle/counter` keeps its state on the thread, but it is inside subgraph `outer`, whose calls are not stored: remove its `.unstored()`"#]]
    .assert_eq(&graph.compile().unwrap_err().to_string());
    let graph = story().edge(START, split).edge(&packets, END);
    expect![[r#"
        graph `Story`: cannot be built, it has 1 mistake
          subgraph `middle/counter` keeps its state on the thread, but it is inside subgraph `outer`, which begins anew for each packet: give its calls keys with `.keyed_by_packet(..)`"#]]
    .assert_eq(&graph.compile().unwrap_err().to_string());
}

#[tokio::test]
async fn state_below_a_lazy_subgraph_is_kept_or_refused() {
    fn inner() -> Graph<Story, Probe> {
        let inner = counter();
        story().edge(START, &inner).edge(&inner, END).compile().unwrap()
    }
    for durability in DURABILITIES {
        on_every_store(async |store| {
            let probe = probe();
            let outer = Subgraph::lazy("outer", inner);
            let graph = story().edge(START, &outer).edge(&outer, paid).edge(paid, END).compile().unwrap();
            let stored = graph.with_checkpointer(store.open());
            for _ in 0..3 {
                let run = stored.thread("t").run(begin("x")).durability(durability);
                run.context(Arc::clone(&probe)).await.unwrap();
                stored.prune(Prune::new().keep_last(1)).await.unwrap();
            }
            assert_eq!(counts(&probe), "n1 n3 n5", "{durability:?}");
        })
        .await;
    }
    let outer = Subgraph::lazy("outer", inner).unstored();
    let graph = story().edge(START, &outer).edge(&outer, END).compile().unwrap();
    let probe = probe();
    // Without a thread there is no state to lose.
    graph.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
    assert_eq!(counts(&probe), "n1");
    let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("t");
    let error = thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap_err();
    let text = "subgraph `counter` keeps its state on the thread, but it is inside subgraph `outer`, whose calls are not \
                stored: remove its `.unstored()`";
    assert!(format!("{error:?}").contains(text), "{error:?}");
    assert_eq!(counts(&probe), "");
}
