//! Updates from outside: in whose place they are made, and what is planned then.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::{AsNode, as_node};
use superstep::{ContextWith, Durability, END, ErrorKind, NodeError, Route, START};

use super::stores::on_every_store;
use super::story::{Story, StoryUpdate, World, begin, enter, next, say, story, tellers, told};

tellers! { one two three four }

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Go).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

#[tokio::test]
async fn an_update_as_start_goes_the_way_that_the_route_function_says() {
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
    on_every_store(async |place| {
        let thread = place.thread(&graph);
        thread.update(say("first"), as_node(START)).context(World::default()).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "two");
        thread.resume(()).context(World::default()).await.unwrap();
        thread.update(say("then").value(1), as_node(START)).context(World::default()).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "one");
    })
    .await;
}

#[tokio::test]
async fn a_route_function_after_start_that_fails_refuses_the_update() {
    #[derive(Route)]
    enum Way {
        #[to(one)]
        One,
    }
    fn never(state: &Story) -> Result<Way, NodeError> {
        if state.log.is_empty() { Ok(Way::One) } else { Err(NodeError::msg("no way")) }
    }
    let graph = story().route(START, never).edge(one, END).compile().unwrap();
    on_every_store(async |place| {
        let thread = place.thread(&graph);
        let refused = thread.update(say("x"), as_node(START)).context(World::default()).await.unwrap_err();
        let ErrorKind::Node { first, .. } = refused.kind() else { panic!("{refused}") };
        assert_eq!(first.node, "START");
        assert!(thread.state().await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn in_bulk_an_update_without_a_place_follows_the_superstep_before_it() {
    let graph = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END).compile().unwrap();
    on_every_store(async |place| {
        let thread = place.thread(&graph);
        thread.run(begin("in")).context(World::default()).await.unwrap();
        let as_one = || Some(as_node(one));
        let supersteps = [vec![(say("a"), as_one()), (say("b"), as_one())], vec![(say("c"), None::<AsNode>)]];
        thread.bulk_update(supersteps).context(World::default()).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "two");
        // The same as one call each.
        thread.update(say("d"), None).context(World::default()).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "two");
        assert_eq!(
            told(thread.state().await.unwrap().unwrap().state.as_ref().unwrap()),
            "in one two three a b c d"
        );
    })
    .await;
}

#[tokio::test]
async fn in_bulk_updates_are_made_all_or_not_at_all() {
    let graph = story().edge(START, one).edge(one, two).edge(two, END).compile().unwrap();
    on_every_store(async |place| {
        let thread = place.thread(&graph);
        let supersteps = || {
            let clash = vec![(say("b").value(1), as_node(one)), (say("c").value(2), as_node(two))];
            vec![vec![(say("a"), as_node(START))], clash]
        };
        thread.bulk_update(supersteps()).context(World::default()).await.unwrap_err();
        assert!(thread.state().await.unwrap().is_none());
        thread.run(begin("in")).context(World::default()).await.unwrap();
        let before = thread.history().await.unwrap().len();
        thread.bulk_update(supersteps()).context(World::default()).await.unwrap_err();
        assert_eq!(thread.history().await.unwrap().len(), before);
    })
    .await;
}

#[tokio::test]
async fn a_node_that_a_resumption_has_added_ran_as_well() {
    let graph =
        story().edge(START, (one, four)).edge(one, two).edge(two, END).edge(four, END).compile().unwrap();
    on_every_store(async |place| {
        let thread = place.thread(&graph);
        thread.run(begin("in")).context(World::default()).await.unwrap();
        thread.resume(()).goto(as_node(one)).goto(as_node(four)).context(World::default()).await.unwrap();
        let end = thread.history().limit(2).await.unwrap();
        // After `two`, which followed `one`; before that, both had run.
        let refused =
            thread.at(end[1].id).update(say("x"), None).context(World::default()).await.unwrap_err();
        let ErrorKind::AmbiguousNode { candidates, .. } = refused.kind() else { panic!("{refused}") };
        assert_eq!(candidates.join(" "), "four one");
        thread.update(say("x"), None).context(World::default()).await.unwrap();
        assert!(thread.state().await.unwrap().unwrap().is_finished());
    })
    .await;
}

#[tokio::test]
async fn behind_a_run_that_stored_its_end_alone_an_update_has_to_say_whose_it_is() {
    let graph = story().edge(START, ask).edge(ask, two).edge(two, three).edge(three, END).compile().unwrap();
    on_every_store(async |place| {
        let thread = place.thread(&graph);
        let run = thread.run(begin("in")).durability(Durability::Exit);
        run.context(World::default()).await.unwrap();
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let resumed = thread.resume(go.answer(true)).durability(Durability::Exit);
        resumed.context(World::default()).await.unwrap();
        // What is stored before the end is that `ask` was planned, and that is not what ran last.
        let refused = thread.update(say("x"), None).context(World::default()).await.unwrap_err();
        assert!(
            matches!(refused.kind(), ErrorKind::AmbiguousNode { candidates, .. } if candidates.is_empty()),
            "{refused}"
        );
        thread.update(say("x"), as_node(three)).context(World::default()).await.unwrap();
    })
    .await;
}
