//! A replay with an update: the planned tasks stay planned, and run on the changed state.

use superstep::checkpoint::{CheckpointSource, MemoryCheckpointer};
use superstep::thread::as_node;
use superstep::{END, ErrorKind, Graph, GraphState, START, StateGraph};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Draft {
    #[state(input, reducer = append)]
    log: Vec<String>,
    #[state(validate(range(max = 9)))]
    tone: u8,
}

async fn one(draft: &Draft) -> DraftUpdate {
    Draft::update().log([format!("one {}", draft.tone)])
}

async fn two(draft: &Draft) -> DraftUpdate {
    Draft::update().log([format!("two {}", draft.tone)])
}

async fn end(draft: &Draft) -> DraftUpdate {
    Draft::update().log([format!("end {}", draft.log.len())])
}

fn graph() -> Graph<Draft> {
    StateGraph::<Draft>::new().edge(START, (one, two)).join((one, two), end).edge(end, END).compile().unwrap()
}

fn input() -> DraftInput {
    Draft::input().log(["in".to_owned()])
}

#[tokio::test]
async fn replay_runs_the_same_tasks_on_the_updated_state() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        thread.run(input()).await.unwrap();
        let history = thread.history().await.unwrap();
        let planned = &history[2];
        let update = Draft::update().tone(3_u8).log(["warmer".to_owned()]);
        let outcome = store.thread(&graph()).at(planned.id).run_again().update(update).await.unwrap();
        assert_eq!(outcome.state().log, ["in", "warmer", "one 3", "two 3", "end 4"]);
        let thread = store.thread(&graph());
        let after = thread.history().await.unwrap();
        assert_eq!(after[0].state.as_ref(), Some(outcome.state()));
        // The update is in the fork's first checkpoint, but not in its parent.
        let fork = &after[2];
        assert_eq!(
            (fork.source, fork.parent, &fork.next),
            (CheckpointSource::Fork, Some(planned.id), &planned.next)
        );
        assert_eq!(fork.state.as_ref().unwrap().log, ["in", "warmer"]);
        assert_eq!(after[5].state, planned.state);
        let again = thread.at(fork.id).run_again().await.unwrap();
        assert_eq!(again.state(), outcome.state());
    })
    .await;
}

#[tokio::test]
async fn update_of_a_replayed_input_applies_after_it() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        thread.run(input()).await.unwrap();
        let first = thread.history().await.unwrap().pop().unwrap();
        let update = Draft::update().log(["then".to_owned()]);
        let outcome = thread.at(first.id).run_again().update(update).await.unwrap();
        assert_eq!(outcome.state().log, ["in", "then", "one 0", "two 0", "end 4"]);
        assert_eq!(thread.state().await.unwrap().unwrap().state.as_ref(), Some(outcome.state()));
    })
    .await;
}

#[tokio::test]
async fn invalid_update_starts_no_fork() {
    let thread = graph().with_checkpointer(MemoryCheckpointer::new()).thread("t");
    thread.run(input()).await.unwrap();
    let history = thread.history().await.unwrap();
    let again = thread.at(history[2].id).run_again().update(Draft::update().tone(10_u8)).await;
    assert!(matches!(again.unwrap_err().kind(), ErrorKind::Validation { .. }));
    assert_eq!(thread.history().await.unwrap().len(), history.len());
}

#[tokio::test]
async fn bulk_update_forks_an_old_checkpoint() {
    let thread = graph().with_checkpointer(MemoryCheckpointer::new()).thread("t");
    thread.run(input()).await.unwrap();
    let planned = thread.history().await.unwrap().swap_remove(2);
    let log = |text: &str| Draft::update().log([text.to_owned()]);
    let supersteps = [
        vec![(log("first"), as_node(one)), (log("second"), as_node(two))],
        vec![(log("last"), as_node(end))],
    ];
    let id = thread.at(planned.id).bulk_update(supersteps).await.unwrap();
    let head = thread.state().await.unwrap().unwrap();
    assert_eq!((head.id, head.is_finished()), (id, true));
    assert_eq!(head.state.unwrap().log, ["in", "first", "second", "last"]);
    let parent = thread.at(head.parent.unwrap()).state().await.unwrap().unwrap();
    assert_eq!(parent.parent, Some(planned.id));
}
