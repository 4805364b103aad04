//! Threads continue after nodes were renamed, removed or reordered.

use superstep::{Context, END, ErrorKind, Graph, NodeError, Route, START, StateGraph, named};

use super::stores::on_every_store;
use super::story::{Story, StoryUpdate, log_of, next, say};

async fn first() -> StoryUpdate {
    say("first")
}

async fn fails() -> Result<StoryUpdate, NodeError> {
    Err(NodeError::msg("broken"))
}

async fn works(_: &Story, cx: &Context) -> StoryUpdate {
    say(format!("{} as {}", cx.attempt(), cx.node()))
}

/// The first version of a program: its node `old` fails beside a finished one.
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
async fn renamed_node_is_found_by_its_alias() {
    let new = named("new", works);
    let after = StateGraph::<Story>::new()
        .edge(START, (new.clone(), first))
        .edge(first, END)
        .edge(new.clone(), END)
        .alias(new, "old")
        .compile()
        .unwrap();
    on_every_store(async |store| {
        store.thread(&before()).run(Story::input()).await.unwrap_err();
        assert!(!store.thread(&before()).state().await.unwrap().unwrap().graph_changed);
        assert!(store.thread(&after).state().await.unwrap().unwrap().graph_changed);
        // The node's position in the graph does not matter.
        let outcome = store.thread(&after).resume(()).await.unwrap();
        assert_eq!(log_of(outcome.state()), "first 2 as new");
        // Newer checkpoints belong to the changed graph.
        assert!(store.thread(&after).history().await.unwrap().iter().any(|snapshot| !snapshot.graph_changed));
    })
    .await;
}

#[tokio::test]
async fn removed_node_is_an_error_and_the_thread_stays_readable() {
    let after = StateGraph::<Story>::new().edge(START, first).edge(first, END).compile().unwrap();
    on_every_store(async |store| {
        store.thread(&before()).run(Story::input()).await.unwrap_err();
        let thread = store.thread(&after);
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
        // The thread is unchanged: the old program and new input both continue.
        store.thread(&before()).resume(()).await.unwrap_err();
        let outcome = thread.run(Story::input()).abandon_pending().await.unwrap();
        assert_eq!(log_of(outcome.state()), "first");
    })
    .await;
}

#[tokio::test]
async fn route_of_a_finished_task_is_found_by_name() {
    mod v1 {
        use super::*;
        #[derive(Route)]
        pub(super) enum Way {
            #[to(END)]
            #[expect(dead_code, reason = "a route that is never taken")]
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
            #[expect(dead_code, reason = "a route that is never taken")]
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
    on_every_store(async |store| {
        store.thread(&before).run(Story::input()).await.unwrap_err();
        let outcome = store.thread(&after).resume(()).await.unwrap();
        assert_eq!(log_of(outcome.state()), "one 2 as old first");
    })
    .await;
}
