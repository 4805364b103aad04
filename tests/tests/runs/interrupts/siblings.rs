//! Siblings of interrupted tasks: they finish and keep their results, and nothing is applied yet.

use std::sync::Arc;

use superstep::{ContextWith, END, ErrorKind, FailureMode, Graph, START, StateGraph, bail};

use super::{Approve, Talk, TalkUpdate, approve, heard, until_stopped};
use crate::engine::trace::{Journal, block_on, workers};

async fn first(_: &Talk, cx: &ContextWith<Journal>) -> TalkUpdate {
    cx.context().note("first");
    heard(format!("first {}", cx.interrupt(approve("first")).await))
}

async fn plain(_: &Talk, cx: &ContextWith<Journal>) -> TalkUpdate {
    // Still running when its siblings are suspended.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    cx.context().note("plain");
    heard("plain")
}

async fn second(_: &Talk, cx: &ContextWith<Journal>) -> TalkUpdate {
    cx.context().note("second");
    heard(format!("second {}", cx.interrupt(approve("second")).await))
}

async fn broken(_: &Talk, cx: &ContextWith<Journal>) -> superstep::Result<TalkUpdate> {
    if cx.attempt() == 1 {
        // A sibling that is stopped before it starts asks nothing, so wait for both.
        while !["first", "second"].iter().all(|sibling| cx.context().has(sibling)) {
            tokio::task::yield_now().await;
        }
        bail!("broken");
    }
    Ok(heard("mended"))
}

async fn last(_: &Talk) -> TalkUpdate {
    heard("last")
}

fn fan_out() -> Graph<Talk, Journal> {
    StateGraph::<Talk>::with_context::<Journal>()
        .edge(START, (first, plain, second))
        .join((first, plain, second), last)
        .edge(last, END)
        .compile()
        .unwrap()
}

fn fan_out_with_failure() -> Graph<Talk, Journal> {
    StateGraph::<Talk>::with_context::<Journal>()
        .edge(START, (first, broken, second))
        .join((first, broken, second), last)
        .edge(last, END)
        .compile()
        .unwrap()
}

/// Runs a test on one thread and on several.
fn on_both(test: impl AsyncFn() -> superstep::Result<()>) {
    block_on(test()).unwrap();
    workers(2).block_on(test()).unwrap();
}

#[test]
fn answer_reruns_only_interrupted_tasks() {
    on_both(async || {
        let journal = Arc::new(Journal::default());
        let mut run = fan_out().run(Talk::input()).context(Arc::clone(&journal)).start()?;
        until_stopped(&mut run).await?;
        let mut ran = journal.take();
        ran.sort();
        assert_eq!(ran, ["first", "plain", "second"]);
        assert!(run.state().heard.is_empty(), "no write of the superstep is applied");
        assert_eq!((run.superstep(), run.unfinished()), (0, vec!["first", "second"]));

        let pause = run.pause().unwrap();
        let nodes: Vec<_> = pause.interrupts().iter().map(|open| (open.task, open.node.clone())).collect();
        assert_eq!(nodes, [(0, "first".to_owned()), (2, "second".to_owned())]);
        let answers: Vec<_> =
            pause.all::<Approve>()?.iter().map(|asked| asked.answer(asked.what == "first")).collect();
        run.answer(answers)?;

        let heard = run.finish().await?.into_state().heard;
        let mut ran = journal.take();
        ran.sort();
        assert_eq!(ran, ["first", "second"]);
        assert_eq!(heard, ["first true", "plain", "second false", "last"]);
        Ok(())
    });
}

#[test]
fn answers_can_be_given_one_by_one() {
    on_both(async || {
        let mut run = fan_out().run(Talk::input()).context(Journal::default()).start()?;
        until_stopped(&mut run).await?;
        let [_, second] = &run.pause().unwrap().all::<Approve>()?[..] else { panic!("two questions") };
        run.answer(second.answer(true))?;
        until_stopped(&mut run).await?;
        assert_eq!(run.unfinished(), ["first"]);
        let first = run.pause().unwrap().only::<Approve>()?;
        assert_eq!(first.what, "first");
        run.answer(first.answer(true))?;
        let heard = run.finish().await?.into_state().heard;
        assert_eq!(heard, ["first true", "plain", "second true", "last"]);
        Ok(())
    });
}

#[test]
fn suspended_task_does_not_stop_queued_siblings() {
    on_both(async || {
        let mut run = fan_out().run(Talk::input()).context(Journal::default()).max_concurrency(1).start()?;
        until_stopped(&mut run).await?;
        assert_eq!(run.unfinished(), ["first", "second"]);
        assert_eq!(run.pause().unwrap().interrupts().len(), 2);
        Ok(())
    });
}

#[test]
fn failing_sibling_keeps_interrupts_open() {
    for mode in [FailureMode::FailFast, FailureMode::Collect] {
        on_both(async || {
            let graph = fan_out_with_failure();
            let mut run = graph.run(Talk::input()).context(Journal::default()).on_failure(mode).start()?;
            let error = run.step().await.unwrap_err();
            let ErrorKind::Node { first, others, .. } = error.kind() else { panic!("{error}") };
            assert_eq!((first.node.as_str(), others.len()), ("broken", 0));
            let answers: Vec<_> =
                run.pause().unwrap().all::<Approve>()?.iter().map(|asked| asked.answer(true)).collect();
            assert_eq!(answers.len(), 2);
            run.answer(answers)?;
            let heard = run.finish().await?.into_state().heard;
            assert_eq!(heard, ["first true", "mended", "second true", "last"]);
            Ok(())
        });
    }
}

#[test]
fn superstep_timeout_takes_precedence_over_questions() {
    async fn slow(_: &Talk) -> TalkUpdate {
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        heard("slow")
    }
    let graph = StateGraph::<Talk>::with_context::<Journal>()
        .edge(START, (first, slow))
        .edge(first, END)
        .edge(slow, END)
        .compile()
        .unwrap();
    block_on(async {
        let limit = std::time::Duration::from_secs(1);
        let run = graph.run(Talk::input()).context(Journal::default()).superstep_timeout(limit);
        let error = run.await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::SuperstepTimeout { .. }), "{error}");
    });
}
