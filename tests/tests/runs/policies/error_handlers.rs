//! Error handlers.

use std::sync::Arc;

use expect_test::expect;
use serde::{Deserialize, Serialize};
use superstep::policy::{Policy, Retry, TimedOut};
use superstep::{
    Context, ContextWith, END, ErrorKind, EventKind, FailureMode, Node, NodeFailure, Result, Route, START,
    StateGraph, StreamMode, bail, named,
};

use super::{SECOND, Status, Unread, error, failure};
use crate::engine::trace::{Journal, Trace, TraceUpdate, block_on, log_of, nodes, ran, say, workers};
use crate::interrupts::{Approve, Talk, TalkUpdate, approve, heard, ok};

nodes! { other after fallback }

async fn fails(_: &Trace) -> Result<TraceUpdate> {
    Err(Unread(Status(404)).into())
}

async fn rescue(_: &Trace, failure: &NodeFailure, cx: &Context) -> TraceUpdate {
    let status = failure.error.downcast_ref::<Unread>().map(|unread| unread.0.0);
    say(format!("{}: {} has {status:?} in attempt {}", cx.superstep(), failure.node, failure.attempt))
}

#[test]
fn handler_runs_after_the_last_attempt() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, fails)
        .edge(fails, after)
        .edge(after, END)
        .policy(fails, Policy::new().retry(Retry::attempts(3)))
        .on_error(fails, rescue)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "1: fails has Some(404) in attempt 3 2:after");
}

#[test]
fn handler_update_takes_the_position_of_its_node() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, (other, fails, fallback))
        .join((other, fails, fallback), after)
        .edge(after, END)
        .on_error(fails, rescue)
        .compile()
        .unwrap();
    let log = async || graph.run(Trace::input()).await.unwrap().into_state().log.join(" ");
    let expected = "1:other 1: fails has Some(404) in attempt 1 1:fallback 2:after";
    assert_eq!(block_on(log()), expected);
    assert_eq!(workers(2).block_on(log()), expected);
}

#[test]
fn handler_runs_after_panics_and_timeouts() {
    async fn panics(_: &Trace) -> TraceUpdate {
        panic!("lost")
    }
    async fn slow(_: &Trace) -> TraceUpdate {
        std::future::pending().await
    }
    async fn tell(_: &Trace, failure: &NodeFailure) -> TraceUpdate {
        let late = failure.error.is::<TimedOut>();
        say(format!("{} {} {late}", failure.node, failure.panicked))
    }
    let graph = StateGraph::<Trace>::new()
        .edge(START, (panics, slow))
        .edge(panics, END)
        .edge(slow, END)
        .default_policy(Policy::new().timeout(SECOND))
        .default_on_error(tell)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "panics true false slow false true");
}

#[derive(Route)]
enum Way {
    #[to(fallback)]
    Fallback,
    #[to(END)]
    Out,
}

async fn reroute(_: &Trace, failure: &NodeFailure) -> (TraceUpdate, Way) {
    (say("rerouted"), if failure.panicked { Way::Out } else { Way::Fallback })
}

#[test]
fn handler_route_replaces_the_edges_of_its_node() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, (fails, other))
        .join_optional((fails, other), after)
        .edge(after, END)
        .node(fallback)
        .edge(fallback, END)
        .on_error(fails, reroute)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "rerouted 1:other 2:fallback", "the join does not count the failed node");
    expect![[r#"
        flowchart TD
            START([START])
            n0["fails"]
            n1["other"]
            n2["after"]
            n3["fallback"]
            FINISH([END])
            j0(("+"))
            START --> n0
            START --> n1
            n0 -. "Fallback" .-> n3
            n0 -. "Out" .-> FINISH
            n2 --> FINISH
            n3 --> FINISH
            n0 --> j0
            n1 --> j0
            j0 --> n2
    "#]]
    .assert_eq(&graph.to_mermaid());
}

#[test]
fn handler_of_a_routing_node_returns_a_route() {
    async fn decides(_: &Trace) -> Result<Way> {
        bail!("cannot say")
    }
    async fn same(_: &Trace) -> Way {
        Way::Fallback
    }
    let graph = || StateGraph::<Trace>::new().edge(START, decides).node(fallback).edge(fallback, END);
    let graph = || graph().edge(START, decides);
    assert_eq!(log_of(&graph().on_error(decides, same).compile().unwrap()), "2:fallback");
    assert_eq!(log_of(&graph().on_error(decides, reroute).compile().unwrap()), "rerouted 2:fallback");
}

#[test]
fn route_function_sees_the_update_of_the_handler() {
    async fn set(_: &Trace) -> TraceUpdate {
        Trace::update().value(7_u32)
    }
    fn way(state: &Trace) -> Way {
        if state.value == 7 { Way::Fallback } else { Way::Out }
    }
    let graph = |siblings: bool| {
        let graph = StateGraph::<Trace>::new().edge(START, fails).route(fails, way).node(fallback);
        let graph = if siblings { graph.edge(START, other).edge(other, END) } else { graph };
        graph.edge(fallback, END).on_error(fails, set).compile().unwrap()
    };
    assert_eq!(log_of(&graph(false)), "2:fallback");
    assert_eq!(log_of(&graph(true)), "1:other 2:fallback");
    let own =
        StateGraph::<Trace>::new().edge(START, fails).route(fails, way).node(fallback).edge(fallback, END);
    assert_eq!(log_of(&own.on_error(fails, reroute).compile().unwrap()), "rerouted 2:fallback");
}

#[test]
fn handler_can_read_the_packet() {
    #[derive(Serialize, Deserialize)]
    struct Item(u32);

    #[derive(Route)]
    enum Deal {
        #[to(item)]
        Item(Item),
    }
    async fn deal(_: &Trace) -> Vec<Deal> {
        (1..4).map(Item).map(Deal::Item).collect()
    }
    async fn item(_: &Trace, item: &Item) -> Result<TraceUpdate> {
        if item.0 == 2 {
            bail!("two");
        }
        Ok(say(format!("{}", item.0)))
    }
    async fn lost(item: &Item, failure: &NodeFailure, _: &Trace) -> TraceUpdate {
        assert_eq!(failure.packet.as_ref().and_then(|packet| packet.get::<Item>()).unwrap().0, item.0);
        say(format!("lost {}", item.0))
    }
    let graph = StateGraph::<Trace>::new().edge(START, deal).edge(item, END).on_error(item, lost);
    assert_eq!(log_of(&graph.compile().unwrap()), "1 lost 2 3");
}

/// A handler with data.
struct Say(&'static str);

impl Node for Say {
    type Reads = Trace;
    type Output = TraceUpdate;

    async fn run(&self, _: &Trace, cx: &Context) -> TraceUpdate {
        say(format!("{} {}", self.0, cx.failure().unwrap().node))
    }
}

#[test]
fn handler_of_the_node_precedes_the_default() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, fails)
        .edge(fails, END)
        .default_on_error(rescue)
        .on_error(fails, named("say", Say("sorry for")))
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "sorry for fails");
}

#[test]
fn no_on_error_disables_the_default_handler() {
    async fn decides(_: &Trace) -> Result<Way> {
        bail!("cannot say")
    }
    let graph = StateGraph::<Trace>::new()
        .edge(START, (fails, decides))
        .edge(fails, END)
        .node(fallback)
        .edge(fallback, END)
        // The default returns no route, but `decides` needs one.
        .default_on_error(rescue)
        .no_on_error(decides)
        .no_on_error(decides)
        .on_failure(FailureMode::Collect)
        .compile()
        .unwrap();
    let error = block_on(graph.run(Trace::input())).unwrap_err();
    assert_eq!(failure(&error).node, "decides");
    assert!(failure(&error).handled.is_none());

    // `no_on_error` without a default handler is allowed.
    let graph = StateGraph::<Trace>::new().edge(START, fails).edge(fails, END).no_on_error(fails);
    let error = block_on(graph.compile().unwrap().run(Trace::input())).unwrap_err();
    assert_eq!(failure(&error).node, "fails");
}

#[test]
fn failed_handler_error_contains_the_first_failure() {
    async fn worse(_: &Trace) -> Result<TraceUpdate> {
        Err(Status(500).into())
    }
    let graph = StateGraph::<Trace>::new().edge(START, fails).edge(fails, END).on_error(fails, worse);
    let error = block_on(graph.compile().unwrap().run(Trace::input())).unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "graph `Trace`: the error handler of node `fails` failed in superstep 1, after attempt 1 of the node \
         had failed with `the page cannot be read`\n  caused by: status 500"
    );
    let handled = failure(&error).handled.as_ref().unwrap();
    assert_eq!(handled.error.downcast_ref::<Unread>().unwrap().0.0, 404);
}

#[test]
fn handler_runs_again_after_a_sibling_failed() {
    async fn flaky(_: &Trace, cx: &Context) -> Result<TraceUpdate> {
        if cx.attempt() == 1 {
            return Err(error("no"));
        }
        Ok(ran(cx))
    }
    async fn slow(_: &Trace, cx: &ContextWith<Journal>, failure: &NodeFailure) -> TraceUpdate {
        cx.context().note(format!("asked about attempt {}", failure.attempt));
        tokio::time::sleep(SECOND).await;
        say("handled")
    }
    let graph = StateGraph::<Trace>::with_context::<Journal>()
        .edge(START, (fails, flaky))
        .edge(fails, END)
        .edge(flaky, END)
        .on_error(fails, slow)
        .compile()
        .unwrap();
    for mode in [FailureMode::FailFast, FailureMode::Collect] {
        block_on(async {
            let journal = Arc::new(Journal::default());
            let run = graph.run(Trace::input()).context(Arc::clone(&journal)).on_failure(mode);
            let mut run = run.start().unwrap();
            let error = run.step().await.unwrap_err();
            assert_eq!(failure(&error).node, "flaky");
            while run.step().await.unwrap() {}
            assert_eq!(run.state().log, ["handled", "1:flaky"]);
            let times = if mode == FailureMode::Collect { 1 } else { 2 };
            assert_eq!(journal.take(), vec!["asked about attempt 1"; times], "the node does not run again");
        });
    }
}

#[test]
fn handler_has_its_own_questions_and_steps() {
    async fn pay(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let key = cx.idempotency_key("charge");
        let _: u32 = cx.step("charge", async { ok(1) }).await?;
        let yes = cx.interrupt(approve("pay")).await;
        cx.context().note(format!("node {yes} {}", key.rsplit_once(':').unwrap().1));
        bail!("the bank is closed")
    }
    async fn refund(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let receipt: u32 = cx.step("charge", async { ok(2) }).await?;
        let yes = cx.interrupt(approve("pay")).await;
        let key = cx.idempotency_key("charge");
        cx.context().note(format!("handler {yes} {}", key.rsplit_once(':').unwrap().1));
        Ok(heard(format!("{receipt} {yes}")))
    }
    let graph = StateGraph::<Talk>::with_context::<Journal>()
        .edge(START, pay)
        .edge(pay, END)
        .on_error(pay, refund)
        .compile()
        .unwrap();
    block_on(async {
        let journal = Arc::new(Journal::default());
        let mut run = graph.run(Talk::input()).context(Arc::clone(&journal)).start().unwrap();
        for answer in [true, false] {
            while run.step().await.unwrap() {}
            let asked = run.pause().unwrap().only::<Approve>().unwrap();
            run.answer(asked.answer(answer)).unwrap();
        }
        assert_eq!(run.finish().await.unwrap().into_state().heard, ["2 false"]);
        assert_eq!(journal.take(), ["node true 0/charge", "handler false 0/on_error/charge"]);
    });
}

#[test]
fn stream_reports_handled_failures() {
    let graph = StateGraph::<Trace>::new().edge(START, fails).edge(fails, END).on_error(fails, rescue);
    let run = graph.compile().unwrap().run(Trace::input()).events([StreamMode::Tasks]);
    let mut events = Vec::new();
    let outcome = run.stream().for_each(|event| {
        if let EventKind::TaskHandled { error, .. } = &event.kind {
            assert!(error.ends_with("the page cannot be read: status 404"), "{error}");
        }
        events.push(event.kind.name());
    });
    block_on(outcome).unwrap();
    assert_eq!(events, ["task_started", "task_handled", "task_finished", "done"]);
}

#[test]
fn handler_errors_are_reported_together() {
    #[derive(Serialize, Deserialize)]
    struct Item(u32);

    async fn decides(_: &Trace) -> Way {
        Way::Out
    }
    async fn item(_: &Trace, _: &Item, _: &NodeFailure) -> TraceUpdate {
        say("no")
    }
    async fn to_other(_: &Trace) -> Elsewhere {
        Elsewhere::Other
    }
    #[derive(Route)]
    enum Elsewhere {
        #[to(other)]
        Other,
    }
    let error = StateGraph::<Trace>::new()
        .edge(START, (fails, decides))
        .edge(fails, END)
        .node(fallback)
        .edge(fallback, END)
        .default_on_error(rescue)
        .on_error(fails, item)
        .on_error(fails, rescue)
        .on_error(fallback, to_other)
        .on_error(after, rescue)
        .compile()
        .unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Wiring(_)));
    expect![[r#"
        graph `Trace`: cannot be built, it has 5 mistakes
          node `fails` has two error handlers: remove one of them
          `after` is given an error handler, but is not in the graph: add it with an edge or `.node(after)`
          the error handler `item` reads the packet `runs::policies::error_handlers::handler_errors_are_reported_together::Item`, which node `fails` is not sent: remove that parameter, or choose another handler with `.on_error(fails, ..)`
          node `decides` returns its route, but its error handler `rescue` returns none: return a route from the handler, choose another handler with `.on_error(decides, ..)`, or none with `.no_on_error(decides)`
          the route of node `to_other` leads to `other` (by `Other`), which is not in the graph: add it with an edge or `.node(other)`"#]].assert_eq(&error.to_string());
}
