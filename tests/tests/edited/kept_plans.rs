//! Updates that keep the plan: the tasks stay planned, with their progress.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::checkpoint::CheckpointSource;
use superstep::interrupt::Question;
use superstep::thread::{AsNode, Goto, TaskStatus, Thread, ThreadStatus, as_node, keep_plan};
use superstep::{ContextWith, END, ErrorKind, Graph, NodeError, Outcome, Route, START};

use tests::stores::{TestStore, on_every_store};
use tests::story::{Probe, Story, StoryUpdate, begin, enter, log_of, next, recording_nodes, say, story};

recording_nodes! { sibling last early }

#[derive(Serialize, Deserialize, Debug)]
struct Go {
    value: Option<u32>,
}

impl Question for Go {
    type Answer = bool;
}

/// Pays once, asks, and tells the state that it has read.
async fn ask(story: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let paid = async {
        cx.context().note("pay");
        Ok::<_, NodeError>(1_u32)
    };
    cx.step("pay", paid).await?;
    let yes = cx.interrupt(Go { value: story.value }).await;
    enter(cx, "ask").await?;
    Ok(say(format!("({} {:?} {yes})", story.log.join("+"), story.value)))
}

fn graph() -> Graph<Story, Probe> {
    story().edge(START, (ask, sibling)).join((ask, sibling), last).edge(last, END).compile().unwrap()
}

async fn waiting(store: &TestStore, graph: &Graph<Story, Probe>, probe: &Arc<Probe>) -> Thread<Story, Probe> {
    let thread = store.thread(graph);
    let outcome = thread.run(begin("in")).context(Arc::clone(probe)).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(_)));
    thread
}

async fn edit(store: &TestStore, graph: &Graph<Story, Probe>, update: StoryUpdate) {
    store.thread(graph).update(update, keep_plan()).context(Arc::<Probe>::default()).await.unwrap();
}

#[tokio::test]
async fn waiting_thread_keeps_results_steps_and_questions() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = waiting(store, &graph(), &probe).await;
        assert!(["pay sibling", "sibling pay"].contains(&probe.ran().as_str()));
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let before = thread.state().await.unwrap().unwrap();

        edit(store, &graph(), say("edited")).await;
        edit(store, &graph(), say("twice")).await;
        let head = thread.state().await.unwrap().unwrap();
        assert_eq!((head.source, head.step), (CheckpointSource::Update, before.step + 2));
        assert_eq!(log_of(head.state.as_ref().unwrap()), "in edited twice");
        assert_eq!(next(&head), "ask sibling");
        let statuses: Vec<_> = head.tasks.iter().map(|task| task.status()).collect();
        assert_eq!(statuses, [TaskStatus::WaitingForAnswer, TaskStatus::Finished]);
        let ids = |at: &superstep::thread::Snapshot<Story>| {
            at.tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&head), ids(&before), "the tasks are the same");
        let unfinished = graph().with_checkpointer(store.open()).unfinished().await.unwrap();
        assert!(matches!(unfinished[0].status, ThreadStatus::WaitingForAnswer(_)));
        // The old checkpoint is as it was.
        let old = thread.at(before.id).state().await.unwrap().unwrap();
        assert_eq!(log_of(old.state.as_ref().unwrap()), "in");

        // The answer to the question that was shown before the edit counts. The sibling does not run again.
        let outcome = thread.resume(go.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in edited twice (in+edited+twice None true) sibling last");
        assert_eq!(probe.ran(), "ask last", "the step is not repeated");
    })
    .await;
}

#[tokio::test]
async fn edit_that_changes_a_question_has_it_asked_again() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = waiting(store, &graph(), &probe).await;
        let old = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        edit(store, &graph(), Story::update().value(7)).await;
        // The stored question is the one that was asked. Once the task runs, it asks the new one.
        let outcome = thread.resume(old.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        let asked = outcome.pause().unwrap().only::<Go>().unwrap();
        assert_eq!(asked.value, Some(7));
        let outcome = thread.resume(asked.answer(false)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in (in Some(7) false) sibling last");
    })
    .await;
}

#[tokio::test]
async fn failed_and_finished_threads_can_be_edited() {
    on_every_store(async |store| {
        let graph = story().edge(START, (early, sibling)).join((early, sibling), last).edge(last, END);
        let graph = graph.compile().unwrap();
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["early"]);
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap_err();
        edit(store, &graph, say("edited")).await;
        let head = thread.state().await.unwrap().unwrap();
        assert_eq!(head.tasks[0].status(), TaskStatus::Failed);
        assert_eq!(head.tasks[0].error.as_ref().unwrap().attempt, 1);
        let unfinished = graph.with_checkpointer(store.open()).unfinished().await.unwrap();
        assert!(matches!(unfinished[0].status, ThreadStatus::Failed { .. }));
        probe.set_failing(&[]);
        probe.ran();
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap().into_state();
        assert_eq!(log_of(&ended), "in edited early sibling last");

        edit(store, &graph, say("after")).await;
        let head = thread.state().await.unwrap().unwrap();
        assert!(head.is_finished() && head.next.is_empty());
        assert!(graph.with_checkpointer(store.open()).unfinished().await.unwrap().is_empty());
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap().into_state();
        assert_eq!(log_of(&ended), "in edited early sibling last after");
        let more = thread.run(begin("more")).context(Arc::clone(&probe)).await.unwrap().into_state();
        assert!(log_of(&more).ends_with("last after more early sibling last"), "{}", log_of(&more));
    })
    .await;
}

#[derive(Route)]
enum Work {
    #[to(item)]
    Item(u32),
    #[to(late)]
    Late,
}

async fn deal(_: &Story) -> Vec<Work> {
    vec![Work::Item(1), Work::Late, Work::Item(2)]
}

async fn item(number: &u32, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    enter(cx, "item").await?;
    let yes = *number == 1 || cx.interrupt(Go { value: Some(*number) }).await;
    Ok(say(format!("{number}{yes}")))
}

async fn late(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    enter(cx, "late").await?;
    Ok(say("late"))
}

#[tokio::test]
async fn packets_deferred_tasks_and_added_tasks_stay_planned() {
    let graph = story().edge(START, deal).node(deal).edge(item, END).defer(late).edge(late, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = waiting(store, &graph, &probe).await;
        let goto = Goto::named("item").packet(2);
        thread.resume(()).goto(goto).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(thread.interrupts().await.unwrap().interrupts().len(), 2);
        edit(store, &graph, say("edited")).await;
        let head = thread.state().await.unwrap().unwrap();
        assert_eq!(next(&head), "item item item");
        assert_eq!(head.tasks[2].packet, Some(json!(2)));
        let asked = thread.interrupts().await.unwrap();
        let answers: Vec<_> = asked.all::<Go>().unwrap().iter().map(|go| go.answer(true)).collect();
        let ended = thread.resume(answers).context(Arc::clone(&probe)).await.unwrap().into_state();
        assert_eq!(log_of(&ended), "in edited 1true 2true 2true late");
    })
    .await;
}

#[tokio::test]
async fn thread_at_a_breakpoint_passes_it_after_an_edit() {
    let graph = story().edge(START, early).edge(early, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph);
        let run = thread.run(begin("in")).interrupt_before(last).interrupt_after(early);
        run.context(Arc::clone(&probe)).await.unwrap();
        edit(store, &graph, say("edited")).await;
        let pause = thread.interrupts().await.unwrap();
        assert_eq!((pause.before(), pause.after()), (&["last".to_owned()][..], &["early".to_owned()][..]));
        let unfinished = graph.with_checkpointer(store.open()).unfinished().await.unwrap();
        assert!(matches!(unfinished[0].status, ThreadStatus::AtBreakpoint { .. }));
        let resumed = thread.resume(()).interrupt_before(last).interrupt_after(early);
        let ended = resumed.context(Arc::clone(&probe)).await.unwrap().into_state();
        assert_eq!(log_of(&ended), "in early edited last");
    })
    .await;
}

#[tokio::test]
async fn edit_of_an_old_checkpoint_begins_its_tasks_anew_on_a_branch() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = waiting(store, &graph(), &probe).await;
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let old = thread.state().await.unwrap().unwrap();
        thread.resume(go.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        probe.ran();

        let forked = thread.at(old.id).update(say("edited"), keep_plan()).context(Arc::clone(&probe));
        let id = forked.await.unwrap();
        let head = thread.state().await.unwrap().unwrap();
        assert_eq!((head.id, head.parent, next(&head).as_str()), (id, Some(old.id), "ask sibling"));
        assert!(head.tasks.iter().all(|task| task.status() == TaskStatus::Planned));
        let outcome = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        let asked = outcome.pause().unwrap().only::<Go>().unwrap();
        assert_ne!(asked.id(), go.id());
        assert!(["pay sibling", "sibling pay"].contains(&probe.ran().as_str()));
        let ended = thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "in edited (in+edited None true) sibling last");
    })
    .await;
}

#[tokio::test]
async fn edits_come_before_other_supersteps_of_a_bulk_update() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = waiting(store, &graph(), &probe).await;
        let supersteps = vec![
            vec![(say("a"), keep_plan()), (say("b"), keep_plan())],
            vec![(say("c"), keep_plan())],
            vec![(say("asked"), as_node(ask))],
        ];
        thread.bulk_update(supersteps).context(Arc::clone(&probe)).await.unwrap();
        let head = thread.state().await.unwrap().unwrap();
        // The finished sibling is applied with the update, and the join is full.
        assert_eq!(
            (log_of(head.state.as_ref().unwrap()).as_str(), next(&head).as_str()),
            ("in a b c sibling asked", "last")
        );
        edit(store, &graph(), say("d")).await;
        // No node is named: the last node is still `ask` next to `sibling`.
        let error = thread.update(say("e"), None).context(Arc::clone(&probe)).await.unwrap_err();
        assert!(!matches!(error.kind(), ErrorKind::Checkpoint { .. }), "{error}");
        let ended = thread.resume(()).context(probe).await.unwrap();
        assert_eq!(log_of(ended.state()), "in a b c sibling asked d last");
    })
    .await;
}

#[tokio::test]
async fn edit_next_to_another_node_or_with_a_route_is_refused() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = waiting(store, &graph(), &probe).await;
        let before = thread.state().await.unwrap().unwrap();
        let mixed = vec![vec![(say("a"), keep_plan()), (say("b"), as_node(ask))]];
        let error = thread.bulk_update(mixed).context(Arc::clone(&probe)).await.unwrap_err();
        assert!(
            error.to_string().contains("an update in the place of `ask`, which replaces the plan"),
            "{error}"
        );
        let routed = keep_plan().with_route_named("x");
        let error = thread.update(say("a"), routed).context(Arc::clone(&probe)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidAsNode { .. }), "{error}");
        let error = thread.resume(()).goto(keep_plan()).context(Arc::clone(&probe)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidGoto { .. }), "{error}");
        let unknown = thread.update(say("a"), AsNode::named("keep_plan()")).context(Arc::clone(&probe)).await;
        assert!(matches!(unknown.unwrap_err().kind(), ErrorKind::InvalidAsNode { .. }));
        let late =
            thread.update(say("a"), keep_plan()).if_epoch(before.epoch + 1).context(Arc::clone(&probe)).await;
        assert!(matches!(late.unwrap_err().kind(), ErrorKind::Conflict(_)));
        assert_eq!(thread.state().await.unwrap().unwrap().id, before.id);
        // A new thread begins with the update, and nothing is planned.
        let new = graph().with_checkpointer(store.open()).thread("new");
        new.update(say("first"), keep_plan()).context(probe).await.unwrap();
        let head = new.state().await.unwrap().unwrap();
        assert!(head.is_finished());
        assert_eq!((log_of(head.state.as_ref().unwrap()).as_str(), head.step), ("first", 0));
    })
    .await;
}
