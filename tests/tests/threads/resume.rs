//! `resume` continues where the thread stopped: finished tasks do not run again, and planned tasks are not lost.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::ThreadQuery;
use superstep::thread::as_node;
use superstep::{ContextWith, Durability, END, ErrorKind, NodeError, Outcome, Route, START};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, next, recording_nodes, say, story};

recording_nodes! { one two three a b c d late }

const EVERY_DURABILITY: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

#[tokio::test]
async fn resume_does_not_restart_with_any_durability() {
    let graph = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END).compile().unwrap();
    for durability in EVERY_DURABILITY {
        on_every_store(async |store| {
            let probe = Arc::new(Probe::default());
            probe.set_failing(&["two"]);
            let run =
                store.thread(&graph).run(begin("in")).durability(durability).context(Arc::clone(&probe));
            let error = run.await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Node { .. }), "{error}");
            assert_eq!(probe.ran(), "one two");

            let snapshot = store.thread(&graph).state().await.unwrap().unwrap();
            assert_eq!(next(&snapshot), "two", "{durability:?}");
            assert_eq!(log_of(snapshot.state.as_ref().unwrap()), "in one");
            assert_eq!(snapshot.tasks[0].error.as_ref().unwrap().text, "two is broken");

            probe.set_failing(&[]);
            let again = store.thread(&graph).resume(()).durability(durability).context(Arc::clone(&probe));
            assert_eq!(log_of(again.await.unwrap().state()), "in one two three");
            assert_eq!(probe.ran(), "two three");
            let head = store.thread(&graph).state().await.unwrap().unwrap();
            assert!(head.is_finished());
            assert_eq!(head.step, 3);
        })
        .await;
    }
}

#[derive(Serialize, Deserialize)]
struct Item {
    number: u32,
    name: String,
}

#[derive(Route)]
enum Each {
    #[to(work)]
    Work(Item),
}

async fn work(item: &Item, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    enter(cx, ["item-0", "item-1", "item-2"][item.number as usize]).await?;
    Ok(say(format!("{} at attempt {}", item.name, cx.attempt())))
}

#[tokio::test]
async fn packets_survive_a_failure() {
    async fn split(_: &Story) -> Vec<Each> {
        let item = |number| Each::Work(Item { number, name: format!("\"ü{number}\"") });
        (0..3).map(item).collect()
    }
    let graph = story().edge(START, split).edge(work, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["item-1"]);
        store.thread(&graph).run(begin("in")).context(Arc::clone(&probe)).await.unwrap_err();
        assert_eq!(probe.ran(), "item-0 item-1 item-2");
        let snapshot = store.thread(&graph).state().await.unwrap().unwrap();
        assert_eq!(next(&snapshot), "work work work");
        let packet = snapshot.tasks[1].packet.as_ref().unwrap();
        assert_eq!(*packet, serde_json::json!({"number": 1, "name": "\"ü1\""}));
        let finished: Vec<bool> = snapshot.tasks.iter().map(|task| task.result.is_some()).collect();
        assert_eq!(finished, [true, false, true]);

        // Attempts are counted across processes.
        store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap_err();
        probe.set_failing(&[]);
        let outcome = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
        let expected = "in \"ü0\" at attempt 1 \"ü1\" at attempt 3 \"ü2\" at attempt 1";
        assert_eq!(log_of(outcome.state()), expected);
        assert_eq!(probe.ran(), "item-1 item-1");
    })
    .await;
}

#[tokio::test]
async fn run_at_its_recursion_limit_can_be_resumed() {
    #[derive(Route)]
    enum Loop {
        #[to(turn)]
        Again,
        #[to(END)]
        Out,
    }
    async fn turn(story: &Story) -> (StoryUpdate, Loop) {
        let turns = story.value.unwrap_or_default() + 1;
        (say(turns.to_string()).value(turns), if turns < 7 { Loop::Again } else { Loop::Out })
    }
    let graph = story().edge(START, turn).compile().unwrap();
    on_every_store(async |store| {
        let run = store.thread(&graph).run(begin("in")).recursion_limit(3).context(Probe::default());
        let error = run.await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::RecursionLimit { limit: 3, .. }), "{error}");
        let snapshot = store.thread(&graph).state().await.unwrap().unwrap();
        assert_eq!((snapshot.step, next(&snapshot).as_str()), (3, "turn"));
        assert_eq!(snapshot.state.unwrap().value, Some(3));

        // Three more supersteps, then exactly the one that is left.
        let error = store.thread(&graph).resume(()).recursion_limit(3).context(Probe::default()).await;
        assert!(matches!(error.unwrap_err().kind(), ErrorKind::RecursionLimit { .. }));
        let outcome = store.thread(&graph).resume(()).recursion_limit(1).context(Probe::default()).await;
        assert_eq!(log_of(outcome.unwrap().state()), "in 1 2 3 4 5 6 7");
        assert_eq!(store.thread(&graph).state().await.unwrap().unwrap().step, 7);
    })
    .await;
}

#[tokio::test]
async fn partly_filled_join_survives_a_failure() {
    let graph = story().edge(START, (a, b)).edge(b, c).join((a, c), d).edge(d, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["c"]);
        store.thread(&graph).run(begin("in")).context(Arc::clone(&probe)).await.unwrap_err();
        probe.set_failing(&["d"]);
        store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap_err();
        probe.set_failing(&[]);
        let outcome = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in a b c d");
        assert_eq!(probe.ran(), "a b c c d d");
    })
    .await;
}

#[tokio::test]
async fn waiting_deferred_node_survives_a_failure() {
    let graph =
        story().edge(START, (late, a)).edge(a, b).edge(b, END).edge(late, END).defer(late).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["b"]);
        store.thread(&graph).run(begin("in")).context(Arc::clone(&probe)).await.unwrap_err();
        assert_eq!(next(&store.thread(&graph).state().await.unwrap().unwrap()), "b");
        probe.set_failing(&[]);
        let outcome = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in a b late");
    })
    .await;
}

#[tokio::test]
async fn goto_makes_a_finished_thread_unfinished() {
    let graph = story().edge(START, a).edge(a, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let threads = graph.with_checkpointer(store.open());
        let thread = threads.thread("t");
        let unfinished = async || {
            let query = ThreadQuery::new().unfinished(true);
            threads.threads(query).await.unwrap().items.len()
        };
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(unfinished().await, 0);
        probe.set_failing(&["a"]);
        thread.resume(()).goto(as_node(a)).context(Arc::clone(&probe)).await.unwrap_err();
        assert_eq!(unfinished().await, 1);
        assert!(!thread.state().await.unwrap().unwrap().is_finished());
        probe.set_failing(&[]);
        thread.resume(()).context(probe).await.unwrap();
        assert_eq!(unfinished().await, 0);
    })
    .await;
}

#[tokio::test]
async fn new_input_empties_a_partly_filled_join() {
    #[derive(Route)]
    enum Way {
        #[to(a)]
        A,
        #[to(b)]
        B,
    }
    fn by_value(story: &Story) -> Way {
        if story.value == Some(1) { Way::B } else { Way::A }
    }
    let graph = story().route(START, by_value).join((a, b), c).edge(c, END).compile().unwrap();
    on_every_store(async |store| {
        let missing = async |result: Result<Outcome<Story>, superstep::Error>| {
            let error = result.unwrap_err();
            let ErrorKind::JoinNotFilled { missing, .. } = error.kind() else { panic!("{error}") };
            missing.join(" ")
        };
        let probe = Arc::new(Probe::default());
        let first = store.thread(&graph).run(begin("in")).context(Arc::clone(&probe)).await;
        assert_eq!(missing(first).await, "b");
        let again = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await;
        assert_eq!(missing(again).await, "b");
        // If the join still had `a`, `c` would run now.
        let input = begin("again").value(1);
        let second = store.thread(&graph).run(input).context(Arc::clone(&probe)).await;
        assert_eq!(missing(second).await, "a");
        assert_eq!(probe.ran(), "a b");
    })
    .await;
}
