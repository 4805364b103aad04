use superstep::checkpoint::{CheckpointSource, MemoryCheckpointer};
use superstep::thread::{PersistentGraph, as_node};
use superstep::{END, ErrorKind, GraphState, Overwrite, Route, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct Draft {
    #[state(reducer = append)]
    log: Vec<String>,
    answer: Option<String>,
}

async fn write(draft: &Draft) -> DraftUpdate {
    Draft::update().log([format!("write {}", draft.log.len())]).answer("first")
}

async fn review(draft: &Draft) -> (DraftUpdate, Verdict) {
    let good = draft.answer.as_deref() == Some("good") || draft.log.len() > 5;
    let log = Draft::update().log([format!("review {:?}", draft.answer)]);
    (log, if good { Verdict::Accept } else { Verdict::Rework })
}

async fn publish(_: &Draft) -> DraftUpdate {
    Draft::update().log(["publish".to_owned()])
}

#[derive(Route, Debug)]
enum Verdict {
    #[to(write)]
    Rework,
    #[to(publish)]
    Accept,
}

fn graph() -> PersistentGraph<Draft> {
    let graph = StateGraph::<Draft>::new().edge(START, write).edge(write, review).edge(publish, END);
    graph.compile().unwrap().with_checkpointer(MemoryCheckpointer::default())
}

#[tokio::test]
async fn replay_forks_and_runs_no_earlier_nodes() {
    let thread = graph().thread("1");
    let first = thread.run(Draft::input()).await.unwrap().into_state();
    let history = thread.history().await.unwrap();
    let before_review = history.iter().find(|snapshot| snapshot.step == 1).unwrap();
    let again = thread.at(before_review.id).run_again().await.unwrap().into_state();
    assert_eq!(again.log, first.log);
    let after = thread.history().await.unwrap();
    let fork = after.iter().find(|snapshot| snapshot.source == CheckpointSource::Fork).unwrap();
    assert_eq!((fork.parent, fork.step), (Some(before_review.id), 2));
    assert_eq!(fork.next, before_review.next);
    assert_eq!(after.len(), history.len() + 1 + history.iter().filter(|s| s.step > 1).count());
    // The old branch is unchanged.
    let old = thread.at(history[0].id).state().await.unwrap().unwrap();
    assert_eq!(old.state.unwrap().log, first.log);
}

#[tokio::test]
async fn replay_of_a_final_checkpoint_changes_nothing() {
    let thread = graph().thread("1");
    let state = thread.run(Draft::input()).await.unwrap().into_state();
    let history = thread.history().await.unwrap();
    let again = thread.at(history[0].id).run_again().await.unwrap().into_state();
    assert_eq!(again.log, state.log);
    assert_eq!(thread.history().await.unwrap().len(), history.len());
}

#[tokio::test]
async fn update_as_a_node_plans_its_successors() {
    let thread = graph().thread("1");
    thread.run(Draft::input()).await.unwrap();
    let id = thread.update(Draft::update().answer("good"), as_node(write)).await.unwrap();
    let snapshot = thread.state().await.unwrap().unwrap();
    assert_eq!((snapshot.id, snapshot.source), (id, CheckpointSource::Update));
    assert_eq!(snapshot.next.iter().map(|next| &**next).collect::<Vec<_>>(), ["review"]);
    let state = thread.resume(()).await.unwrap().into_state();
    assert_eq!(&state.log[state.log.len() - 2..], ["review Some(\"good\")", "publish"]);
}

#[tokio::test]
async fn update_of_an_old_checkpoint_is_a_fork() {
    let thread = graph().thread("1");
    let first = thread.run(Draft::input()).await.unwrap().into_state();
    let history = thread.history().await.unwrap();
    let old = history.iter().find(|snapshot| snapshot.step == 1).unwrap();
    thread.at(old.id).update(Draft::update().answer("good").log(Overwrite(vec![])), None).await.unwrap();
    let state = thread.resume(()).await.unwrap().into_state();
    assert_eq!(state.log, ["review Some(\"good\")", "publish"]);
    assert_eq!(thread.at(history[0].id).state().await.unwrap().unwrap().state.unwrap().log, first.log);
}

#[tokio::test]
async fn update_as_a_routing_node_needs_a_route() {
    let thread = graph().thread("1");
    thread.run(Draft::input()).await.unwrap();
    let error = thread.update(Draft::update(), as_node(review)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidAsNode { node, .. } if node == "review"), "{error}");
    thread.update(Draft::update(), as_node(review).with_route(Verdict::Rework)).await.unwrap();
    let next = thread.state().await.unwrap().unwrap().next;
    assert_eq!(next.iter().map(|next| &**next).collect::<Vec<_>>(), ["write"]);
    thread.update(Draft::update(), as_node(END)).await.unwrap();
    assert!(thread.state().await.unwrap().unwrap().is_finished());
}

#[tokio::test]
async fn bulk_update_writes_one_superstep_each() {
    let thread = graph().thread("1");
    let supersteps = [
        vec![(Draft::update().log(["one".to_owned()]), as_node(START))],
        vec![(Draft::update().log(["two".to_owned()]), as_node(write))],
    ];
    thread.bulk_update(supersteps).await.unwrap();
    let history = thread.history().await.unwrap();
    assert_eq!(history.len(), 2);
    assert_eq!(history[0].state.as_ref().unwrap().log, ["one", "two"]);
    assert_eq!(history[0].next.iter().map(|next| &**next).collect::<Vec<_>>(), ["review"]);
    assert_eq!(history[1].next.iter().map(|next| &**next).collect::<Vec<_>>(), ["write"]);
}

#[tokio::test]
async fn copies_are_independent() {
    let thread = graph().thread("1");
    thread.run(Draft::input()).await.unwrap();
    let copy = thread.copy("2").await.unwrap();
    copy.update(Draft::update().log(["only here".to_owned()]), as_node(END)).await.unwrap();
    assert_eq!(copy.history().await.unwrap().len(), thread.history().await.unwrap().len() + 1);
    assert!(thread.delete().await.unwrap());
    assert!(!thread.delete().await.unwrap());
    assert!(thread.state().await.unwrap().is_none());
    assert!(copy.state().await.unwrap().is_some());
}
