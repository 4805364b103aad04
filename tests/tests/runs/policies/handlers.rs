//! What takes the place of a node that has failed.

use std::sync::Arc;

use expect_test::expect;
use serde::{Deserialize, Serialize};
use superstep::policy::{Policy, Retry, TimedOut};
use superstep::{
    Context, ContextWith, END, ErrorKind, EventKind, FailureMode, Node, NodeFailure, Result, Route, START,
    StateGraph, StreamMode, bail, named,
};

use super::{SECOND, Status, Unread, error, failure};
use crate::engine::trace::{Journal, Trace, TraceUpdate, here, log_of, nodes, ran, say, workers};
use crate::interrupts::{Approve, Talk, TalkUpdate, approve, fine, heard};

nodes! { other after fallback }

async fn fails(_: &Trace) -> Result<TraceUpdate> {
    Err(Unread(Status(404)).into())
}

async fn rescue(_: &Trace, failure: &NodeFailure, cx: &Context) -> TraceUpdate {
    let status = failure.error.downcast_ref::<Unread>().map(|unread| unread.0.0);
    say(format!("{}: {} has {status:?} in attempt {}", cx.superstep(), failure.node, failure.attempt))
}

#[test]
fn a_handler_takes_the_place_of_a_node_once_nothing_is_left_to_try() {
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
fn its_update_has_the_nodes_place_among_siblings_who_keep_their_work() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, (other, fails, fallback))
        .join((other, fails, fallback), after)
        .edge(after, END)
        .on_error(fails, rescue)
        .compile()
        .unwrap();
    let log = async || graph.run(Trace::input()).await.unwrap().into_state().log.join(" ");
    let expected = "1:other 1: fails has Some(404) in attempt 1 1:fallback 2:after";
    assert_eq!(here(log()), expected);
    assert_eq!(workers(2).block_on(log()), expected);
}

#[test]
fn a_handler_is_asked_about_panics_and_time_outs() {
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
fn a_handler_may_go_elsewhere_than_its_nodes_edges() {
    let graph = StateGraph::<Trace>::new()
        .edge(START, (fails, other))
        .join_optional((fails, other), after)
        .edge(after, END)
        .node(fallback)
        .edge(fallback, END)
        .on_error(fails, reroute)
        .compile()
        .unwrap();
    assert_eq!(log_of(&graph), "rerouted 1:other 2:fallback", "it has not come to the join");
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
fn a_node_with_a_route_has_a_handler_with_one() {
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
fn a_route_function_is_asked_about_what_the_handler_has_written() {
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
fn a_handler_of_a_node_with_a_packet_may_read_it() {
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

/// A handler that carries something.
struct Say(&'static str);

impl Node for Say {
    type Reads = Trace;
    type Output = TraceUpdate;

    async fn run(&self, _: &Trace, cx: &Context) -> TraceUpdate {
        say(format!("{} {}", self.0, cx.failure().unwrap().node))
    }
}

#[test]
fn a_handler_may_be_a_struct_and_one_of_its_own_goes_before_the_default() {
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
fn a_node_that_has_none_fails_its_superstep_whatever_the_default_is() {
    async fn decides(_: &Trace) -> Result<Way> {
        bail!("cannot say")
    }
    let graph = StateGraph::<Trace>::new()
        .edge(START, (fails, decides))
        .edge(fails, END)
        .node(fallback)
        .edge(fallback, END)
        // It has no route, which the node with one would need.
        .default_on_error(rescue)
        .no_on_error(decides)
        .no_on_error(decides)
        .on_failure(FailureMode::Collect)
        .compile()
        .unwrap();
    let error = here(graph.run(Trace::input()).into_future()).unwrap_err();
    assert_eq!(failure(&error).node, "decides");
    assert!(failure(&error).handled.is_none());

    // Without a default there is nothing to be left out, which is no mistake.
    let graph = StateGraph::<Trace>::new().edge(START, fails).edge(fails, END).no_on_error(fails);
    let error = here(graph.compile().unwrap().run(Trace::input()).into_future()).unwrap_err();
    assert_eq!(failure(&error).node, "fails");
}

#[test]
fn a_handler_that_fails_is_the_tasks_failure_with_the_first_in_it() {
    async fn worse(_: &Trace) -> Result<TraceUpdate> {
        Err(Status(500).into())
    }
    let graph = StateGraph::<Trace>::new().edge(START, fails).edge(fails, END).on_error(fails, worse);
    let error = here(graph.compile().unwrap().run(Trace::input()).into_future()).unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "graph `Trace`: the error handler of node `fails` failed in superstep 1, after attempt 1 of the node \
         had failed with `the page cannot be read`\n  caused by: status 500"
    );
    let handled = failure(&error).handled.as_ref().unwrap();
    assert_eq!(handled.error.downcast_ref::<Unread>().unwrap().0.0, 404);
}

#[test]
fn a_sibling_without_a_handler_fails_the_superstep_and_the_handler_is_asked_once_more() {
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
        here(async {
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
fn a_handlers_questions_and_steps_are_its_own() {
    async fn pay(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let key = cx.idempotency_key("charge");
        let _: u32 = cx.step("charge", async { fine(1) }).await?;
        let yes = cx.interrupt(approve("pay")).await;
        cx.context().note(format!("node {yes} {}", key.rsplit_once(':').unwrap().1));
        bail!("the bank is closed")
    }
    async fn refund(_: &Talk, cx: &ContextWith<Journal>) -> Result<TalkUpdate> {
        let receipt: u32 = cx.step("charge", async { fine(2) }).await?;
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
    here(async {
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
fn listeners_hear_that_a_handler_took_a_nodes_place() {
    let graph = StateGraph::<Trace>::new().edge(START, fails).edge(fails, END).on_error(fails, rescue);
    let run = graph.compile().unwrap().run(Trace::input()).events([StreamMode::Tasks]);
    let mut heard = Vec::new();
    let outcome = run.stream().for_each(|event| {
        if let EventKind::TaskHandled { error, .. } = &event.kind {
            assert!(error.ends_with("the page cannot be read: status 404"), "{error}");
        }
        heard.push(event.kind.name());
    });
    here(outcome).unwrap();
    assert_eq!(heard, ["task_started", "task_handled", "task_finished", "done"]);
}

#[test]
fn every_mistake_in_handlers_is_told_at_once() {
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
          the error handler `item` reads the packet `runs::policies::handlers::every_mistake_in_handlers_is_told_at_once::Item`, which node `fails` is not sent: remove that parameter, or choose another handler with `.on_error(fails, ..)`
          node `decides` returns its route, but its error handler `rescue` returns none: return a route from the handler, choose another handler with `.on_error(decides, ..)`, or none with `.no_on_error(decides)`
          the route of node `to_other` leads to `other` (by `Other`), which is not in the graph: add it with an edge or `.node(other)`"#]].assert_eq(&error.to_string());
}
