//! A store serves from its first call on, wherever it is called from.

use graph_core::{END, ErrorKind, Graph, START};
use graph_sqlite::SqliteCheckpointer;

use super::stores::on_every_store;
use super::story::{Story, World, begin, next, say, story, tellers, told};

tellers! { one two }

fn two_nodes() -> Graph<Story, World> {
    story().edge(START, one).edge(one, two).edge(two, END).compile().unwrap()
}

#[tokio::test]
async fn a_file_that_is_not_there_yet_is_made_with_the_folders_above_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("not/there/yet.db");
    let thread = two_nodes().with_checkpointer(SqliteCheckpointer::open(&file).unwrap()).thread("t");
    assert!(thread.state().await.unwrap().is_none());
    thread.run(begin("in")).context(World::default()).await.unwrap();
    drop(thread);
    let thread = two_nodes().with_checkpointer(SqliteCheckpointer::open(&file).unwrap()).thread("t");
    assert_eq!(told(&thread.state().await.unwrap().unwrap().state.unwrap()), "in one two");
}

#[test]
fn a_thread_runs_on_a_runtime_with_one_thread_and_nothing_enabled_and_on_one_with_many() {
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for runtime in [one, many] {
        runtime.block_on(on_every_store(async |place| {
            let outcome = place.thread(&two_nodes()).run(begin("in")).context(World::default()).await;
            assert_eq!(told(outcome.unwrap().state()), "in one two");
        }));
    }
}

#[tokio::test]
async fn a_second_run_goes_on_from_the_stored_state_through_another_handle() {
    on_every_store(async |place| {
        place.thread(&two_nodes()).run(begin("first")).context(World::default()).await.unwrap();
        let second = place.thread(&two_nodes()).run(begin("second")).context(World::default()).await;
        assert_eq!(told(second.unwrap().state()), "first one two second one two");
        let history = place.thread(&two_nodes()).history().await.unwrap();
        let steps: Vec<i64> = history.iter().map(|snapshot| snapshot.step).collect();
        assert_eq!(steps, [6, 5, 4, 3, 2, 1, 0, -1]);
    })
    .await;
}

#[tokio::test]
async fn an_update_of_a_fresh_thread_is_made_once() {
    on_every_store(async |place| {
        let thread = place.thread(&two_nodes());
        thread.update(say("told"), None).context(World::default()).await.unwrap();
        let snapshot = thread.state().await.unwrap().unwrap();
        assert_eq!(
            (told(snapshot.state.as_ref().unwrap()).as_str(), next(&snapshot).as_str()),
            ("told", "one")
        );
        let outcome = place.thread(&two_nodes()).resume(()).context(World::default()).await.unwrap();
        assert_eq!(told(outcome.state()), "told one two");
    })
    .await;
}

#[tokio::test]
async fn a_thread_that_is_not_there_has_nothing_to_show_and_nothing_to_resume() {
    on_every_store(async |place| {
        let thread = place.thread(&two_nodes());
        assert!(thread.state().await.unwrap().is_none());
        assert!(thread.history().await.unwrap().is_empty());
        assert!(thread.pending().await.unwrap().questions().is_empty());
        let error = thread.resume(()).context(World::default()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NoThread { .. }), "{error}");
        assert!(thread.state().await.unwrap().is_none(), "asking makes no thread");
    })
    .await;
}
