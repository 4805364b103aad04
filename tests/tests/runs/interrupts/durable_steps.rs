//! Durable steps, whose results are reused when the node runs again.

use std::sync::Arc;

use superstep::{Context, ContextWith, END, ErrorKind, Graph, NodeError, Result, START, StateGraph, bail};

use super::{Approve, Name, Talk, TalkUpdate, approve, heard, ok, run_test, until_stopped};
use crate::engine::trace::{Journal, block_on, workers};

async fn charge(journal: &Journal, amount: u32) -> Result<String> {
    journal.note(format!("charge {amount}"));
    tokio::task::yield_now().await;
    Ok(format!("receipt {amount}"))
}

fn graph_of<M, N>(node: N) -> Graph<Talk, Journal>
where
    N: superstep::node::Shape<M> + Copy,
    N::Signature: superstep::graph::Reads<Talk, Journal>
        + superstep::graph::WithoutPacket<Talk>
        + superstep::graph::Returns<Talk>
        + superstep::graph::Enters<Talk, Journal, N::Body>
        + superstep::graph::Leaves<Talk, Journal, N::Body>,
{
    StateGraph::<Talk>::with_context::<Journal>().edge(START, node).edge(node, END).compile().unwrap()
}

/// The error message of a run with one node.
fn failure(graph: &Graph<Talk, Journal>) -> String {
    let error = block_on(graph.run(Talk::input()).context(Journal::default())).unwrap_err();
    let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
    first.error.to_string()
}

#[test]
fn step_before_a_question_runs_once() {
    async fn pay(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let receipt = cx.step("charge", charge(cx.context(), 7)).await?;
        let yes = cx.interrupt(approve("send")).await;
        Ok(heard(format!("{receipt} {yes}")))
    }
    let journal = Arc::new(Journal::default());
    run_test(async {
        let mut run = graph_of(pay).run(Talk::input()).context(Arc::clone(&journal)).start()?;
        until_stopped(&mut run).await?;
        until_stopped(&mut run).await?;
        let asked = run.pause().unwrap().only::<Approve>()?;
        run.answer(asked.answer(true))?;
        assert_eq!(run.finish().await?.into_state().heard, ["receipt 7 true"]);
        assert_eq!(journal.take(), ["charge 7"]);
        Ok(())
    });
}

#[test]
fn step_before_a_failure_runs_once() {
    async fn pay(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let receipt = cx.step("charge", charge(cx.context(), 7)).await?;
        if cx.attempt() < 3 {
            bail!("the printer is out of paper");
        }
        Ok(heard(receipt))
    }
    async fn sibling(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        // The same key in another task names another step.
        Ok(heard(cx.step("charge", charge(cx.context(), 8)).await?))
    }
    let graph = StateGraph::<Talk>::with_context::<Journal>()
        .edge(START, (pay, sibling))
        .edge(pay, END)
        .edge(sibling, END)
        .compile()
        .unwrap();
    let test = async || {
        let journal = Arc::new(Journal::default());
        let run = graph.run(Talk::input()).context(Arc::clone(&journal));
        let mut run = run.on_failure(superstep::FailureMode::Collect).start()?;
        while let Err(error) = until_stopped(&mut run).await {
            assert!(error.to_string().contains("node `pay` failed"), "{error}");
        }
        assert_eq!(run.state().heard, ["receipt 7", "receipt 8"]);
        let mut done = journal.take();
        done.sort();
        assert_eq!(done, ["charge 7", "charge 8"]);
        Result::<()>::Ok(())
    };
    block_on(test()).unwrap();
    workers(2).block_on(test()).unwrap();
}

#[test]
fn step_results_belong_to_one_superstep() {
    async fn around(talk: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let receipt = cx.step("charge", charge(cx.context(), talk.round)).await?;
        Ok(heard(receipt).round(talk.round + 1))
    }
    let graph = StateGraph::<Talk>::with_context::<Journal>()
        .edge(START, around)
        .edge(around, around)
        .compile()
        .unwrap();
    let error = block_on(graph.run(Talk::input()).context(Journal::default()).recursion_limit(2));
    assert_eq!(error.unwrap_err().state::<Talk>().unwrap().heard, ["receipt 0", "receipt 1"]);
}

#[test]
fn failed_step_is_not_stored() {
    async fn flaky(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let attempt = cx.attempt();
        let stepped = cx.step("flaky", async move {
            if attempt == 1 { Err(std::io::Error::other("no route to host")) } else { Ok(attempt) }
        });
        Ok(heard(stepped.await?.to_string()))
    }
    run_test(async {
        let mut run = graph_of(flaky).run(Talk::input()).context(Journal::default()).start()?;
        let error = run.step().await.unwrap_err();
        let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
        // The error of the step is not wrapped.
        assert!(first.error.downcast_ref::<std::io::Error>().is_some());
        assert_eq!(run.finish().await?.into_state().heard, ["2"]);
        Ok(())
    });
}

#[test]
fn concurrent_and_nested_steps_are_separate() {
    async fn both(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let (a, b) = tokio::join!(
            cx.step("a", charge(cx.context(), 1)),
            cx.step("b", async { cx.step("within b", charge(cx.context(), 2)).await }),
        );
        Ok(heard(format!("{} {} {}", a?, b?, cx.interrupt(approve("it")).await)))
    }
    let journal = Arc::new(Journal::default());
    run_test(async {
        let mut run = graph_of(both).run(Talk::input()).context(Arc::clone(&journal)).start()?;
        until_stopped(&mut run).await?;
        let asked = run.pause().unwrap().only::<Approve>()?;
        run.answer(asked.answer(true))?;
        assert_eq!(run.finish().await?.into_state().heard, ["receipt 1 receipt 2 true"]);
        assert_eq!(journal.take(), ["charge 1", "charge 2"]);
        Ok(())
    });
}

#[test]
fn duplicate_step_key_fails_the_task() {
    async fn twice(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let _ = cx.step("k", charge(cx.context(), 1)).await;
        let again = cx.step("k", charge(cx.context(), 2)).await;
        assert!(again.is_err());
        Ok(heard("swallowed"))
    }
    assert_eq!(failure(&graph_of(twice)), "durable step `k` failed: its key is used twice in one attempt");
}

#[test]
fn question_inside_a_step_fails_the_task() {
    async fn nested(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let yes = cx.step("s", async { ok(cx.interrupt(approve("it")).await) }).await?;
        Ok(heard(yes.to_string()))
    }
    async fn hidden(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        // The question is created outside and polled inside the step, beside a ready future.
        let question = cx.interrupt(approve("it"));
        cx.step("s", async {
            tokio::select! { biased; _ = question => {}, () = std::future::ready(()) => {} }
            ok(())
        })
        .await?;
        Ok(heard("swallowed"))
    }
    let expected = "question `Approve` is asked inside a durable step, which cannot be suspended: ask it before or after the step";
    assert_eq!(failure(&graph_of(nested)), expected);
    assert_eq!(failure(&graph_of(hidden)), expected);
}

#[test]
fn question_beside_a_step_is_asked() {
    async fn both(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let (receipt, name) =
            tokio::join!(cx.step("charge", async { ok("receipt".to_owned()) }), cx.interrupt(Name));
        Ok(heard(format!("{} {name}", receipt?)))
    }
    run_test(async {
        let mut run = graph_of(both).run(Talk::input()).context(Journal::default()).start()?;
        until_stopped(&mut run).await?;
        let asked = run.pause().unwrap().only::<Name>()?;
        run.answer(asked.answer("Ada".to_owned()))?;
        assert_eq!(run.finish().await?.into_state().heard, ["receipt Ada"]);
        Ok(())
    });
}

#[test]
fn unstorable_step_result_is_an_error() {
    async fn pairs(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let _ = cx.step("pairs", async { ok(std::collections::HashMap::from([((1, 2), 3)])) }).await;
        Ok(heard("swallowed"))
    }
    assert!(
        failure(&graph_of(pairs)).starts_with("durable step `pairs` failed: its result cannot be stored: ")
    );
    async fn nan(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let _ = cx.step("nan", async { ok(f64::NAN) }).await;
        Ok(heard("swallowed"))
    }
    assert!(failure(&graph_of(nan)).starts_with("durable step `nan` failed: its result cannot be stored: "));
}

#[test]
fn unreadable_step_result_is_an_error() {
    async fn changes(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        if cx.attempt() == 1 {
            cx.step("s", async { ok("text").map(str::to_owned) }).await?;
            bail!("once more");
        }
        let number = cx.step("s", async { ok(0_u32) }).await.unwrap_or_default();
        Ok(heard(number.to_string()))
    }
    run_test(async {
        let mut run = graph_of(changes).run(Talk::input()).context(Journal::default()).start()?;
        assert!(run.step().await.is_err());
        let error = run.step().await.unwrap_err();
        let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
        let said = first.error.to_string();
        assert!(said.starts_with("durable step `s` failed: its stored result cannot be read: "), "{said}");
        Ok(())
    });
}

#[test]
fn panic_inside_a_step_fails_the_node() {
    async fn panics(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        if cx.attempt() == 1 {
            cx.step("s", async { if cx.attempt() == 1 { panic!("ouch") } else { ok(()) } }).await?;
        }
        Ok(heard(cx.interrupt(approve("it")).await.to_string()))
    }
    run_test(async {
        let mut run = graph_of(panics).run(Talk::input()).context(Journal::default()).start()?;
        let error = run.step().await.unwrap_err();
        let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
        assert!(first.panicked);
        until_stopped(&mut run).await?;
        assert_eq!(run.pause().unwrap().interrupts().len(), 1);
        Ok(())
    });
}

#[test]
fn idempotency_keys_are_stable_and_unique() {
    async fn keys(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        cx.context().note(cx.idempotency_key("a"));
        cx.context().note(cx.idempotency_key("b"));
        if cx.attempt() == 1 {
            bail!("once more");
        }
        Ok(heard("done"))
    }
    async fn other(_: &Talk, cx: &ContextWith<Journal>) -> TalkUpdate {
        cx.context().note(cx.idempotency_key("a"));
        heard("done")
    }
    let graph = StateGraph::<Talk>::with_context::<Journal>()
        .edge(START, keys)
        .edge(keys, other)
        .edge(other, END)
        .compile()
        .unwrap();
    let run = || {
        run_test(async {
            let journal = Arc::new(Journal::default());
            let mut run = graph.run(Talk::input()).context(Arc::clone(&journal)).start()?;
            assert!(run.step().await.is_err());
            run.finish().await?;
            Ok(journal.take())
        })
    };
    let mut keys = [run(), run()].concat();
    assert_eq!((&keys[0], &keys[1]), (&keys[2], &keys[3]));
    keys.sort();
    keys.dedup();
    // Two keys of `keys` and one of `other`, for each of the two runs.
    assert_eq!(keys.len(), 6);
}

#[test]
fn step_accepts_every_node_error() {
    async fn kinds(_: &Talk, cx: &Context) -> Result<TalkUpdate> {
        cx.step("io", async { std::io::Result::Ok(()) }).await?;
        cx.step("node", async { std::result::Result::<(), NodeError>::Ok(()) }).await?;
        cx.step("text", async { "7".parse::<u32>() }).await?;
        Ok(heard("all"))
    }
    let graph = StateGraph::<Talk>::new().edge(START, kinds).edge(kinds, END).compile().unwrap();
    assert_eq!(block_on(graph.run(Talk::input())).unwrap().into_state().heard, ["all"]);
}
