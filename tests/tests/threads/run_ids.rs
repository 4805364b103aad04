//! A run that is started again by its id returns the state of that run, even if another process continued it.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::as_node;
use superstep::{
    ContextWith, Durability, END, Error, ErrorKind, Graph, GraphState, NodeError, Outcome, Route, START,
    StateGraph,
};

use super::stores::{TestStore, on_every_store};
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, recording_nodes, say, story};

recording_nodes! { one two three a b c }

fn row() -> Graph<Story, Probe> {
    story().edge(START, one).edge(one, two).edge(two, three).edge(three, END).compile().unwrap()
}

/// Starts the same run again, like a client in another process.
async fn run(
    store: &TestStore,
    graph: &Graph<Story, Probe>,
    probe: &Arc<Probe>,
) -> Result<Outcome<Story>, Error> {
    store.thread(graph).run(begin("in")).run_id("x").context(Arc::clone(probe)).await
}

async fn resume(store: &TestStore, graph: &Graph<Story, Probe>, probe: &Arc<Probe>) -> Outcome<Story> {
    store.thread(graph).resume(()).context(Arc::clone(probe)).await.unwrap()
}

/// Returns the parts of the stored thread that a run could change.
async fn stored(store: &TestStore) -> String {
    let loaded = store.open().get("t", "", None).await.unwrap();
    format!("{:?} {:?}", loaded.fence, loaded.found.map(|found| found.records))
}

#[tokio::test]
async fn resume_after_a_crash_belongs_to_the_crashed_run() {
    for durability in [Durability::Sync, Durability::Async] {
        for steps in 0..4 {
            on_every_store(async |store| {
                let probe = Arc::new(Probe::default());
                let run_x = store.thread(&row()).run(begin("in")).run_id("x").durability(durability);
                let mut stepper = run_x.context(Arc::clone(&probe)).start().await.unwrap().unwrap();
                for _ in 0..steps {
                    stepper.step().await.unwrap();
                }
                drop(stepper);
                let resumed = resume(store, &row(), &probe).await;
                assert_eq!(log_of(resumed.state()), "in one two three");
                probe.ran();
                for _ in 0..2 {
                    let again = run(store, &row(), &probe).await.unwrap();
                    assert_eq!(again.state(), resumed.state(), "{durability:?} after {steps}");
                }
                assert_eq!(probe.ran(), "");
                let thread = store.thread(&row());
                let of_run = thread.history().run_id("x").await.unwrap().len();
                assert_eq!((of_run, thread.history().await.unwrap().len()), (5, 5));
            })
            .await;
        }
    }
}

#[tokio::test]
async fn later_checkpoints_do_not_belong_to_a_finished_run() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        run(store, &row(), &probe).await.unwrap();
        let thread = store.thread(&row());
        // An added node, an update from outside, a fork, and new input.
        thread.resume(()).goto(as_node(three)).context(Arc::clone(&probe)).await.unwrap();
        thread.update(say("by hand"), as_node(two)).context(Arc::clone(&probe)).await.unwrap();
        resume(store, &row(), &probe).await;
        let old = thread.history().run_id("x").await.unwrap()[2].id;
        thread.at(old).run_again().context(Arc::clone(&probe)).await.unwrap();
        thread.run(begin("new")).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(run(store, &row(), &probe).await.unwrap().state()), "in one two three");
        assert_eq!(thread.history().run_id("x").await.unwrap().len(), 5);
    })
    .await;
}

#[derive(Serialize, Deserialize)]
struct Go(u32);

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    enter(cx, "ask").await?;
    let first = cx.interrupt(Go(1)).await;
    let second = cx.interrupt(Go(2)).await;
    Ok(say(format!("{first} {second}")))
}

#[tokio::test]
async fn waiting_run_id_returns_its_open_interrupts() {
    let graph = story().edge(START, (ask, a)).edge(ask, END).edge(a, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let mut first = run(store, &graph, &probe).await.unwrap();
        for answer in [true, false] {
            probe.ran();
            let before = stored(store).await;
            for _ in 0..2 {
                let again = run(store, &graph, &probe).await.unwrap();
                let (first, again) = (first.pause().unwrap(), again.pause().unwrap());
                assert_eq!(first.interrupts(), again.interrupts());
                assert_eq!(first.state(), again.state());
                assert!(again.before().is_empty() && again.after().is_empty());
            }
            assert_eq!(probe.ran(), "", "nothing has run for it");
            assert_eq!(stored(store).await, before, "nothing was written for it");
            let question = first.pause().unwrap().only::<Go>().unwrap();
            let resumed = store.thread(&graph).resume(question.answer(answer));
            first = resumed.context(Arc::clone(&probe)).await.unwrap();
        }
        assert_eq!(log_of(first.state()), "in true false a");
        assert_eq!(run(store, &graph, &probe).await.unwrap().state(), first.state());
    })
    .await;
}

async fn ask_both(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let answer = tokio::select! {
        first = cx.interrupt(Go(1)) => format!("first {first}"),
        second = cx.interrupt(Go(2)) => format!("second {second}"),
    };
    enter(cx, "ask_both").await?;
    Ok(say(answer))
}

/// The run may die after it has stored an answer to one of several questions. Then the others are still stored as open.
#[tokio::test]
async fn repeated_run_id_continues_after_an_accepted_answer() {
    let graph = story().edge(START, ask_both).edge(ask_both, END).compile().unwrap();
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let probe = Arc::new(Probe::default());
            let first = run(store, &graph, &probe).await.unwrap();
            let answer = first.pause().unwrap().interrupts()[1].answer_json(true.into());
            let resumed = store.thread(&graph).resume(answer).durability(durability);
            let resumed = resumed.context(Arc::clone(&probe));
            drop(resumed.start().await.unwrap());
            let again = run(store, &graph, &probe).await.unwrap();
            assert_eq!(log_of(again.state()), "in second true", "{durability:?}");
            assert_eq!(probe.ran(), "ask_both");
        })
        .await;
    }
}

/// A sibling that has finished or sleeps does not matter.
#[tokio::test]
async fn repeated_run_id_does_not_pass_a_breakpoint_inside() {
    async fn doze(_: &Story, cx: &ContextWith<Probe>) -> StoryUpdate {
        cx.sleep(Duration::from_millis(5)).await;
        say("dozed")
    }
    let walk = story().edge(START, one).edge(one, two).edge(two, END).interrupt_before(two);
    let walk = walk.compile().unwrap().as_node("walk");
    let graph = story().edge(START, (&walk, doze, a)).join((&walk, doze, a), three).edge(three, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        for sleeps in [true, false] {
            let limit = if sleeps { Duration::ZERO } else { Duration::MAX };
            for _ in 0..3 {
                let again = store.thread(&graph).run(begin("in")).run_id("x");
                let again = again.suspend_sleeps_longer_than(limit).context(Arc::clone(&probe));
                assert_eq!(again.await.unwrap().pause().unwrap().before(), ["walk/two"]);
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            store.thread(&graph).delete().await.unwrap();
        }
        assert_eq!(probe.ran().matches("one").count(), 2, "once for each thread");
    })
    .await;
}

#[tokio::test]
async fn repeated_run_id_does_not_pass_a_breakpoint() {
    let graph = story()
        .edge(START, one)
        .edge(one, two)
        .edge(two, three)
        .edge(three, END)
        .interrupt_before(two)
        .interrupt_after(two)
        .compile()
        .unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        for (before, after) in [("two", ""), ("", "two")] {
            for _ in 0..3 {
                let outcome = run(store, &graph, &probe).await.unwrap();
                let pause = outcome.pause().unwrap();
                assert_eq!(
                    (pause.before().join(" "), pause.after().join(" ")),
                    (before.into(), after.into())
                );
            }
            resume(store, &graph, &probe).await;
        }
        let outcome = run(store, &graph, &probe).await.unwrap();
        assert!(outcome.pause().is_none());
        assert_eq!(log_of(outcome.state()), "in one two three");
        assert_eq!(probe.ran(), "one two three");
    })
    .await;
}

#[tokio::test]
async fn repeated_run_id_returns_the_same_join_error() {
    #[derive(Route)]
    enum Way {
        #[to(a)]
        A,
        #[to(b)]
        B,
        #[to(END)]
        Out,
    }
    fn by_value(story: &Story) -> Way {
        match story.value {
            None => Way::A,
            Some(0) => Way::Out,
            Some(_) => Way::B,
        }
    }
    let graph = story().route(START, by_value).join((a, b), c).edge(c, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let missing = async || {
            let error = run(store, &graph, &probe).await.unwrap_err();
            assert_eq!(log_of(error.state::<Story>().unwrap()), "in a");
            let ErrorKind::JoinNotFilled { target, missing, .. } = error.kind() else { panic!("{error:?}") };
            format!("{target} {missing:?}")
        };
        let first = missing().await;
        assert_eq!(missing().await, first);
        // The same after another run has followed.
        let other = store.thread(&graph).run(begin("out").value(0));
        other.context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(missing().await, first);
        assert_eq!(probe.ran(), "a");
    })
    .await;
}

#[tokio::test]
async fn repeated_run_id_continues_after_its_recursion_limit() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let some = || store.thread(&row()).run(begin("in")).run_id("x").recursion_limit(1);
        for _ in 0..2 {
            let error = some().context(Arc::clone(&probe)).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::RecursionLimit { .. }), "{error:?}");
        }
        for _ in 0..2 {
            let outcome = some().context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(log_of(outcome.state()), "in one two three");
        }
        assert_eq!(probe.ran(), "one two three");
    })
    .await;
}

#[tokio::test]
async fn run_id_returns_the_state_after_manual_updates() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["two"]);
        run(store, &row(), &probe).await.unwrap_err();
        let thread = store.thread(&row());
        thread.update(say("two by hand"), as_node(two)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(resume(store, &row(), &probe).await.state()), "in one two by hand three");
        let outcome = run(store, &row(), &probe).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in one two by hand three");
    })
    .await;
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["two"]);
        run(store, &row(), &probe).await.unwrap_err();
        let thread = store.thread(&row());
        thread.update(say("enough"), as_node(END)).context(Arc::clone(&probe)).await.unwrap();
        let Outcome::Done(state) = run(store, &row(), &probe).await.unwrap() else { panic!("it has ended") };
        assert_eq!(log_of(&state), "in one enough");
        assert_eq!(probe.ran(), "one two");
    })
    .await;
}

#[tokio::test]
async fn abandoned_run_id_is_an_error() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["two"]);
        run(store, &row(), &probe).await.unwrap_err();
        let at = store.thread(&row()).state().await.unwrap().unwrap().id;
        probe.set_failing(&[]);
        let other = store.thread(&row()).run(begin("other")).abandon_pending();
        other.context(Arc::clone(&probe)).await.unwrap();
        for _ in 0..2 {
            let error = run(store, &row(), &probe).await.unwrap_err();
            let ErrorKind::RunAbandoned { thread, run, checkpoint, .. } = error.kind() else {
                panic!("{error:?}")
            };
            assert_eq!((thread.as_str(), run.as_str(), *checkpoint), ("t", "x", at));
            assert!(error.to_string().contains("run `x` of thread `t` was abandoned"), "{error}");
        }
        let state = store.thread(&row()).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!(log_of(&state), "in one other one two three");
    })
    .await;
}

#[derive(GraphState, Clone, Debug)]
struct Wired {
    done: bool,
    #[state(untracked, from_context = connected)]
    client: Option<String>,
}

/// The address of a service.
struct Wire(&'static str);

fn connected(wire: &Wire) -> Option<String> {
    Some(wire.0.to_owned())
}

async fn work(_: &Wired) -> WiredUpdate {
    Wired::update().done(true)
}

#[tokio::test]
async fn finished_run_id_restores_fields_from_the_context() {
    let graph = StateGraph::<Wired>::with_context::<Wire>().edge(START, work).edge(work, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let run = || store.thread(&graph).run(Wired::input()).run_id("x").context(Wire("wire"));
        for outcome in [
            run().await.unwrap(),
            run().await.unwrap(),
            store.thread(&graph).resume(()).context(Wire("wire")).await.unwrap(),
        ] {
            let state = outcome.into_state();
            assert_eq!((state.done, state.client.as_deref()), (true, Some("wire")));
        }
    })
    .await;
}
