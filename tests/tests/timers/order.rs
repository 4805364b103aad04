//! Answers and timers take effect in the order in which they were recorded.

use std::future::pending;

use superstep::{ContextWith, ErrorKind, NodeError};
use tests::stores::on_every_store;
use tokio::time::advance;

use super::claim::{
    Approve, Claim, ClaimUpdate, DAY, Office, Reason, approval, crash_when, node_error, office, say,
};
use super::graph_of;

/// The ways to wait for an answer and a sleep.
async fn select(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
    tokio::select! {
        yes = cx.interrupt(Approve) => say(format!("answered {yes}")),
        () = cx.sleep(DAY) => say("late"),
    }
}

async fn sleep_first(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
    tokio::select! {
        biased;
        () = cx.sleep(DAY) => say("late"),
        yes = cx.interrupt(Approve) => say(format!("answered {yes}")),
    }
}

async fn question_first(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
    tokio::select! {
        biased;
        yes = cx.interrupt(Approve) => say(format!("answered {yes}")),
        () = cx.sleep(DAY) => say("late"),
    }
}

async fn pinned(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
    let (sleep, question) = (cx.sleep(DAY), cx.interrupt(Approve));
    tokio::pin!(sleep, question);
    tokio::select! {
        yes = &mut question => say(format!("answered {yes}")),
        () = &mut sleep => say("late"),
    }
}

/// An answer that was accepted is never dropped for a timer that has run out meanwhile.
#[tokio::test(start_paused = true)]
async fn accepted_answer_wins_over_a_passed_timer() {
    let graphs = [graph_of!(select), graph_of!(sleep_first), graph_of!(question_first), graph_of!(pinned)];
    on_every_store(async |store| {
        for (which, graph) in graphs.iter().enumerate() {
            for round in 0..10 {
                let thread = graph.with_checkpointer(store.open()).thread(format!("{which} {round}"));
                thread.run(Claim::input()).context(office()).await.unwrap();
                let answer = approval(&thread).await;
                advance(2 * DAY).await;
                let outcome = thread.resume(answer).context(office()).await.unwrap();
                assert_eq!(outcome.state().log, ["answered true"], "{which}");
            }
        }
    })
    .await;
}

/// Without an answer, the timer ends the wait, and later answers are refused.
#[tokio::test(start_paused = true)]
async fn passed_timer_refuses_later_answers() {
    let graphs = [graph_of!(select), graph_of!(sleep_first), graph_of!(question_first), graph_of!(pinned)];
    on_every_store(async |store| {
        for (which, graph) in graphs.iter().enumerate() {
            let thread = graph.with_checkpointer(store.open()).thread(format!("{which}"));
            thread.run(Claim::input()).context(office()).await.unwrap();
            let answer = approval(&thread).await;
            advance(2 * DAY).await;
            let outcome = thread.resume(()).context(office()).await.unwrap();
            assert_eq!(outcome.state().log, ["late"], "{which}");
            let refused = thread.resume(answer).context(office()).await.unwrap_err();
            assert!(matches!(refused.kind(), ErrorKind::InterruptNotOpen { .. }), "{refused}");
        }
    })
    .await;
}

/// The process dies after the timer has fired, before the node has ended. An answer that comes then is refused, and the
/// next attempt takes the same way.
#[tokio::test(start_paused = true)]
async fn recorded_timer_wins_over_a_later_answer() {
    async fn works(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
        let way = tokio::select! {
            _ = cx.interrupt(Approve) => "answered",
            () = cx.sleep(DAY) => "late",
        };
        let work = async {
            cx.context().note(way);
            if cx.context().version() == 0 {
                pending::<()>().await;
            }
            Ok::<_, NodeError>(())
        };
        cx.step("work", work).await?;
        Ok(say(way))
    }
    let graph = graph_of!(works);
    on_every_store(async |store| {
        let (thread, work) = (store.thread(&graph), office());
        thread.run(Claim::input()).context(office()).await.unwrap();
        let answer = approval(&thread).await;
        advance(2 * DAY).await;
        let run = thread.resume(()).context(work.clone());
        crash_when(run, || !work.done().is_empty()).await;

        // Another process.
        let thread = store.thread(&graph);
        assert!(thread.interrupts().await.unwrap().interrupts().is_empty());
        let refused = thread.resume(answer).context(office()).await.unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::InterruptNotOpen { .. }), "{refused}");
        let work = office();
        work.deploy(1);
        assert_eq!(thread.resume(()).context(work).await.unwrap().state().log, ["late"]);
    })
    .await;
}

/// A task waits for an answer and a time: it is listed as due, and either of them continues it.
#[tokio::test(start_paused = true)]
async fn waiting_thread_is_due_at_its_deadline() {
    let graph = graph_of!(select);
    on_every_store(async |store| {
        let persistent = graph.with_checkpointer(store.open());
        let thread = persistent.thread("t");
        let outcome = thread.run(Claim::input()).context(office()).await.unwrap();
        let wakes_at = outcome.pause().unwrap().wakes_at().unwrap();
        assert_eq!(outcome.pause().unwrap().interrupts().len(), 1);
        let due = async |time| persistent.due(time).await.unwrap().len();
        assert_eq!((due(wakes_at - DAY / 2).await, due(wakes_at).await), (0, 1));
        // A resumption that comes too early changes nothing.
        let early = thread.resume(()).context(office()).await.unwrap();
        assert_eq!(early.pause().unwrap().wakes_at(), Some(wakes_at));
        assert_eq!(due(wakes_at).await, 1);
    })
    .await;
}

/// Several timers and answers of one task take effect in one order, however the branches are polled.
#[tokio::test(start_paused = true)]
async fn every_attempt_sees_the_same_order() {
    async fn mixed(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
        let (first, second) = (cx.sleep(DAY).keyed("first"), cx.sleep(3 * DAY).keyed("second"));
        let (approve, reason) = (cx.interrupt(Approve), cx.interrupt(Reason));
        tokio::pin!(first, second, approve, reason);
        let mut seen: Vec<String> = Vec::new();
        while seen.len() < 4 {
            let has = |name: &str| seen.iter().any(|seen| seen == name);
            let (a, b, c, d) = (!has("first"), !has("second"), !has("approve"), !has("reason"));
            let next = tokio::select! {
                () = &mut first, if a => "first",
                () = &mut second, if b => "second",
                _ = &mut approve, if c => "approve",
                _ = &mut reason, if d => "reason",
            };
            seen.push(next.to_owned());
        }
        cx.context().note(seen.join(" "));
        // Several attempts more.
        if cx.attempt() < 4 { Err(NodeError::msg("again")) } else { Ok(Claim::update().log(seen)) }
    }
    let graph = graph_of!(mixed);
    on_every_store(async |store| {
        for round in 0..8 {
            let persistent = graph.with_checkpointer(store.open());
            let (thread, work) = (persistent.thread(format!("{round}")), office());
            thread.run(Claim::input()).context(work.clone()).await.unwrap();
            // The answer comes after the first timer has run out, and before that is recorded.
            advance(2 * DAY).await;
            let reason = thread.interrupts().await.unwrap().only::<Reason>().unwrap();
            thread.resume(reason.answer("it is late".to_owned())).context(work.clone()).await.unwrap();
            advance(2 * DAY).await;
            thread.resume(()).context(work.clone()).await.unwrap();
            let approve = approval(&thread).await;
            let mut outcome = thread.resume(approve).context(work.clone()).await;
            for _ in 0..6 {
                let Err(error) = &outcome else { break };
                assert!(node_error(error) == "again", "{error:?}");
                outcome = thread.resume(()).context(work.clone()).await;
            }
            let expected = ["reason", "first", "second", "approve"];
            assert_eq!(outcome.unwrap().state().log, expected);
            let done = work.done();
            assert!(done.len() >= 4 && done.iter().all(|seen| *seen == expected.join(" ")), "{done:?}");
        }
    })
    .await;
}

/// In memory the same rules hold.
#[tokio::test(start_paused = true)]
async fn run_without_a_checkpointer_keeps_the_order() {
    for graph in [graph_of!(select), graph_of!(sleep_first), graph_of!(question_first)] {
        for answered in [true, false] {
            let mut run = graph.run(Claim::input()).context(office()).start().unwrap();
            while run.step().await.unwrap() {}
            advance(2 * DAY).await;
            if answered {
                let answer = run.pause().unwrap().only::<Approve>().unwrap().answer(true);
                run.answer([answer]).unwrap();
            }
            let log = run.finish().await.unwrap().into_state().log;
            assert_eq!(log, [if answered { "answered true" } else { "late" }]);
        }
    }
}
