//! A thread outlives the names of nodes.

use superstep::{Context, END, ErrorKind, Graph, NodeError, Route, START, StateGraph, named};

use super::stores::on_every_store;
use super::story::{Story, StoryUpdate, next, say, told};

async fn first() -> StoryUpdate {
    say("first")
}

async fn fails() -> Result<StoryUpdate, NodeError> {
    Err(NodeError::msg("broken"))
}

async fn works(_: &Story, cx: &Context) -> StoryUpdate {
    say(format!("{} as {}", cx.attempt(), cx.node()))
}

/// The first version of a program, whose node `old` fails beside one that has finished.
fn before() -> Graph<Story> {
    let old = named("old", fails);
    StateGraph::<Story>::new()
        .edge(START, (first, old.clone()))
        .edge(first, END)
        .edge(old, END)
        .compile()
        .unwrap()
}

#[tokio::test]
async fn a_renamed_node_is_found_by_its_alias() {
    let new = named("new", works);
    let after = StateGraph::<Story>::new()
        .edge(START, (new.clone(), first))
        .edge(first, END)
        .edge(new.clone(), END)
        .alias(new, "old")
        .compile()
        .unwrap();
    on_every_store(async |place| {
        place.thread(&before()).run(Story::input()).await.unwrap_err();
        assert!(!place.thread(&before()).state().await.unwrap().unwrap().graph_changed);
        assert!(place.thread(&after).state().await.unwrap().unwrap().graph_changed);
        // Where it is in the graph does not matter either.
        let outcome = place.thread(&after).resume(()).await.unwrap();
        assert_eq!(told(outcome.state()), "first 2 as new");
        // What has been written since is of the graph as it is now.
        assert!(place.thread(&after).history().await.unwrap().iter().any(|snapshot| !snapshot.graph_changed));
    })
    .await;
}

#[tokio::test]
async fn a_node_that_is_gone_is_an_error_that_names_it_and_the_thread_can_still_be_read() {
    let after = StateGraph::<Story>::new().edge(START, first).edge(first, END).compile().unwrap();
    on_every_store(async |place| {
        place.thread(&before()).run(Story::input()).await.unwrap_err();
        let thread = place.thread(&after);
        let error = thread.resume(()).await.unwrap_err();
        let ErrorKind::NodeRemoved { node, thread: name, checkpoint, .. } = error.kind() else {
            panic!("{error}")
        };
        assert_eq!((node.as_str(), name.as_str()), ("old", "t"));
        let snapshot = thread.state().await.unwrap().unwrap();
        assert_eq!(
            (snapshot.id, next(&snapshot).as_str(), snapshot.graph_changed),
            (*checkpoint, "first old", true)
        );
        assert_eq!(thread.history().await.unwrap().len(), 2);
        // Nothing of it was touched: the old program goes on, and so does new input.
        place.thread(&before()).resume(()).await.unwrap_err();
        let outcome = thread.run(Story::input()).abandon_pending().await.unwrap();
        assert_eq!(told(outcome.state()), "first");
    })
    .await;
}

#[tokio::test]
async fn the_way_that_a_finished_task_took_is_found_by_its_name() {
    mod v1 {
        use super::*;
        #[derive(Route)]
        pub(super) enum Way {
            #[to(END)]
            #[expect(dead_code, reason = "a way that is never taken")]
            Out,
            #[to(first)]
            First,
        }
    }
    mod v2 {
        use super::*;
        #[derive(Route)]
        pub(super) enum Way {
            #[to(first)]
            First,
            #[to(END)]
            #[expect(dead_code, reason = "a way that is never taken")]
            Out,
        }
    }
    async fn one() -> (StoryUpdate, v1::Way) {
        (say("one"), v1::Way::First)
    }
    async fn two() -> (StoryUpdate, v2::Way) {
        (say("two"), v2::Way::First)
    }
    let (chooses_1, chooses_2) = (named("chooses", one), named("chooses", two));
    let (old_1, old_2) = (named("old", fails), named("old", works));
    let before =
        StateGraph::<Story>::new().edge(START, (chooses_1, old_1.clone())).edge(old_1, END).edge(first, END);
    let after =
        StateGraph::<Story>::new().edge(START, (chooses_2, old_2.clone())).edge(old_2, END).edge(first, END);
    let (before, after) = (before.compile().unwrap(), after.compile().unwrap());
    on_every_store(async |place| {
        place.thread(&before).run(Story::input()).await.unwrap_err();
        let outcome = place.thread(&after).resume(()).await.unwrap();
        assert_eq!(told(outcome.state()), "one 2 as old first");
    })
    .await;
}
