//! Roll back: the later checkpoints of a thread are removed, and the additions of later resumptions are taken back.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{CheckpointId, CheckpointQuery, NamespaceQuery, ThreadQuery};
use superstep::interrupt::Question;
use superstep::subgraph::CallResult;
use superstep::thread::{Snapshot, TaskStatus, Thread, ThreadStatus, as_node, keep_plan};
use superstep::{ContextWith, Durability, END, ErrorKind, Graph, NodeError, Outcome, START};

use tests::stores::{TestStore, on_every_store};
use tests::story::{Probe, Story, StoryUpdate, begin, enter, log_of, next, recording_nodes, say, story};

recording_nodes! { first sibling last open close print }

#[derive(Serialize, Deserialize, Debug)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

#[derive(Serialize, Deserialize, Debug)]
struct Then;

impl Question for Then {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Go).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

async fn twice(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    cx.step("pay", async {
        cx.context().note("pay");
        Ok::<_, NodeError>(1_u32)
    })
    .await?;
    let yes = cx.interrupt(Go).await;
    let then = cx.interrupt(Then).await;
    enter(cx, "twice").await?;
    Ok(say(format!("twice {yes} {then}")))
}

fn graph() -> Graph<Story, Probe> {
    let graph = story().edge(START, first).edge(first, (twice, sibling)).join((twice, sibling), last);
    graph.edge(last, END).compile().unwrap()
}

type Tale = Thread<Story, Probe>;

async fn state(thread: &Tale) -> Snapshot<Story> {
    thread.state().await.unwrap().unwrap()
}

/// The words in alphabetical order: tasks of a superstep run side by side.
fn sorted(words: &str) -> String {
    let mut words: Vec<&str> = words.split(' ').collect();
    words.sort_unstable();
    words.join(" ")
}

async fn steps(thread: &Tale) -> Vec<i64> {
    thread.history().await.unwrap().iter().map(|at| at.step).collect()
}

/// The checkpoints in each namespace below the root.
async fn calls(store: &TestStore) -> Vec<(String, usize)> {
    let store = store.open();
    let mut all = Vec::new();
    for found in store.namespaces(NamespaceQuery::new("t")).await.unwrap().items {
        let query = CheckpointQuery::new("t").namespace(found.namespace.clone());
        let count = store.list(query).await.unwrap().items.len();
        if !found.namespace.is_empty() {
            all.push((found.namespace.to_string(), count));
        }
    }
    all
}

async fn run_to_the_end(thread: &Tale, probe: &Arc<Probe>) -> Story {
    let mut outcome = thread.resume(()).context(Arc::clone(probe)).await.unwrap();
    while let Outcome::Interrupted(pause) = &outcome {
        let answers: Vec<_> =
            pause.interrupts().iter().map(|open| open.answer_json(serde_json::json!(true))).collect();
        outcome = thread.resume(answers).context(Arc::clone(probe)).await.unwrap();
    }
    outcome.into_state()
}

#[tokio::test]
async fn resumption_is_undone_and_its_question_is_asked_again() {
    on_every_store(async |store| {
        for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
            let probe = Arc::new(Probe::default());
            let thread = store.thread(&graph());
            thread.delete().await.unwrap();
            thread.run(begin("in")).durability(durability).context(Arc::clone(&probe)).await.unwrap();
            let asked = state(&thread).await;
            let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
            let paused = thread.resume(go.answer(true)).update(say("patch")).goto(as_node(last));
            paused.durability(durability).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(next(&state(&thread).await), "twice sibling last");
            run_to_the_end(&thread, &probe).await;
            assert_eq!(sorted(&probe.ran()), "first last last pay sibling twice");

            assert_eq!(store.thread(&graph()).roll_back_to(asked.id).await.unwrap(), Some(asked.id));
            let thread = store.thread(&graph());
            let head = state(&thread).await;
            assert_eq!((head.id, next(&head).as_str()), (asked.id, "twice sibling"));
            assert_eq!(head.state, asked.state, "the patch is taken back");
            let statuses: Vec<_> = head.tasks.iter().map(|task| task.status()).collect();
            assert_eq!(statuses, [TaskStatus::WaitingForAnswer, TaskStatus::Finished]);
            let open = thread.interrupts().await.unwrap();
            assert_eq!(open.only::<Go>().unwrap().id(), go.id(), "only the first question");
            let unfinished = graph().with_checkpointer(store.open()).unfinished().await.unwrap();
            assert!(matches!(&unfinished[0].status, ThreadStatus::WaitingForAnswer(open) if open.len() == 1));
            assert!(head.epoch > asked.epoch);

            // Nothing is left to undo: nothing is written.
            thread.roll_back_to(asked.id).await.unwrap();
            assert_eq!(state(&thread).await.epoch, head.epoch);

            let outcome = thread.resume(go.answer(false)).context(Arc::clone(&probe)).await.unwrap();
            let then = outcome.pause().unwrap().only::<Then>().unwrap();
            let ended = thread.resume(then.answer(true)).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(log_of(ended.state()), "in first twice false true sibling last");
            assert_eq!(probe.ran(), "twice last", "neither the step nor the sibling runs again");
        }
    })
    .await;
}

#[tokio::test]
async fn later_checkpoints_of_all_branches_are_removed() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph());
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        run_to_the_end(&thread, &probe).await;
        let history = thread.history().await.unwrap();
        let target = history.iter().find(|at| at.step == 0).unwrap();
        thread
            .at(history[1].id)
            .update(say("fork"), as_node(last))
            .context(Arc::clone(&probe))
            .await
            .unwrap();
        thread.run(begin("more")).context(Arc::clone(&probe)).await.unwrap();
        let before = state(&thread).await;

        let late = thread.roll_back_to(target.id).if_epoch(before.epoch - 1).await.unwrap_err();
        assert!(matches!(late.kind(), ErrorKind::Conflict(_)));
        let unknown = CheckpointId::after(Some(before.id));
        let error = thread.roll_back_to(unknown).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NoCheckpoint { checkpoint, .. } if *checkpoint == unknown));
        assert_eq!(state(&thread).await.id, before.id);

        thread.roll_back_to(target.id).if_epoch(before.epoch).await.unwrap();
        assert_eq!(steps(&store.thread(&graph())).await, [0, -1]);
        let unfinished = graph().with_checkpointer(store.open()).unfinished().await.unwrap();
        assert!(matches!(unfinished[0].status, ThreadStatus::Running));
        let listed = store.open().threads(ThreadQuery::default()).await.unwrap().items;
        let changed_at = listed[0].status.changed_at.unwrap();
        assert!(changed_at >= before.created_at, "the status is that of the roll back");
        assert_eq!(log_of(&run_to_the_end(&thread, &probe).await), "in first twice true true sibling last");
    })
    .await;
}

#[tokio::test]
async fn roll_back_to_nothing_keeps_the_epoch() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph());
        assert_eq!(thread.roll_back_to(None).await.unwrap(), None, "a thread that does not exist");
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        run_to_the_end(&thread, &probe).await;
        let epoch = state(&thread).await.epoch;
        assert_eq!(thread.roll_back_to(None).await.unwrap(), None);
        assert!(thread.state().await.unwrap().is_none());
        assert!(thread.history().await.unwrap().is_empty());
        assert!(graph().with_checkpointer(store.open()).unfinished().await.unwrap().is_empty());
        let late = thread.run(begin("late")).if_epoch(epoch).context(Arc::clone(&probe)).await.unwrap_err();
        assert!(matches!(late.kind(), ErrorKind::Conflict(_)));
        thread.run(begin("new")).if_epoch(epoch + 1).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(&run_to_the_end(&thread, &probe).await), "new first twice true true sibling last");
    })
    .await;
}

#[tokio::test]
async fn active_run_fails_with_a_conflict() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph());
        let run = thread.run(begin("in")).durability(Durability::Sync).context(Arc::clone(&probe));
        let mut run = run.start().await.unwrap().unwrap();
        run.step().await.unwrap();
        let target = state(&thread).await;
        store.thread(&graph()).roll_back_to(target.id).await.unwrap();
        let error = async {
            loop {
                if let Err(error) = run.step().await {
                    break error;
                }
            }
        };
        assert!(matches!(error.await.kind(), ErrorKind::Conflict(_)));
        assert_eq!(state(&thread).await.id, target.id);

        // The other order: a run that begins after the thread was read.
        let fresh = store.thread(&graph());
        let epoch = state(&fresh).await.epoch;
        fresh.resume(()).context(Arc::clone(&probe)).await.unwrap();
        let error = fresh.roll_back_to(target.id).if_epoch(epoch).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Conflict(_)));
    })
    .await;
}

#[tokio::test]
async fn thread_stops_at_its_breakpoint_again() {
    let graph = story().edge(START, first).edge(first, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph);
        thread.run(begin("in")).interrupt_before(last).context(Arc::clone(&probe)).await.unwrap();
        let stopped = state(&thread).await;
        thread.resume(()).interrupt_before(last).context(Arc::clone(&probe)).await.unwrap();
        thread.roll_back_to(stopped.id).await.unwrap();
        let pause = store.thread(&graph).interrupts().await.unwrap();
        assert_eq!(pause.before(), ["last"]);
        let unfinished = graph.with_checkpointer(store.open()).unfinished().await.unwrap();
        assert!(
            matches!(&unfinished[0].status, ThreadStatus::AtBreakpoint { before, .. } if before == &["last"])
        );
        let ended = thread.resume(()).interrupt_before(last).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "in first last");
    })
    .await;
}

#[tokio::test]
async fn edit_is_undone_with_the_answers_that_came_after_it() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph());
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let asked = state(&thread).await;
        thread.resume(go.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        let edit = thread.update(say("edited"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();
        run_to_the_end(&thread, &probe).await;

        // At the edit, the first answer was known, and the second question was open.
        thread.roll_back_to(edit).await.unwrap();
        let then = thread.interrupts().await.unwrap().only::<Then>().unwrap();
        let ended = thread.resume(then.answer(false)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "in first edited twice true false sibling last");

        thread.roll_back_to(asked.id).await.unwrap();
        assert_eq!(thread.interrupts().await.unwrap().only::<Go>().unwrap().id(), go.id());
        assert_eq!(log_of(&run_to_the_end(&thread, &probe).await), "in first twice true true sibling last");
    })
    .await;
}

fn inner() -> Graph<Story, Probe> {
    story().edge(START, open).edge(open, ask).edge(ask, close).edge(close, END).compile().unwrap()
}

#[tokio::test]
async fn subgraph_call_that_was_answered_begins_anew() {
    let sub = inner().as_node("sub");
    let graph = story().edge(START, (&sub, sibling)).edge(&sub, print).edge(print, END).edge(sibling, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
            let probe = Arc::new(Probe::default());
            let thread = store.thread(&graph);
            thread.delete().await.unwrap();
            thread.run(begin("in")).durability(durability).context(Arc::clone(&probe)).await.unwrap();
            let asked = state(&thread).await;
            let open_calls = calls(store).await;
            let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
            // Before an answer, a roll back to the head keeps the call.
            thread.roll_back_to(asked.id).await.unwrap();
            assert_eq!(calls(store).await, open_calls);
            let edit = thread.update(say("edited"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();
            let resumed = thread.resume(go.answer(true)).durability(durability);
            resumed.context(Arc::clone(&probe)).await.unwrap();
            probe.ran();

            for (target, log) in [(edit, "in edited"), (asked.id, "in")] {
                store.thread(&graph).roll_back_to(target).await.unwrap();
                assert_eq!(calls(store).await, []);
                let head = state(&thread).await;
                assert_eq!(log_of(head.state.as_ref().unwrap()), log);
                assert!(thread.within(&sub).state().await.unwrap().is_none());
                let ended = run_to_the_end(&thread, &probe).await;
                assert_eq!(log_of(&ended), format!("{log} open ask true close sibling print"));
                assert_eq!(probe.ran(), "open ask close print", "the sibling keeps its result");
            }
            thread.roll_back_to(None).await.unwrap();
            assert_eq!(calls(store).await, []);
        }
    })
    .await;
}

#[tokio::test]
async fn kept_state_of_a_subgraph_is_as_it_was() {
    let deep = inner().as_node("deep").mapped(|_: &Story| begin("deep"), |_: CallResult<Story>| say("deep"));
    let deep = deep.per_thread();
    let middle = story().edge(START, &deep).edge(&deep, END).compile().unwrap();
    let middle =
        middle.as_node("middle").mapped(|_: &Story| begin("middle"), |_: CallResult<Story>| say("middle"));
    let middle = middle.per_thread();
    let graph = story().edge(START, &middle).edge(&middle, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph);
        let kept = async || {
            let call = thread.within(&middle).within(&deep).state().await.unwrap();
            call.map(|call| call.state.unwrap().log.iter().filter(|entry| *entry == "close").count())
        };
        let mut ends = Vec::new();
        for round in 1..4 {
            thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
            run_to_the_end(&thread, &probe).await;
            ends.push((state(&thread).await.id, calls(store).await));
            assert_eq!(kept().await, Some(round));
        }
        // An update between two calls belongs to the checkpoint at which it was made.
        let call = thread.within(&middle);
        call.update(say("between"), as_node(END)).context(Arc::clone(&probe)).await.unwrap();

        store.thread(&graph).roll_back_to(ends[1].0).await.unwrap();
        assert_eq!((kept().await, calls(store).await), (Some(2), ends[1].1.clone()));
        thread.run(begin("again")).context(Arc::clone(&probe)).await.unwrap();
        run_to_the_end(&thread, &probe).await;
        assert_eq!(kept().await, Some(3));
        thread.roll_back_to(ends[0].0).await.unwrap();
        assert_eq!((kept().await, calls(store).await), (Some(1), ends[0].1.clone()));
    })
    .await;
}

async fn sleeper(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    cx.sleep(std::time::Duration::from_secs(3_600)).await;
    Ok(say("slept"))
}

#[tokio::test]
async fn status_is_that_of_the_remaining_head() {
    let graph = story().edge(START, (sleeper, ask)).edge(sleeper, END).edge(ask, last).edge(last, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph);
        let status = async || {
            let mut unfinished = graph.with_checkpointer(store.open()).unfinished().await.unwrap();
            unfinished.pop().map(|found| (found.status, found.wakes_at))
        };
        let limit = std::time::Duration::from_secs(1);
        let run = thread.run(begin("in")).suspend_sleeps_longer_than(limit);
        run.context(Arc::clone(&probe)).await.unwrap();
        let both = state(&thread).await.id;
        let (ThreadStatus::WaitingForAnswer(_), Some(wakes_at)) = status().await.unwrap() else { panic!() };
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let resumed = thread.resume(go.answer(true)).suspend_sleeps_longer_than(limit);
        resumed.context(Arc::clone(&probe)).await.unwrap();
        assert!(matches!(status().await.unwrap(), (ThreadStatus::WaitingForTime, Some(_))));

        // The answer is taken back, and the timer is the same.
        thread.roll_back_to(both).await.unwrap();
        let (ThreadStatus::WaitingForAnswer(open), Some(again)) = status().await.unwrap() else { panic!() };
        assert_eq!((open.len(), again), (1, wakes_at));

        // A failed task.
        probe.set_failing(&["ask"]);
        let resumed = thread.resume(go.answer(true)).suspend_sleeps_longer_than(limit);
        resumed.context(Arc::clone(&probe)).await.unwrap_err();
        thread.update(say("by hand"), as_node(END)).context(Arc::clone(&probe)).await.unwrap();
        assert!(status().await.is_none());
        thread.roll_back_to(both).await.unwrap();
        assert!(matches!(status().await.unwrap(), (ThreadStatus::WaitingForAnswer(_), Some(_))));
        thread.roll_back_to(None).await.unwrap();
        assert!(status().await.is_none());
    })
    .await;
}
