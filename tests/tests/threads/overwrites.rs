//! Overwrites of fields that are stored as deltas: the stored state is the live one.

use superstep::thread::as_node;
use superstep::{END, ErrorKind, GraphState, Overwrite, START, StateGraph};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Notes {
    #[state(input, reducer = append)]
    notes: Vec<String>,
    #[state(reducer = union)]
    tags: Vec<u8>,
}

#[tokio::test]
async fn last_overwrite_of_a_task_is_stored() {
    async fn rewrite(_: &Notes) -> NotesUpdate {
        let update = Notes::update().notes(Overwrite(vec!["first".to_owned()])).notes(["dropped".to_owned()]);
        update.notes(Overwrite(vec!["last".to_owned()])).tags(Overwrite(vec![1])).tags(Overwrite(vec![2]))
    }
    on_every_store(async |store| {
        let graph = StateGraph::<Notes>::new().edge(START, rewrite).edge(rewrite, END).compile().unwrap();
        let live = store.thread(&graph).run(Notes::input()).await.unwrap().into_state();
        assert_eq!((live.notes.join(" ").as_str(), &*live.tags), ("last", [2].as_slice()));
        assert_eq!(store.thread(&graph).state().await.unwrap().unwrap().state.unwrap(), live);
    })
    .await;
}

#[tokio::test]
async fn overwrites_that_an_update_has_settled_are_not_stored() {
    async fn left(_: &Notes) -> NotesUpdate {
        Notes::update().notes(Overwrite(vec!["left".to_owned()])).tags([1])
    }
    async fn right(_: &Notes) -> NotesUpdate {
        Notes::update().notes(Overwrite(vec!["right".to_owned()])).tags([2])
    }
    async fn last(_: &Notes) {}
    on_every_store(async |store| {
        let graph = StateGraph::<Notes>::new().edge(START, (left, right)).join((left, right), last);
        let graph = graph.edge(last, END).compile().unwrap();
        let error = store.thread(&graph).run(Notes::input().notes(["in".to_owned()])).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WriteConflict { field: "notes", .. }), "{error}");
        let settled = Notes::update().notes(["settled".to_owned()]);
        store.thread(&graph).update(settled, as_node(START)).await.unwrap();
        let stored = store.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!((stored.notes.join(" ").as_str(), &*stored.tags), ("in settled", [1, 2].as_slice()));
    })
    .await;
}
