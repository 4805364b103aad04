//! Updates that are refused because they would change the plan silently. Nothing is written.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::{AsNode, Thread, as_node};
use superstep::{ContextWith, END, Error, ErrorKind, NodeError, Route, START};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, next, recording_nodes, say, story};

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

type Supersteps = Vec<Vec<(StoryUpdate, Option<AsNode>)>>;

/// Makes an update that is refused, and checks that it leaves the thread as it was.
async fn refused(thread: &Thread<Story, Probe>, supersteps: Supersteps) -> Error {
    let before = format!("{:?}", thread.history().await.unwrap());
    let error = thread.bulk_update(supersteps).context(Probe::default()).await.unwrap_err();
    assert_eq!(format!("{:?}", thread.history().await.unwrap()), before, "{error}");
    error
}

#[tokio::test]
async fn empty_superstep_is_refused() {
    let graph = story().edge(START, ask).edge(ask, two).edge(two, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        let error = refused(&thread, vec![vec![]]).await;
        assert!(matches!(error.kind(), ErrorKind::EmptyUpdate { .. }), "{error}");
        assert!(thread.state().await.unwrap().is_none());
        thread.run(begin("in")).context(Probe::default()).await.unwrap();
        let cases: [(Supersteps, &str); 3] = [
            (vec![], "no supersteps"),
            (vec![vec![]], "superstep 1 of 1"),
            (vec![vec![(say("a"), Some(as_node(ask)))], vec![]], "superstep 2 of 2"),
        ];
        for (supersteps, place) in cases {
            let error = refused(&thread, supersteps).await;
            assert!(matches!(error.kind(), ErrorKind::EmptyUpdate { .. }), "{error}");
            assert!(error.to_string().contains(place), "{error}");
            assert!(error.to_string().contains("`as_node(END)` finishes the thread"), "{error}");
        }
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let ended = thread.resume(go.answer(true)).context(Probe::default()).await.unwrap();
        assert_eq!(log_of(ended.state()), "in ask true two");
    })
    .await;
}

#[tokio::test]
async fn end_next_to_another_node_is_refused() {
    let graph = story().edge(START, ask).edge(ask, two).edge(two, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Probe::default()).await.unwrap();
        for other in [Some(as_node(ask)), Some(as_node(START)), None] {
            let both = vec![vec![(say("a"), other), (say("b"), Some(as_node(END)))]];
            let error = refused(&thread, both).await;
            assert!(
                matches!(error.kind(), ErrorKind::InvalidAsNode { node, .. } if node == "END"),
                "{error}"
            );
            assert!(error.to_string().contains("a superstep of its own"), "{error}");
        }
        let ends = vec![
            vec![(say("a"), Some(as_node(ask)))],
            vec![(say("b"), Some(as_node(END))), (say("c"), Some(as_node(END)))],
        ];
        thread.bulk_update(ends).context(Probe::default()).await.unwrap();
        let ended = thread.state().await.unwrap().unwrap();
        assert!(ended.is_finished());
        assert_eq!(log_of(ended.state.as_ref().unwrap()), "in a b c");
    })
    .await;
}

#[tokio::test]
async fn update_before_the_target_of_a_join_must_name_its_nodes() {
    let graph = story().edge(START, (one, two)).edge(two, three).join((one, three), last).edge(last, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(begin("in")).interrupt_before(last).context(Probe::default()).await.unwrap();
        let error = refused(&thread, vec![vec![(say("x"), None)]]).await;
        let ErrorKind::NotPlannedAgain { node, pending, planned, .. } = error.kind() else { panic!("{error}") };
        assert_eq!((node.as_str(), pending.join(" "), planned.join(" ")), ("three", "last".into(), String::new()));
        assert_eq!(
            error.to_string(),
            "graph `Story`: an update of thread `t` without `as_node(..)` would take the place of `three`, which ran \
             last, and give up the pending tasks `last` without planning them again: say `as_node(..)` for each update, \
             or change the state and keep the pending tasks with `resume(..).update(..)`"
        );
        let at = thread.state().await.unwrap().unwrap().id;
        thread.at(at).update(say("x"), None).context(Probe::default()).await.unwrap_err();
        let sources = vec![vec![(say("x"), as_node(one)), (say("y"), as_node(three))]];
        thread.bulk_update(sources).context(Probe::default()).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "last");
        // Within one `bulk_update` as well.
        let then = vec![
            vec![(say("x"), Some(as_node(one))), (say("y"), Some(as_node(three)))],
            vec![(say("z"), None)],
        ];
        let error = refused(&thread, then).await;
        assert!(matches!(error.kind(), ErrorKind::AmbiguousNode { .. }), "{error}");
        let then = vec![
            vec![(say("x"), Some(as_node(one)))],
            vec![(say("y"), Some(as_node(three)))],
            vec![(say("z"), None)],
        ];
        let error = refused(&thread, then).await;
        assert!(matches!(error.kind(), ErrorKind::NotPlannedAgain { .. }), "{error}");
    })
    .await;
}

#[tokio::test]
async fn update_next_to_a_finished_task_must_name_its_node() {
    let graph =
        story().edge(START, one).edge(one, (ask, two)).edge(ask, END).edge(two, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Probe::default()).await.unwrap();
        // As `one`, the update would run `two` again, which has finished.
        let error = refused(&thread, vec![vec![(say("x"), None)]]).await;
        let ErrorKind::NotPlannedAgain { pending, planned, .. } = error.kind() else { panic!("{error}") };
        assert_eq!((pending.join(" "), planned.join(" ")), ("ask".into(), "ask two".into()));
        let resumed = thread.resume(()).update(say("x")).context(Probe::default()).await.unwrap();
        let go = resumed.pause().unwrap().only::<Go>().unwrap();
        let ended = thread.resume(go.answer(true)).context(Probe::default()).await.unwrap();
        assert_eq!(log_of(ended.state()), "in one x ask true two");
    })
    .await;
}

#[tokio::test]
async fn update_that_changes_the_route_must_name_its_node() {
    #[derive(Route)]
    enum Way {
        #[to(two)]
        Two,
        #[to(three)]
        Three,
    }
    fn by_value(story: &Story) -> Way {
        if story.value == Some(1) { Way::Three } else { Way::Two }
    }
    let graph =
        story().edge(START, one).route(one, by_value).edge(two, END).edge(three, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(begin("in")).interrupt_before(two).context(Probe::default()).await.unwrap();
        thread.update(say("same"), None).context(Probe::default()).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "two");
        let error = refused(&thread, vec![vec![(say("x").value(1), None)]]).await;
        assert!(matches!(error.kind(), ErrorKind::NotPlannedAgain { .. }), "{error}");
        thread.update(say("x").value(1), as_node(one)).context(Probe::default()).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "three");
    })
    .await;
}

#[tokio::test]
async fn update_inside_a_call_must_name_its_nodes() {
    let inner = story().edge(START, (one, two)).edge(two, three).join((one, three), ask).edge(ask, END);
    let inner = inner.compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Probe::default()).await.unwrap();
        let within = thread.within(&inner);
        let error = within.update(say("x"), None).context(Probe::default()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotPlannedAgain { .. }), "{error}");
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let ended = thread.resume(go.answer(true)).context(Probe::default()).await.unwrap();
        assert_eq!(log_of(ended.state()), "in one two three ask true");
    })
    .await;
}
