//! Updates from outside: the node that they stand for, and the tasks that they plan.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::{AsNode, as_node};
use superstep::{ContextWith, Durability, END, ErrorKind, NodeError, Route, START};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, next, recording_nodes, say, story};

recording_nodes! { one two three four }

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

#[tokio::test]
async fn update_as_start_follows_the_route_function() {
    #[derive(Route)]
    enum Way {
        #[to(one)]
        One,
        #[to(two)]
        Two,
    }
    fn by_value(story: &Story) -> Way {
        if story.value == Some(1) { Way::One } else { Way::Two }
    }
    let graph = story().route(START, by_value).edge(one, END).edge(two, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.update(say("first"), as_node(START)).context(Probe::default()).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "two");
        thread.resume(()).context(Probe::default()).await.unwrap();
        thread.update(say("then").value(1), as_node(START)).context(Probe::default()).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "one");
    })
    .await;
}

#[tokio::test]
async fn failing_route_function_refuses_the_update() {
    #[derive(Route)]
    enum Way {
        #[to(one)]
        One,
    }
    fn never(state: &Story) -> Result<Way, NodeError> {
        if state.log.is_empty() { Ok(Way::One) } else { Err(NodeError::msg("no way")) }
    }
    let graph = story().route(START, never).edge(one, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        let refused = thread.update(say("x"), as_node(START)).context(Probe::default()).await.unwrap_err();
        let ErrorKind::Node { first, .. } = refused.kind() else { panic!("{refused}") };
        assert_eq!(first.node, "START");
        assert!(thread.state().await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn bulk_update_without_a_node_follows_the_last_superstep() {
    let graph = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Probe::default()).await.unwrap();
        let as_one = || Some(as_node(one));
        let supersteps = [vec![(say("a"), as_one()), (say("b"), as_one())], vec![(say("c"), None::<AsNode>)]];
        thread.bulk_update(supersteps).context(Probe::default()).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "two");
        // Single updates behave the same.
        thread.update(say("d"), None).context(Probe::default()).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "two");
        assert_eq!(
            log_of(thread.state().await.unwrap().unwrap().state.as_ref().unwrap()),
            "in one two three a b c d"
        );
    })
    .await;
}

#[tokio::test]
async fn bulk_update_is_all_or_nothing() {
    let graph = story().edge(START, one).edge(one, two).edge(two, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        let supersteps = || {
            let clash = vec![(say("b").value(1), as_node(one)), (say("c").value(2), as_node(two))];
            vec![vec![(say("a"), as_node(START))], clash]
        };
        thread.bulk_update(supersteps()).context(Probe::default()).await.unwrap_err();
        assert!(thread.state().await.unwrap().is_none());
        thread.run(begin("in")).context(Probe::default()).await.unwrap();
        let before = thread.history().await.unwrap().len();
        thread.bulk_update(supersteps()).context(Probe::default()).await.unwrap_err();
        assert_eq!(thread.history().await.unwrap().len(), before);
    })
    .await;
}

#[tokio::test]
async fn goto_node_counts_as_the_last_node() {
    let graph =
        story().edge(START, (one, four)).edge(one, two).edge(two, END).edge(four, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Probe::default()).await.unwrap();
        thread.resume(()).goto(as_node(one)).goto(as_node(four)).context(Probe::default()).await.unwrap();
        let end = thread.history().limit(2).await.unwrap();
        // The head is after `two`, which followed `one`. Before it, `one` and `four` had run.
        let refused =
            thread.at(end[1].id).update(say("x"), None).context(Probe::default()).await.unwrap_err();
        let ErrorKind::AmbiguousNode { candidates, .. } = refused.kind() else { panic!("{refused}") };
        assert_eq!(candidates.join(" "), "four one");
        thread.update(say("x"), None).context(Probe::default()).await.unwrap();
        assert!(thread.state().await.unwrap().unwrap().is_finished());
    })
    .await;
}

#[tokio::test]
async fn update_after_durability_exit_must_name_its_node() {
    let graph = story().edge(START, ask).edge(ask, two).edge(two, three).edge(three, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        let run = thread.run(begin("in")).durability(Durability::Exit);
        run.context(Probe::default()).await.unwrap();
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let resumed = thread.resume(go.answer(true)).durability(Durability::Exit);
        resumed.context(Probe::default()).await.unwrap();
        // The last stored plan was `ask`, which is not the node that ran last.
        let refused = thread.update(say("x"), None).context(Probe::default()).await.unwrap_err();
        assert!(
            matches!(refused.kind(), ErrorKind::AmbiguousNode { candidates, .. } if candidates.is_empty()),
            "{refused}"
        );
        thread.update(say("x"), as_node(three)).context(Probe::default()).await.unwrap();
    })
    .await;
}
