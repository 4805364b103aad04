//! Interrupted threads that resume in another process.

use std::sync::Arc;

use serde_json::json;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::interrupt::Question as _;
use superstep::{ContextWith, END, ErrorKind, Graph, Outcome, Result, START, StateGraph};

use super::{Approve, Talk, TalkUpdate, approve, heard, ok, run_test};
use crate::engine::trace::Journal;

async fn pay(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
    let receipt = cx
        .step("charge", async {
            cx.context().note(cx.idempotency_key("charge"));
            ok("receipt".to_owned())
        })
        .await?;
    let (a, b) = tokio::join!(cx.interrupt(approve("a")), cx.interrupt(approve("b")).keyed("b"));
    Ok(heard(format!("{receipt} {a} {b}")))
}

async fn sibling(_: &Talk, cx: &ContextWith<Journal>) -> TalkUpdate {
    cx.context().note("sibling");
    heard("sibling")
}

async fn last(_: &Talk) -> TalkUpdate {
    heard("last")
}

fn graph() -> Graph<Talk, Journal> {
    StateGraph::<Talk>::with_context::<Journal>()
        .edge(START, (pay, sibling))
        .join((pay, sibling), last)
        .edge(last, END)
        .interrupt_before(last)
        .compile()
        .unwrap()
}

fn paused<S: superstep::GraphState>(outcome: Outcome<S>) -> superstep::interrupt::Pause<S> {
    match outcome {
        Outcome::Interrupted(pause) => pause,
        Outcome::Done(_) => panic!("the run is complete"),
    }
}

#[test]
fn thread_keeps_answers_durable_steps_and_breakpoints() {
    run_test(async {
        let (store, journal) = (MemoryCheckpointer::default(), Arc::new(Journal::default()));
        // Each call builds the graph anew, as another process would.
        let thread = || graph().with_checkpointer(store.clone()).thread("1");
        let first = paused(thread().run(Talk::input()).context(Arc::clone(&journal)).await?);
        let b = first.by_key::<Approve>("b")?;
        let second = paused(thread().resume(b.answer(false)).context(Arc::clone(&journal)).await?);
        let a = second.only::<Approve>()?;
        assert_eq!((a.what.as_str(), a.id()), ("a", first.interrupts()[0].id.as_str()));

        let again = thread().resume(b.answer(true)).context(Arc::clone(&journal)).await.unwrap_err();
        assert!(matches!(again.kind(), ErrorKind::InterruptNotOpen { .. }), "{again}");

        let third = paused(thread().resume(a.answer(true)).context(Arc::clone(&journal)).await?);
        assert_eq!((third.before(), third.interrupts()), (&["last".to_owned()][..], &[][..]));
        assert_eq!(third.state().heard, ["receipt true false", "sibling"]);

        let done = thread().resume(()).context(Arc::clone(&journal)).await?;
        assert!(matches!(done, Outcome::Done(_)));
        assert_eq!(done.into_state().heard, ["receipt true false", "sibling", "last"]);

        // Neither the sibling nor the step ran twice, and the idempotency key contains the thread.
        let mut done = journal.take();
        done.sort();
        let [key, sibling] = &done[..] else { panic!("{done:?}") };
        assert!(key.starts_with("1/") && key.ends_with("/charge") && sibling == "sibling", "{done:?}");
        Ok(())
    });
}

#[test]
fn answer_of_wrong_type_leaves_the_interrupt_open() {
    async fn ask(_: &Talk, cx: &ContextWith<Journal>) -> TalkUpdate {
        heard(cx.interrupt(approve("it")).await.to_string())
    }
    let graph = StateGraph::<Talk>::with_context::<Journal>()
        .edge(START, ask)
        .edge(ask, END)
        .compile()
        .unwrap()
        .with_checkpointer(MemoryCheckpointer::default());
    run_test(async {
        let thread = graph.thread("1");
        let pause = paused(thread.run(Talk::input()).context(Journal::default()).await?);
        let open = pause.interrupts()[0].clone();
        let perhaps = open.answer_json(json!("perhaps"));
        let error = thread.resume(perhaps).context(Journal::default()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidAnswer { .. }), "{error}");
        let outcome = thread.resume(open.answer_json(json!(true))).context(Journal::default()).await?;
        assert_eq!((outcome.into_state().heard, Approve::name()), (vec!["true".to_owned()], "Approve"));
        Ok(())
    });
}

#[test]
fn thread_stops_once_at_each_breakpoint() {
    async fn a(_: &Talk) -> TalkUpdate {
        heard("a")
    }
    async fn b(_: &Talk) -> TalkUpdate {
        heard("b")
    }
    let graph = StateGraph::<Talk>::new().edge(START, a).edge(a, b).edge(b, END).compile().unwrap();
    run_test(async {
        let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("1");
        let mut stops = Vec::new();
        let mut outcome = thread.run(Talk::input()).interrupt_before_all().interrupt_after_all().await?;
        while let Outcome::Interrupted(pause) = outcome {
            stops.push(format!(
                "{}<{}>{}",
                pause.state().heard.concat(),
                pause.after().concat(),
                pause.before().concat()
            ));
            outcome = thread.resume(()).interrupt_before_all().interrupt_after_all().await?;
        }
        assert_eq!(stops, ["<>a", "a<a>b"]);
        assert_eq!(outcome.into_state().heard, ["a", "b"]);
        Ok(())
    });
}
