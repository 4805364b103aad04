//! Questions that the node drops before its task is pending are not asked.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use superstep::{Context, ContextWith, END, Graph, Outcome, START, StateGraph};

use super::{Approve, Name, Talk, TalkUpdate, approve, heard, run_test, until_stopped};
use crate::engine::trace::block_on;

fn graph_of<M, N>(node: N) -> Graph<Talk>
where
    N: superstep::node::Shape<M> + Copy,
    N::Signature: superstep::graph::Reads<Talk, ()>
        + superstep::graph::WithoutPacket<Talk>
        + superstep::graph::Returns<Talk>
        + superstep::graph::Enters<Talk, (), N::Body>
        + superstep::graph::Leaves<Talk, (), N::Body>,
{
    StateGraph::<Talk>::new().edge(START, node).edge(node, END).compile().unwrap()
}

fn asked(graph: &Graph<Talk>) -> Vec<String> {
    match block_on(graph.run(Talk::input())).unwrap() {
        Outcome::Done(talk) => talk.heard,
        Outcome::Interrupted(pause) => {
            pause.interrupts().iter().map(|open| format!("? {}", open.id)).collect()
        }
    }
}

#[test]
fn ready_select_branch_withdraws_the_question() {
    async fn choose(_: &Talk, cx: &Context) -> TalkUpdate {
        tokio::select! {
            biased;
            yes = cx.interrupt(approve("it")) => heard(format!("{yes}")),
            () = std::future::ready(()) => heard("the other branch"),
        }
    }
    assert_eq!(asked(&graph_of(choose)), ["the other branch"]);
}

#[test]
fn elapsed_timeout_withdraws_the_question() {
    async fn hurry(_: &Talk, cx: &Context) -> TalkUpdate {
        match tokio::time::timeout(Duration::ZERO, cx.interrupt(approve("it"))).await {
            Ok(yes) => heard(format!("{yes}")),
            Err(_) => heard("too late"),
        }
    }
    assert_eq!(asked(&graph_of(hurry)), ["too late"]);
}

#[test]
fn question_beside_a_pending_future_suspends_the_task() {
    async fn wait(_: &Talk, cx: &Context) -> TalkUpdate {
        match tokio::time::timeout(Duration::from_secs(60), cx.interrupt(approve("it"))).await {
            Ok(yes) => heard(format!("{yes}")),
            Err(_) => heard("too late"),
        }
    }
    assert_eq!(asked(&graph_of(wait)), ["? 1:0/Approve/0"]);
}

#[test]
fn dropped_question_is_not_asked() {
    async fn glance(_: &Talk, cx: &Context) -> TalkUpdate {
        {
            let mut question = pin!(cx.interrupt(approve("glance")));
            let first = std::future::poll_fn(|cx| Poll::Ready(question.as_mut().poll(cx).is_pending())).await;
            assert!(first);
        }
        // The task is pending without an open question, so it continues.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let _never_polled = cx.interrupt(Name);
        tokio::time::sleep(Duration::from_millis(1)).await;
        heard(cx.interrupt(approve("second")).await.to_string())
    }
    let graph = graph_of(glance);
    assert_eq!(asked(&graph), ["? 1:0/Approve/1"]);
    run_test(async {
        let mut run = graph.run(Talk::input()).start()?;
        until_stopped(&mut run).await?;
        let second = run.pause().unwrap().only::<Approve>()?;
        assert_eq!(second.what, "second");
        run.answer(second.answer(true))?;
        assert_eq!(run.finish().await?.into_state().heard, ["true"]);
        Ok(())
    });
}

#[test]
fn finished_task_has_no_open_interrupt() {
    async fn leak(_: &Talk, cx: &Context) -> TalkUpdate {
        let mut question = Box::pin(cx.interrupt(approve("it")));
        let pending = std::future::poll_fn(|cx| Poll::Ready(question.as_mut().poll(cx).is_pending())).await;
        std::mem::forget(question);
        heard(format!("{pending}"))
    }
    assert_eq!(asked(&graph_of(leak)), ["true"]);
}

/// Converts errors and panics of a future into a value.
async fn catch_all<T>(future: impl Future<Output = superstep::Result<T>>) -> Result<T, String> {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| match std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(polled) => polled.map(|result| result.map_err(|error| error.to_string())),
        Err(_) => Poll::Ready(Err("panicked".to_owned())),
    })
    .await
}

#[test]
fn suspension_cannot_be_caught() {
    async fn careful(_: &Talk, cx: &ContextWith<AtomicU32>) -> TalkUpdate {
        struct Dropped<'c>(&'c AtomicU32);
        impl Drop for Dropped<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let _dropped = Dropped(cx.context());
        match catch_all(async { Ok(cx.interrupt(approve("it")).await) }).await {
            Ok(yes) => heard(format!("{yes}")),
            Err(caught) => heard(format!("caught {caught}")),
        }
    }
    let graph = StateGraph::<Talk>::with_context::<AtomicU32>()
        .edge(START, careful)
        .edge(careful, END)
        .compile()
        .unwrap();
    let dropped = std::sync::Arc::new(AtomicU32::new(0));
    run_test(async {
        let mut run = graph.run(Talk::input()).context(std::sync::Arc::clone(&dropped)).start()?;
        until_stopped(&mut run).await?;
        let asked = run.pause().unwrap().only::<Approve>()?;
        // The suspended future is dropped.
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        run.answer(asked.answer(true))?;
        assert_eq!(run.finish().await?.into_state().heard, ["true"]);
        Ok(())
    });
}

#[test]
fn panicking_destructor_of_a_suspended_task_is_ignored() {
    async fn fragile(_: &Talk, cx: &Context) -> TalkUpdate {
        struct Loud;
        impl Drop for Loud {
            fn drop(&mut self) {
                assert!(std::thread::panicking(), "dropped");
            }
        }
        let loud = Loud;
        let yes = cx.interrupt(approve("it")).await;
        std::mem::forget(loud);
        heard(format!("{yes}"))
    }
    assert_eq!(asked(&graph_of(fragile)), ["? 1:0/Approve/0"]);
}
