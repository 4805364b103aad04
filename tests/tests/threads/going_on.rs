//! A resumption goes on where the thread is: what has been done is not done again, and nothing that was planned is lost.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::ThreadQuery;
use superstep::thread::as_node;
use superstep::{ContextWith, Durability, END, ErrorKind, NodeError, Outcome, Route, START};

use super::stores::on_every_store;
use super::story::{Story, StoryUpdate, World, begin, enter, next, say, story, tellers, told};

tellers! { one two three a b c d late }

const EVERY_DURABILITY: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

#[tokio::test]
async fn a_resumption_does_not_begin_at_start_again_whatever_the_durability() {
    let graph = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END).compile().unwrap();
    for durability in EVERY_DURABILITY {
        on_every_store(async |place| {
            let world = Arc::new(World::default());
            world.breaks(&["two"]);
            let run =
                place.thread(&graph).run(begin("in")).durability(durability).context(Arc::clone(&world));
            let error = run.await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Node { .. }), "{error}");
            assert_eq!(world.ran(), "one two");

            let snapshot = place.thread(&graph).state().await.unwrap().unwrap();
            assert_eq!(next(&snapshot), "two", "{durability:?}");
            assert_eq!(told(snapshot.state.as_ref().unwrap()), "in one");
            assert_eq!(snapshot.tasks[0].error.as_ref().unwrap().text, "two is broken");

            world.breaks(&[]);
            let again = place.thread(&graph).resume(()).durability(durability).context(Arc::clone(&world));
            assert_eq!(told(again.await.unwrap().state()), "in one two three");
            assert_eq!(world.ran(), "two three");
            let head = place.thread(&graph).state().await.unwrap().unwrap();
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

async fn work(item: &Item, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    enter(cx, ["item-0", "item-1", "item-2"][item.number as usize]).await?;
    Ok(say(format!("{} at attempt {}", item.name, cx.attempt())))
}

#[tokio::test]
async fn packets_survive_a_failure_and_are_read_back_through_another_handle() {
    async fn split(_: &Story) -> Vec<Each> {
        let item = |number| Each::Work(Item { number, name: format!("\"ü{number}\"") });
        (0..3).map(item).collect()
    }
    let graph = story().edge(START, split).edge(work, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["item-1"]);
        place.thread(&graph).run(begin("in")).context(Arc::clone(&world)).await.unwrap_err();
        assert_eq!(world.ran(), "item-0 item-1 item-2");
        let snapshot = place.thread(&graph).state().await.unwrap().unwrap();
        assert_eq!(next(&snapshot), "work work work");
        let packet = snapshot.tasks[1].packet.as_ref().unwrap();
        assert_eq!(*packet, serde_json::json!({"number": 1, "name": "\"ü1\""}));
        let finished: Vec<bool> = snapshot.tasks.iter().map(|task| task.result.is_some()).collect();
        assert_eq!(finished, [true, false, true]);

        // Attempts are counted across processes.
        place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap_err();
        world.breaks(&[]);
        let outcome = place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap();
        let expected = "in \"ü0\" at attempt 1 \"ü1\" at attempt 3 \"ü2\" at attempt 1";
        assert_eq!(told(outcome.state()), expected);
        assert_eq!(world.ran(), "item-1 item-1");
    })
    .await;
}

#[tokio::test]
async fn a_run_that_has_come_to_its_recursion_limit_can_be_resumed() {
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
    on_every_store(async |place| {
        let run = place.thread(&graph).run(begin("in")).recursion_limit(3).context(World::default());
        let error = run.await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::RecursionLimit { limit: 3, .. }), "{error}");
        let snapshot = place.thread(&graph).state().await.unwrap().unwrap();
        assert_eq!((snapshot.step, next(&snapshot).as_str()), (3, "turn"));
        assert_eq!(snapshot.state.unwrap().value, Some(3));

        // The next three, and then exactly as many as there are left.
        let error = place.thread(&graph).resume(()).recursion_limit(3).context(World::default()).await;
        assert!(matches!(error.unwrap_err().kind(), ErrorKind::RecursionLimit { .. }));
        let outcome = place.thread(&graph).resume(()).recursion_limit(1).context(World::default()).await;
        assert_eq!(told(outcome.unwrap().state()), "in 1 2 3 4 5 6 7");
        assert_eq!(place.thread(&graph).state().await.unwrap().unwrap().step, 7);
    })
    .await;
}

#[tokio::test]
async fn how_far_a_join_is_filled_is_remembered() {
    let graph = story().edge(START, (a, b)).edge(b, c).join((a, c), d).edge(d, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["c"]);
        place.thread(&graph).run(begin("in")).context(Arc::clone(&world)).await.unwrap_err();
        world.breaks(&["d"]);
        place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap_err();
        world.breaks(&[]);
        let outcome = place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in a b c d");
        assert_eq!(world.ran(), "a b c c d d");
    })
    .await;
}

#[tokio::test]
async fn a_deferred_node_that_waits_is_remembered() {
    let graph =
        story().edge(START, (late, a)).edge(a, b).edge(b, END).edge(late, END).defer(late).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["b"]);
        place.thread(&graph).run(begin("in")).context(Arc::clone(&world)).await.unwrap_err();
        assert_eq!(next(&place.thread(&graph).state().await.unwrap().unwrap()), "b");
        world.breaks(&[]);
        let outcome = place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in a b late");
    })
    .await;
}

#[tokio::test]
async fn a_finished_thread_with_a_node_that_was_added_is_unfinished() {
    let graph = story().edge(START, a).edge(a, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let threads = graph.with_checkpointer(place.open());
        let thread = threads.thread("t");
        let unfinished = async || {
            let query = ThreadQuery { unfinished: true, ..ThreadQuery::default() };
            threads.threads(query).await.unwrap().items.len()
        };
        thread.run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(unfinished().await, 0);
        world.breaks(&["a"]);
        thread.resume(()).goto(as_node(a)).context(Arc::clone(&world)).await.unwrap_err();
        assert_eq!(unfinished().await, 1);
        assert!(!thread.state().await.unwrap().unwrap().is_finished());
        world.breaks(&[]);
        thread.resume(()).context(world).await.unwrap();
        assert_eq!(unfinished().await, 0);
    })
    .await;
}

#[tokio::test]
async fn what_is_left_in_a_join_is_gone_with_new_input_and_not_before() {
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
    on_every_store(async |place| {
        let missing = async |result: Result<Outcome<Story>, superstep::Error>| {
            let error = result.unwrap_err();
            let ErrorKind::JoinNotFilled { missing, .. } = error.kind() else { panic!("{error}") };
            missing.join(" ")
        };
        let world = Arc::new(World::default());
        let first = place.thread(&graph).run(begin("in")).context(Arc::clone(&world)).await;
        assert_eq!(missing(first).await, "b");
        let again = place.thread(&graph).resume(()).context(Arc::clone(&world)).await;
        assert_eq!(missing(again).await, "b");
        // Were `a` still in the join, `c` would run now.
        let input = begin("again").value(1);
        let second = place.thread(&graph).run(input).context(Arc::clone(&world)).await;
        assert_eq!(missing(second).await, "a");
        assert_eq!(world.ran(), "a b");
    })
    .await;
}
