//! Calls that fail, retry, have error handlers or are cancelled by a failed sibling.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::subgraph::ParentCommand;
use superstep::{
    Context, ContextWith, Durability, END, ErrorKind, FailureMode, GraphState, NodeError, NodeFailure, Route,
    START, StateGraph, StreamMode,
};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, recording_nodes, say, story};

recording_nodes! { one two three last }

#[derive(Serialize, Deserialize, Debug)]
struct Ask {
    what: String,
}

impl Question for Ask {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Ask { what: "ask".into() }).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

fn probe() -> Arc<Probe> {
    Arc::new(Probe::default())
}

#[tokio::test]
async fn retry_of_the_mapping_does_not_repeat_the_call() {
    let graph = |fails: u32| {
        let left = AtomicU32::new(fails);
        let inner = story().edge(START, one).edge(one, two).edge(two, END).compile().unwrap();
        let inner = inner.as_node("inner").mapped(
            |_: &Story| begin("in"),
            move |done| -> Result<StoryUpdate, NodeError> {
                if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
                    return Err(NodeError::msg("not yet"));
                }
                Ok(say(done.appended(|story: &Story| &story.log).join("+")))
            },
        );
        let graph = story().edge(START, &inner).edge(&inner, END);
        graph.policy(&inner, Policy::new().retry(Retry::attempts(3))).compile().unwrap()
    };
    let probe = probe();
    let ended = graph(2).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
    assert_eq!(log_of(ended.state()), "x one+two");
    assert_eq!(probe.ran(), "one two");
    on_every_store(async |store| {
        let ended = store.thread(&graph(2)).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one+two");
        assert_eq!(probe.ran(), "one two");
    })
    .await;
}

#[tokio::test]
async fn default_policy_does_not_apply_inside() {
    async fn handled(_: &Story, failure: &NodeFailure) -> StoryUpdate {
        say(format!("{} has failed", failure.node))
    }
    let inner = story().edge(START, one).edge(one, two).edge(two, END).compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END);
    let graph = graph.default_policy(Policy::new().retry(Retry::attempts(2))).default_on_error(handled);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        probe.set_failing(&["two"]);
        let ended = store.thread(&graph).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x inner has failed last");
        // The second attempt continued the call.
        assert_eq!(probe.ran(), "one two two last");
    })
    .await;
    let probe = probe();
    probe.set_failing(&["two"]);
    let ended = graph.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
    assert_eq!(log_of(ended.state()), "x inner has failed last");
    assert_eq!(probe.ran(), "one two two last");
}

#[tokio::test]
async fn call_cancelled_by_a_failure_continues_where_it_was() {
    static UNDER_WAY: AtomicBool = AtomicBool::new(false);
    async fn slow(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
        enter(cx, "slow").await?;
        UNDER_WAY.store(true, Ordering::SeqCst);
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        cx.context().note("through");
        Ok(say("slow"))
    }
    async fn fails(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
        while !UNDER_WAY.swap(false, Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        enter(cx, "fails").await?;
        Ok(say("beside"))
    }
    let inner = story().edge(START, one).edge(one, slow).edge(slow, END).compile().unwrap().as_node("inner");
    let graph = story().edge(START, (&inner, fails)).join((&inner, fails), last).edge(last, END);
    let graph = graph.on_failure(FailureMode::FailFast).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        probe.set_failing(&["fails"]);
        let run = store.thread(&graph).run(begin("x")).durability(Durability::Sync);
        run.context(Arc::clone(&probe)).await.unwrap_err();
        assert!(!probe.ran().contains("through"));
        probe.set_failing(&[]);
        let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one slow beside last");
        let ran = probe.ran();
        assert!(!ran.contains("one"), "{ran}");
    })
    .await;
}

#[tokio::test]
async fn incomplete_join_inside_names_both_nodes() {
    async fn sometimes(story: &Story) -> Way {
        if story.value == Some(1) { Way::There } else { Way::Nowhere }
    }
    #[derive(Route)]
    enum Way {
        #[to("two")]
        There,
        #[to(END)]
        Nowhere,
    }
    let inner = story().edge(START, (one, sometimes)).join((one, two), three).edge(three, END);
    let inner = inner.compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let thread = store.thread(&graph);
        let error = thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap_err();
        let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error:?}") };
        let text = format!("{first:?}");
        assert!(first.node == "inner" && text.contains("`three`") && text.contains("`two`"), "{text}");
        // An update as `two` completes the join.
        let within = thread.within(&inner);
        within
            .update(say("by hand"), superstep::thread::as_node(two))
            .context(Arc::clone(&probe))
            .await
            .unwrap();
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one by hand three last");
    })
    .await;
}

#[derive(Serialize, Deserialize, Clone, Debug)]
struct Part(u32);

#[derive(Route)]
enum Parts {
    #[to("each")]
    Each(Part),
}

#[tokio::test]
async fn keyed_interrupts_of_calls_can_be_answered_in_any_order() {
    #[derive(GraphState, Clone, Debug)]
    struct Piece {
        #[state(input)]
        nth: u32,
        #[state(reducer = append)]
        log: Vec<String>,
    }
    async fn keyed(piece: &Piece, cx: &Context) -> PieceUpdate {
        let a = cx.interrupt(Ask { what: format!("a{}", piece.nth) }).keyed("a");
        let b = cx.interrupt(Ask { what: format!("b{}", piece.nth) }).keyed("b");
        let (a, b) = tokio::join!(a, b);
        Piece::update().log([format!("{} {a} {b}", piece.nth)])
    }
    async fn split(_: &Story) -> Vec<Parts> {
        [1, 2].map(|nth| Parts::Each(Part(nth))).into()
    }
    let each = StateGraph::<Piece>::new().edge(START, keyed).edge(keyed, END).compile().unwrap();
    let each = each.as_node("each").mapped_packet(
        |_: &Story, part: &Part| Piece::input(part.0),
        |done| Story::update().log(done.state.log),
    );
    let each = each.without_context();
    let graph = story().edge(START, split).edge(&each, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        for what in ["b2", "a1", "a2", "b1"] {
            let pending = thread.interrupts().await.unwrap();
            let asked = pending.all::<Ask>().unwrap();
            let asked = asked.iter().find(|asked| asked.what == what).unwrap();
            thread.resume(asked.answer(what.starts_with('a'))).context(Arc::clone(&probe)).await.unwrap();
        }
        let ended = thread.state().await.unwrap().unwrap();
        assert!(ended.is_finished());
        assert_eq!(log_of(&ended.state.unwrap()), "x 1 true false 2 true false");
    })
    .await;
}

#[tokio::test]
async fn nested_parent_commands_send_packets() {
    #[derive(Route)]
    enum Out {
        #[to("takes")]
        Takes(Part),
    }
    async fn deepest(_: &Story) -> ParentCommand<Story, Up> {
        ParentCommand::update(say("deep")).goto(Up::Relay)
    }
    #[derive(Route)]
    enum Up {
        #[to("relay")]
        Relay,
    }
    async fn relay(_: &Story) -> ParentCommand<Story, Vec<Out>> {
        ParentCommand::update(say("relayed")).goto(vec![Out::Takes(Part(1)), Out::Takes(Part(2))])
    }
    async fn takes(_: &Story, part: &Part) -> StoryUpdate {
        say(format!("part {}", part.0))
    }
    let deep =
        story().edge(START, one).edge(one, deepest).edge(deepest, END).compile().unwrap().as_node("deep");
    let middle = story().edge(START, &deep).edge(&deep, END).edge(relay, END).compile().unwrap();
    let middle = middle.as_node("middle");
    let graph = story().edge(START, (&middle, ask)).edge(&middle, last).edge(last, END);
    let graph = graph.edge(ask, END).edge(takes, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(probe.ran(), "one");
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one deep relayed ask true part 1 part 2");
        assert_eq!(probe.ran(), "ask");
    })
    .await;
}

#[derive(GraphState, Clone, Debug)]
struct Call {
    #[state(input)]
    #[state(validate(range(min = 1)))]
    level: u32,
    #[state(reducer = append)]
    log: Vec<String>,
    #[state(ephemeral)]
    fresh: Option<u32>,
    #[state(untracked, from_context = handle)]
    handle: Option<Arc<u32>>,
}

fn handle(context: &u32) -> Option<Arc<u32>> {
    Some(Arc::new(*context))
}

#[tokio::test]
async fn ephemeral_and_untracked_fields_survive_an_interrupt() {
    async fn writes(_: &Call) -> CallUpdate {
        Call::update().fresh(7_u32)
    }
    async fn asks(call: &Call, cx: &ContextWith<u32>) -> CallUpdate {
        let yes = cx.interrupt(Ask { what: "sure".into() }).await;
        let handle = call.handle.as_deref().copied();
        Call::update().log([format!("{yes} {:?} {handle:?}", call.fresh)])
    }
    async fn after(call: &Call) -> CallUpdate {
        let handle = call.handle.as_deref().copied();
        Call::update().log([format!("{:?} {handle:?}", call.fresh)])
    }
    let expected = "true Some(7) Some(3) None Some(3)";
    let call = StateGraph::<Call>::with_context::<u32>().edge(START, writes).edge(writes, asks);
    let call = call.edge(asks, after).edge(after, END).compile().unwrap().as_node("call");
    let mapped =
        call.clone().mapped(|_: &Call| Call::input(1_u32), |done| Call::update().log(done.state.log));
    let graphs = [
        StateGraph::<Call>::with_context::<u32>().edge(START, &call).edge(&call, END).compile().unwrap(),
        StateGraph::<Call>::with_context::<u32>().edge(START, &mapped).edge(&mapped, END).compile().unwrap(),
    ];
    for graph in &graphs {
        on_every_store(async |store| {
            store.thread(graph).run(Call::input(1_u32)).context(3_u32).await.unwrap();
            let thread = store.thread(graph);
            let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
            let ended = thread.resume(asked.answer(true)).context(3_u32).await.unwrap();
            assert_eq!(ended.state().log.join(" "), expected);
        })
        .await;
    }
}

#[tokio::test]
async fn refused_call_input_is_mapped_again_on_resume() {
    let graph = |is_fixed: bool| {
        let fixed = AtomicBool::new(is_fixed);
        async fn work(call: &Call) -> CallUpdate {
            Call::update().log([format!("level {}", call.level)])
        }
        let call = StateGraph::<Call>::with_context::<u32>().edge(START, work).edge(work, END);
        let call = call.compile().unwrap().as_node("call").mapped(
            move |_: &Call| Call::input(u32::from(fixed.load(Ordering::SeqCst))),
            |done| Call::update().log(done.state.log),
        );
        StateGraph::<Call>::with_context::<u32>().edge(START, &call).edge(&call, END).compile().unwrap()
    };
    on_every_store(async |store| {
        let error = store.thread(&graph(false)).run(Call::input(1_u32)).context(3_u32).await.unwrap_err();
        assert!(format!("{error:?}").contains("level"), "{error:?}");
        let ended = store.thread(&graph(true)).resume(()).context(3_u32).await.unwrap();
        assert_eq!(ended.state().log, ["level 1"]);
    })
    .await;
}

#[tokio::test]
async fn deferred_node_inside_waits_across_an_interrupt() {
    let inner = story().edge(START, (one, ask)).edge(one, three).edge(ask, two).edge(two, END);
    let inner = inner.edge(three, END).defer(three).compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        store.thread(&graph).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let thread = store.thread(&graph);
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one ask true two three last");
    })
    .await;
}

#[tokio::test]
async fn repeated_run_id_returns_the_interrupt_inside() {
    let inner = story().edge(START, one).edge(one, ask).edge(ask, END).compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let run = || store.thread(&graph).run(begin("x")).run_id("r").context(Arc::clone(&probe));
        let first = run().await.unwrap();
        let again = run().await.unwrap();
        let asked = again.pause().unwrap().only::<Ask>().unwrap();
        assert_eq!(first.pause().unwrap().interrupts(), again.pause().unwrap().interrupts());
        assert_eq!(again.pause().unwrap().interrupts()[0].namespace, ["inner"]);
        let thread = store.thread(&graph);
        let snapshot = thread.within(&inner).state().await.unwrap().unwrap();
        assert_eq!(&*snapshot.run_id, "r");
        thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(run().await.unwrap().state()), "x one ask true last");
        assert_eq!(probe.ran(), "one ask last");
    })
    .await;
}

#[tokio::test]
async fn fork_of_a_waiting_call_asks_again() {
    let inner = story().edge(START, one).edge(one, ask).edge(ask, END).compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let old = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let head = thread.state().await.unwrap().unwrap().id;
        thread.at(head).run_again().context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(probe.ran(), "one one");
        assert!(thread.resume(old.answer(true)).context(Arc::clone(&probe)).await.is_err());
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one ask true last");
        // Two manual supersteps replace the call and its successor.
        thread.run(begin("y")).context(Arc::clone(&probe)).await.unwrap();
        let by_hand = [
            vec![(say("inner"), superstep::thread::as_node(&inner))],
            vec![(say("last"), superstep::thread::as_node(last))],
        ];
        thread.bulk_update(by_hand).context(Arc::clone(&probe)).await.unwrap();
        let now = thread.state().await.unwrap().unwrap();
        assert!(now.is_finished() && thread.interrupts().await.unwrap().interrupts().is_empty());
        assert_eq!(log_of(&now.state.unwrap()), "x one ask true last y inner last");
    })
    .await;
}

#[tokio::test]
async fn events_of_a_resumed_call_carry_their_namespace() {
    let inner = story().edge(START, one).edge(one, ask).edge(ask, END).compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let mut seen = Vec::new();
        let run = thread.resume(asked.answer(true)).context(Arc::clone(&probe));
        let run = run.events([StreamMode::Updates]).stream().for_each(|event| {
            let path: Vec<&str> = event.namespace.iter().map(|node| &**node).collect();
            seen.push(format!("{}:{}", path.join("/"), event.kind.node().unwrap_or("-")));
        });
        run.await.unwrap();
        assert_eq!(seen, ["inner:ask", ":inner", ":last", ":-"]);
    })
    .await;
}
