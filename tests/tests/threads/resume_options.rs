//! The options of `resume`, and new input on a thread with pending tasks.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::CheckpointSource;
use superstep::interrupt::Question;
use superstep::thread::{OnConflict, as_node};
use superstep::{ContextWith, END, ErrorKind, Graph, NodeError, Outcome, START};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, next, recording_nodes, say, story};

recording_nodes! { sibling extra last }

#[derive(Serialize, Deserialize, Debug)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(story: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let seen = format!("{} {:?}", story.log.join("+"), story.value);
    let yes = cx.interrupt(Go).await;
    enter(cx, "ask").await?;
    Ok(say(format!("({seen} {yes})")))
}

/// `ask` asks while `sibling` has finished. `extra` follows only `START`.
fn graph() -> Graph<Story, Probe> {
    story()
        .edge(START, (ask, sibling))
        .join((ask, sibling), last)
        .edge(last, END)
        .edge(extra, END)
        .edge(START, extra)
        .compile()
        .unwrap()
}

#[tokio::test]
async fn resume_takes_an_update_and_a_goto() {
    let graph =
        story().edge(START, ask).edge(ask, last).edge(last, extra).edge(extra, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let resumed = thread.resume(go.answer(true)).update(say("told").value(5)).goto(as_node(extra));
        let outcome = resumed.context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in told (in+told Some(5) true) extra last extra");
        assert_eq!(probe.ran(), "ask extra last extra");
        let stored = store.thread(&graph).state().await.unwrap().unwrap();
        assert_eq!(stored.state.as_ref(), Some(outcome.state()));
    })
    .await;
}

#[tokio::test]
async fn failed_resume_keeps_its_update_and_goto() {
    let graph =
        story().edge(START, ask).edge(ask, last).edge(last, extra).edge(extra, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        store.thread(&graph).run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        probe.set_failing(&["ask"]);
        let go = store.thread(&graph).interrupts().await.unwrap().only::<Go>().unwrap();
        let resumed = store.thread(&graph).resume(go.answer(true)).update(say("one").value(1));
        resumed.goto(as_node(extra)).context(Arc::clone(&probe)).await.unwrap_err();
        // Two resumes may update the same field. The later one wins.
        let resumed = store.thread(&graph).resume(()).update(say("two").value(2));
        resumed.context(Arc::clone(&probe)).await.unwrap_err();
        probe.set_failing(&[]);
        let outcome = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in one two (in+one+two Some(2) true) extra last extra");
        let stored = store.thread(&graph).state().await.unwrap().unwrap();
        assert_eq!(stored.state.as_ref(), Some(outcome.state()));
        assert_eq!(probe.ran(), "ask extra ask ask last extra");
    })
    .await;
}

#[tokio::test]
async fn new_input_needs_abandon_pending_while_tasks_are_pending() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        store.thread(&graph()).run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let error = store.thread(&graph()).run(begin("new")).context(Arc::clone(&probe)).await.unwrap_err();
        let ErrorKind::PendingTasks { thread, at: None, pending, superstep, .. } = error.kind() else {
            panic!("{error}")
        };
        assert_eq!((thread.as_str(), pending.join(" "), superstep.finished.join(" ")), ("t", "ask".into(), "sibling extra".into()));
        assert_eq!((superstep.waiting.len(), superstep.waiting[0].node.as_str(), superstep.waiting[0].question.as_str()), (1, "ask", "Go"));
        assert_eq!(
            error.to_string(),
            "graph `Story`: thread `t` still has pending tasks (`ask`; `ask` waits for the answer to `Go`): continue it \
             with `resume(..)`, or discard them with `run(input).abandon_pending()`"
        );
        let old = store.thread(&graph()).interrupts().await.unwrap().only::<Go>().unwrap();

        let run = store.thread(&graph()).run(begin("new")).abandon_pending();
        let outcome = run.context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in new", "finished results are abandoned as well");
        let repeated = store.thread(&graph()).resume(old.answer(true)).context(Arc::clone(&probe)).await;
        assert!(matches!(repeated.unwrap_err().kind(), ErrorKind::InterruptNotOpen { .. }));

        // A conversation can make it the default.
        let chat = graph().with_checkpointer(store.open()).abandon_pending().thread("t");
        let outcome = chat.run(begin("newer")).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in new newer");
        let sources: Vec<CheckpointSource> =
            chat.history().await.unwrap().iter().map(|at| at.source).collect();
        assert_eq!(sources, [CheckpointSource::Loop, CheckpointSource::Input].repeat(3));
    })
    .await;
}

#[tokio::test]
async fn new_input_at_an_old_checkpoint_needs_abandon_pending() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph());
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let end = thread.resume(go.answer(true)).context(Arc::clone(&probe)).await.unwrap().into_state();
        let history = thread.history().await.unwrap();
        let old = history.iter().find(|snapshot| next(snapshot) == "ask sibling extra").unwrap().id;
        probe.ran();

        // Waiting has no effect: a checkpoint never changes.
        for waits in [OnConflict::Reject, OnConflict::Wait(Duration::from_secs(3600))] {
            let run = store.thread(&graph()).at(old).run(begin("new")).on_conflict(waits);
            let error = run.context(Arc::clone(&probe)).await.unwrap_err();
            let ErrorKind::PendingTasks { at, pending, .. } = error.kind() else { panic!("{error}") };
            assert_eq!((*at, &pending[..]), (Some(old), &["ask", "sibling", "extra"].map(str::to_owned)[..]));
            let text = error.to_string();
            assert!(
                text.contains(&format!("checkpoint {old} of thread `t` has pending tasks (`ask`")),
                "{text}"
            );
            assert!(text.contains("`run_again()`") && text.contains("`abandon_pending()`"), "{text}");
        }
        assert_eq!(thread.history().await.unwrap().len(), history.len());

        let run = store.thread(&graph()).at(old).run(begin("new")).abandon_pending();
        let outcome = run.context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in new");
        // The older branch is unchanged.
        let older = thread.at(history[0].id).state().await.unwrap().unwrap();
        assert_eq!(older.state, Some(end));
        // A checkpoint without planned tasks needs no `abandon_pending`.
        let run = store.thread(&graph()).at(history[0].id).run(begin("newer"));
        run.context(Arc::clone(&probe)).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn update_of_the_head_applies_finished_siblings() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph());
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let thread = store.thread(&graph());
        thread.update(say("for ask"), as_node(ask)).context(Arc::clone(&probe)).await.unwrap();
        let snapshot = thread.state().await.unwrap().unwrap();
        assert_eq!(snapshot.source, CheckpointSource::Update);
        let log = log_of(snapshot.state.as_ref().unwrap());
        assert_eq!((log.as_str(), next(&snapshot).as_str()), ("in sibling extra for ask", "last"));
        let outcome = store.thread(&graph()).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in sibling extra for ask last");
        assert_eq!(probe.ran(), "sibling extra last");
    })
    .await;
}

#[tokio::test]
async fn replay_asks_again_and_keeps_the_answered_branch() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph());
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let asked = thread.state().await.unwrap().unwrap();
        let old = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let first = thread.resume(old.answer(true)).context(Arc::clone(&probe)).await.unwrap().into_state();
        let end = thread.state().await.unwrap().unwrap();
        probe.ran();

        let thread = store.thread(&graph());
        let outcome = thread.at(asked.id).run_again().context(Arc::clone(&probe)).await.unwrap();
        assert!(matches!(outcome, Outcome::Interrupted(_)));
        assert_eq!(probe.ran(), "sibling extra", "siblings run again too");
        let new = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        assert_ne!(new.id(), old.id());
        let repeated = thread.resume(old.answer(true)).context(Arc::clone(&probe)).await;
        assert!(matches!(repeated.unwrap_err().kind(), ErrorKind::InterruptNotOpen { .. }));
        let second = thread.resume(new.answer(false)).context(Arc::clone(&probe)).await.unwrap();
        assert!(log_of(second.state()).contains("(in None false)"));
        let answered = thread.at(end.id).state().await.unwrap().unwrap();
        assert_eq!(answered.state, Some(first));
    })
    .await;
}

#[tokio::test]
async fn incomplete_run_id_continues_and_applies_input_once() {
    let graph = story().edge(START, sibling).edge(sibling, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let run =
            async || store.thread(&graph).run(begin("in")).run_id("r").context(Arc::clone(&probe)).await;
        probe.set_failing(&["last"]);
        run().await.unwrap_err();
        run().await.unwrap_err();
        probe.set_failing(&[]);
        for _ in 0..3 {
            assert_eq!(log_of(run().await.unwrap().state()), "in sibling last");
        }
        assert_eq!(probe.ran(), "sibling last last last");
        let other = store.thread(&graph).run(begin("other")).run_id("r2").context(Arc::clone(&probe)).await;
        assert_eq!(log_of(other.unwrap().state()), "in sibling last other sibling last");
        // A finished id keeps its result, also after other runs.
        assert_eq!(log_of(run().await.unwrap().state()), "in sibling last");
    })
    .await;
}

#[tokio::test]
async fn waiting_run_id_keeps_waiting() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let run =
            async || store.thread(&graph()).run(begin("in")).run_id("r").context(Arc::clone(&probe)).await;
        let first = run().await.unwrap();
        let second = run().await.unwrap();
        assert_eq!(first.pause().unwrap().interrupts(), second.pause().unwrap().interrupts());
        assert_eq!(log_of(second.state()), "in");
        assert_eq!(probe.ran(), "sibling extra");
    })
    .await;
}

#[tokio::test]
async fn goto_node_is_shown_with_its_interrupt() {
    let graph = story().edge(START, (last, extra)).edge(last, END).edge(extra, ask).edge(ask, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["last"]);
        store.thread(&graph).run(begin("in")).context(Arc::clone(&probe)).await.unwrap_err();
        let resumed = store.thread(&graph).resume(()).goto(as_node(ask));
        resumed.context(Arc::clone(&probe)).await.unwrap_err();

        let snapshot = store.thread(&graph).state().await.unwrap().unwrap();
        assert_eq!(next(&snapshot), "last extra ask");
        let go = store.thread(&graph).interrupts().await.unwrap().only::<Go>().unwrap();
        let shown: Vec<_> = snapshot.interrupts().map(|open| (open.task, open.id.as_str())).collect();
        assert_eq!(shown, [(2, go.id())]);
        probe.set_failing(&[]);
        let resumed = store.thread(&graph).resume(go.answer(true)).context(Arc::clone(&probe)).await;
        assert!(log_of(resumed.unwrap().state()).starts_with("in last extra (in None true)"));

        // The same on a finished thread.
        let thread = store.thread(&graph);
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        thread.resume(go.answer(false)).context(Arc::clone(&probe)).await.unwrap();
        assert!(thread.state().await.unwrap().unwrap().is_finished());
        thread.resume(()).goto(as_node(ask)).context(Arc::clone(&probe)).await.unwrap();
        assert!(!thread.state().await.unwrap().unwrap().is_finished());
        assert_eq!(thread.interrupts().await.unwrap().interrupts().len(), 1);
    })
    .await;
}
