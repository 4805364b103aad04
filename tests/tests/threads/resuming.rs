//! What can come with a resumption, and what new input does to a thread that has not come to rest.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::CheckpointSource;
use superstep::interrupt::Question;
use superstep::thread::{OnConflict, as_node};
use superstep::{ContextWith, END, ErrorKind, Graph, NodeError, Outcome, START};

use super::stores::on_every_store;
use super::story::{Story, StoryUpdate, World, begin, enter, next, say, story, tellers, told};

tellers! { sibling extra last }

#[derive(Serialize, Deserialize, Debug)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(story: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    let seen = format!("{} {:?}", story.log.join("+"), story.value);
    let yes = cx.interrupt(Go).await;
    enter(cx, "ask").await?;
    Ok(say(format!("({seen} {yes})")))
}

/// `ask` asks beside `sibling`, which has finished by then; `extra` follows nothing but `last`.
fn graph() -> Graph<Story, World> {
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
async fn a_resumption_brings_an_update_and_a_node_to_run_besides() {
    let graph =
        story().edge(START, ask).edge(ask, last).edge(last, extra).edge(extra, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let thread = place.thread(&graph);
        thread.run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let resumed = thread.resume(go.answer(true)).update(say("told").value(5)).goto(as_node(extra));
        let outcome = resumed.context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in told (in+told Some(5) true) extra last extra");
        assert_eq!(world.ran(), "ask extra last extra");
        let stored = place.thread(&graph).state().await.unwrap().unwrap();
        assert_eq!(stored.state.as_ref(), Some(outcome.state()));
    })
    .await;
}

#[tokio::test]
async fn an_update_and_a_goto_that_came_with_a_failed_resumption_are_kept_and_applied_once() {
    let graph =
        story().edge(START, ask).edge(ask, last).edge(last, extra).edge(extra, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        place.thread(&graph).run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        world.breaks(&["ask"]);
        let go = place.thread(&graph).interrupts().await.unwrap().only::<Go>().unwrap();
        let resumed = place.thread(&graph).resume(go.answer(true)).update(say("one").value(1));
        resumed.goto(as_node(extra)).context(Arc::clone(&world)).await.unwrap_err();
        // Each of two resumptions may write the same field: the later one wins.
        let resumed = place.thread(&graph).resume(()).update(say("two").value(2));
        resumed.context(Arc::clone(&world)).await.unwrap_err();
        world.breaks(&[]);
        let outcome = place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in one two (in+one+two Some(2) true) extra last extra");
        let stored = place.thread(&graph).state().await.unwrap().unwrap();
        assert_eq!(stored.state.as_ref(), Some(outcome.state()));
        assert_eq!(world.ran(), "ask extra ask ask last extra");
    })
    .await;
}

#[tokio::test]
async fn new_input_on_an_open_question_is_refused_unless_what_is_pending_is_given_up() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        place.thread(&graph()).run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        let error = place.thread(&graph()).run(begin("new")).context(Arc::clone(&world)).await.unwrap_err();
        let ErrorKind::PendingTasks { thread, at: None, next: planned, .. } = error.kind() else {
            panic!("{error}")
        };
        assert_eq!((thread.as_str(), planned.len()), ("t", 3));
        let old = place.thread(&graph()).interrupts().await.unwrap().only::<Go>().unwrap();

        let run = place.thread(&graph()).run(begin("new")).abandon_pending();
        let outcome = run.context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in new", "what had finished is given up as well");
        let click = place.thread(&graph()).resume(old.answer(true)).context(Arc::clone(&world)).await;
        assert!(matches!(click.unwrap_err().kind(), ErrorKind::InterruptNotOpen { .. }));

        // A chat makes it its rule.
        let chat = graph().with_checkpointer(place.open()).abandon_pending().thread("t");
        let outcome = chat.run(begin("newer")).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in new newer");
        let sources: Vec<CheckpointSource> =
            chat.history().await.unwrap().iter().map(|at| at.source).collect();
        assert_eq!(sources, [CheckpointSource::Loop, CheckpointSource::Input].repeat(3));
    })
    .await;
}

#[tokio::test]
async fn new_input_behind_an_old_checkpoint_says_that_it_takes_the_place_of_what_was_planned_there() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let thread = place.thread(&graph());
        thread.run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let end = thread.resume(go.answer(true)).context(Arc::clone(&world)).await.unwrap().into_state();
        let history = thread.history().await.unwrap();
        let old = history.iter().find(|snapshot| next(snapshot) == "ask sibling extra").unwrap().id;
        world.ran();

        // Waiting would be in vain: a checkpoint never changes.
        for waits in [OnConflict::Reject, OnConflict::Wait(Duration::from_secs(3600))] {
            let run = place.thread(&graph()).at(old).run(begin("new")).on_conflict(waits);
            let error = run.context(Arc::clone(&world)).await.unwrap_err();
            let ErrorKind::PendingTasks { at, next, .. } = error.kind() else { panic!("{error}") };
            assert_eq!((*at, &next[..]), (Some(old), &["ask", "sibling", "extra"].map(str::to_owned)[..]));
            let text = error.to_string();
            assert!(
                text.contains(&format!("checkpoint {old} of thread `t` has pending tasks (`ask`")),
                "{text}"
            );
            assert!(text.contains("`run_again()`") && text.contains("`abandon_pending()`"), "{text}");
        }
        assert_eq!(thread.history().await.unwrap().len(), history.len());

        let run = place.thread(&graph()).at(old).run(begin("new")).abandon_pending();
        let outcome = run.context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in new");
        // The branch that it leaves has what it had.
        let left = thread.at(history[0].id).state().await.unwrap().unwrap();
        assert_eq!(left.state, Some(end));
        // At a checkpoint with nothing planned there is nothing to say.
        let run = place.thread(&graph()).at(history[0].id).run(begin("newer"));
        run.context(Arc::clone(&world)).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn an_update_of_the_head_applies_what_had_finished_beside_it() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let thread = place.thread(&graph());
        thread.run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        let thread = place.thread(&graph());
        thread.update(say("for ask"), as_node(ask)).context(Arc::clone(&world)).await.unwrap();
        let snapshot = thread.state().await.unwrap().unwrap();
        assert_eq!(snapshot.source, CheckpointSource::Update);
        let log = told(snapshot.state.as_ref().unwrap());
        assert_eq!((log.as_str(), next(&snapshot).as_str()), ("in sibling extra for ask", "last"));
        let outcome = place.thread(&graph()).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in sibling extra for ask last");
        assert_eq!(world.ran(), "sibling extra last");
    })
    .await;
}

#[tokio::test]
async fn a_replay_asks_again_and_leaves_the_answered_branch_as_it_is() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let thread = place.thread(&graph());
        thread.run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        let asked = thread.state().await.unwrap().unwrap();
        let old = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let first = thread.resume(old.answer(true)).context(Arc::clone(&world)).await.unwrap().into_state();
        let end = thread.state().await.unwrap().unwrap();
        world.ran();

        let thread = place.thread(&graph());
        let outcome = thread.at(asked.id).run_again().context(Arc::clone(&world)).await.unwrap();
        assert!(matches!(outcome, Outcome::Interrupted(_)));
        assert_eq!(world.ran(), "sibling extra", "siblings run again too");
        let new = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        assert_ne!(new.id(), old.id());
        let click = thread.resume(old.answer(true)).context(Arc::clone(&world)).await;
        assert!(matches!(click.unwrap_err().kind(), ErrorKind::InterruptNotOpen { .. }));
        let second = thread.resume(new.answer(false)).context(Arc::clone(&world)).await.unwrap();
        assert!(told(second.state()).contains("(in None false)"));
        let kept = thread.at(end.id).state().await.unwrap().unwrap();
        assert_eq!(kept.state, Some(first));
    })
    .await;
}

#[tokio::test]
async fn a_run_of_an_id_that_was_not_complete_goes_on_and_applies_its_input_once() {
    let graph = story().edge(START, sibling).edge(sibling, last).edge(last, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let run =
            async || place.thread(&graph).run(begin("in")).run_id("r").context(Arc::clone(&world)).await;
        world.breaks(&["last"]);
        run().await.unwrap_err();
        run().await.unwrap_err();
        world.breaks(&[]);
        for _ in 0..3 {
            assert_eq!(told(run().await.unwrap().state()), "in sibling last");
        }
        assert_eq!(world.ran(), "sibling last last last");
        let other = place.thread(&graph).run(begin("other")).run_id("r2").context(Arc::clone(&world)).await;
        assert_eq!(told(other.unwrap().state()), "in sibling last other sibling last");
        // An id that was had is had for ever.
        assert_eq!(told(run().await.unwrap().state()), "in sibling last");
    })
    .await;
}

#[tokio::test]
async fn a_run_of_an_id_that_waits_for_an_answer_waits_on() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let run =
            async || place.thread(&graph()).run(begin("in")).run_id("r").context(Arc::clone(&world)).await;
        let first = run().await.unwrap();
        let second = run().await.unwrap();
        assert_eq!(first.pause().unwrap().interrupts(), second.pause().unwrap().interrupts());
        assert_eq!(told(second.state()), "in");
        assert_eq!(world.ran(), "sibling extra");
    })
    .await;
}

#[tokio::test]
async fn a_node_that_a_resumption_has_added_is_shown_with_what_it_asks() {
    let graph = story().edge(START, (last, extra)).edge(last, END).edge(extra, ask).edge(ask, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["last"]);
        place.thread(&graph).run(begin("in")).context(Arc::clone(&world)).await.unwrap_err();
        let resumed = place.thread(&graph).resume(()).goto(as_node(ask));
        resumed.context(Arc::clone(&world)).await.unwrap_err();

        let snapshot = place.thread(&graph).state().await.unwrap().unwrap();
        assert_eq!(next(&snapshot), "last extra ask");
        let go = place.thread(&graph).interrupts().await.unwrap().only::<Go>().unwrap();
        let shown: Vec<_> = snapshot.interrupts().map(|open| (open.task, open.id.as_str())).collect();
        assert_eq!(shown, [(2, go.id())]);
        world.breaks(&[]);
        let resumed = place.thread(&graph).resume(go.answer(true)).context(Arc::clone(&world)).await;
        assert!(told(resumed.unwrap().state()).starts_with("in last extra (in None true)"));

        // Also where nothing else is planned.
        let thread = place.thread(&graph);
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        thread.resume(go.answer(false)).context(Arc::clone(&world)).await.unwrap();
        assert!(thread.state().await.unwrap().unwrap().is_finished());
        thread.resume(()).goto(as_node(ask)).context(Arc::clone(&world)).await.unwrap();
        assert!(!thread.state().await.unwrap().unwrap().is_finished());
        assert_eq!(thread.interrupts().await.unwrap().interrupts().len(), 1);
    })
    .await;
}
