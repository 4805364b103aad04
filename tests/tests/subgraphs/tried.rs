//! Calls that fail, are tried again, are handled, or are told to stop since others have failed.

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
use super::story::{Story, StoryUpdate, World, begin, enter, say, story, tellers, told};

tellers! { one two three last }

#[derive(Serialize, Deserialize, Debug)]
struct Ask {
    what: String,
}

impl Question for Ask {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Ask { what: "ask".into() }).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

fn world() -> Arc<World> {
    Arc::new(World::default())
}

#[tokio::test]
async fn a_result_that_cannot_be_made_is_made_again_without_the_call() {
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
    let world = world();
    let ended = graph(2).run(begin("x")).context(Arc::clone(&world)).await.unwrap();
    assert_eq!(told(ended.state()), "x one+two");
    assert_eq!(world.ran(), "one two");
    on_every_store(async |place| {
        let ended = place.thread(&graph(2)).run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one+two");
        assert_eq!(world.ran(), "one two");
    })
    .await;
}

#[tokio::test]
async fn what_is_said_for_all_nodes_is_not_said_for_those_within() {
    async fn handled(_: &Story, failure: &NodeFailure) -> StoryUpdate {
        say(format!("{} has failed", failure.node))
    }
    let inner = story().edge(START, one).edge(one, two).edge(two, END).compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END);
    let graph = graph.default_policy(Policy::new().retry(Retry::attempts(2))).default_on_error(handled);
    let graph = graph.compile().unwrap();
    on_every_store(async |place| {
        let world = world();
        world.breaks(&["two"]);
        let ended = place.thread(&graph).run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x inner has failed last");
        // The call was gone on with, and not begun anew.
        assert_eq!(world.ran(), "one two two last");
    })
    .await;
    let world = world();
    world.breaks(&["two"]);
    let ended = graph.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
    assert_eq!(told(ended.state()), "x inner has failed last");
    assert_eq!(world.ran(), "one two two last");
}

#[tokio::test]
async fn a_call_that_is_told_to_stop_goes_on_where_it_was() {
    static UNDER_WAY: AtomicBool = AtomicBool::new(false);
    async fn slow(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
        enter(cx, "slow").await?;
        UNDER_WAY.store(true, Ordering::SeqCst);
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        cx.context().note("through");
        Ok(say("slow"))
    }
    async fn fails(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
        while !UNDER_WAY.swap(false, Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        enter(cx, "fails").await?;
        Ok(say("beside"))
    }
    let inner = story().edge(START, one).edge(one, slow).edge(slow, END).compile().unwrap().as_node("inner");
    let graph = story().edge(START, (&inner, fails)).join((&inner, fails), last).edge(last, END);
    let graph = graph.on_failure(FailureMode::FailFast).compile().unwrap();
    on_every_store(async |place| {
        let world = world();
        world.breaks(&["fails"]);
        let run = place.thread(&graph).run(begin("x")).durability(Durability::Sync);
        run.context(Arc::clone(&world)).await.unwrap_err();
        assert!(!world.ran().contains("through"));
        world.breaks(&[]);
        let ended = place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one slow beside last");
        let ran = world.ran();
        assert!(!ran.contains("one"), "{ran}");
    })
    .await;
}

#[tokio::test]
async fn a_join_within_that_is_not_filled_is_told_with_both_names() {
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
    on_every_store(async |place| {
        let world = world();
        let thread = place.thread(&graph);
        let error = thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap_err();
        let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error:?}") };
        let text = format!("{first:?}");
        assert!(first.node == "inner" && text.contains("`three`") && text.contains("`two`"), "{text}");
        // Somebody says what shall become of it.
        let within = thread.within(&inner);
        within
            .update(say("by hand"), superstep::thread::as_node(two))
            .context(Arc::clone(&world))
            .await
            .unwrap();
        let ended = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one by hand three last");
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
async fn keyed_questions_of_several_calls_are_answered_in_any_order() {
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
    on_every_store(async |place| {
        let world = world();
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        for what in ["b2", "a1", "a2", "b1"] {
            let pending = thread.interrupts().await.unwrap();
            let asked = pending.all::<Ask>().unwrap();
            let asked = asked.iter().find(|asked| asked.what == what).unwrap();
            thread.resume(asked.answer(what.starts_with('a'))).context(Arc::clone(&world)).await.unwrap();
        }
        let ended = thread.state().await.unwrap().unwrap();
        assert!(ended.is_finished());
        assert_eq!(told(&ended.state.unwrap()), "x 1 true false 2 true false");
    })
    .await;
}

#[tokio::test]
async fn packets_are_said_from_two_levels_down() {
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
    on_every_store(async |place| {
        let world = world();
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(world.ran(), "one");
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one deep relayed ask true part 1 part 2");
        assert_eq!(world.ran(), "ask");
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
async fn what_is_in_no_checkpoint_is_there_after_a_question() {
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
    let told = "true Some(7) Some(3) None Some(3)";
    let call = StateGraph::<Call>::with_context::<u32>().edge(START, writes).edge(writes, asks);
    let call = call.edge(asks, after).edge(after, END).compile().unwrap().as_node("call");
    let mapped =
        call.clone().mapped(|_: &Call| Call::input(1_u32), |done| Call::update().log(done.state.log));
    let graphs = [
        StateGraph::<Call>::with_context::<u32>().edge(START, &call).edge(&call, END).compile().unwrap(),
        StateGraph::<Call>::with_context::<u32>().edge(START, &mapped).edge(&mapped, END).compile().unwrap(),
    ];
    for graph in &graphs {
        on_every_store(async |place| {
            place.thread(graph).run(Call::input(1_u32)).context(3_u32).await.unwrap();
            let thread = place.thread(graph);
            let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
            let ended = thread.resume(asked.answer(true)).context(3_u32).await.unwrap();
            assert_eq!(ended.state().log.join(" "), told);
        })
        .await;
    }
}

#[tokio::test]
async fn a_call_whose_input_was_refused_begins_with_the_next_one() {
    let graph = |mends: bool| {
        let mended = AtomicBool::new(mends);
        async fn work(call: &Call) -> CallUpdate {
            Call::update().log([format!("level {}", call.level)])
        }
        let call = StateGraph::<Call>::with_context::<u32>().edge(START, work).edge(work, END);
        let call = call.compile().unwrap().as_node("call").mapped(
            move |_: &Call| Call::input(u32::from(mended.load(Ordering::SeqCst))),
            |done| Call::update().log(done.state.log),
        );
        StateGraph::<Call>::with_context::<u32>().edge(START, &call).edge(&call, END).compile().unwrap()
    };
    on_every_store(async |place| {
        let error = place.thread(&graph(false)).run(Call::input(1_u32)).context(3_u32).await.unwrap_err();
        assert!(format!("{error:?}").contains("level"), "{error:?}");
        let ended = place.thread(&graph(true)).resume(()).context(3_u32).await.unwrap();
        assert_eq!(ended.state().log, ["level 1"]);
    })
    .await;
}

#[tokio::test]
async fn deferred_nodes_within_wait_across_a_question() {
    let inner = story().edge(START, (one, ask)).edge(one, three).edge(ask, two).edge(two, END);
    let inner = inner.edge(three, END).defer(three).compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
    on_every_store(async |place| {
        let world = world();
        place.thread(&graph).run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        let thread = place.thread(&graph);
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one ask true two three last");
    })
    .await;
}

#[tokio::test]
async fn a_run_that_is_started_again_waits_where_its_call_does() {
    let inner = story().edge(START, one).edge(one, ask).edge(ask, END).compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
    on_every_store(async |place| {
        let world = world();
        let run = || place.thread(&graph).run(begin("x")).run_id("r").context(Arc::clone(&world));
        let first = run().await.unwrap();
        let again = run().await.unwrap();
        let asked = again.pause().unwrap().only::<Ask>().unwrap();
        assert_eq!(first.pause().unwrap().interrupts(), again.pause().unwrap().interrupts());
        assert_eq!(again.pause().unwrap().interrupts()[0].namespace, ["inner"]);
        let thread = place.thread(&graph);
        let snapshot = thread.within(&inner).state().await.unwrap().unwrap();
        assert_eq!(&*snapshot.run_id, "r");
        thread.resume(asked.answer(true)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(run().await.unwrap().state()), "x one ask true last");
        assert_eq!(world.ran(), "one ask last");
    })
    .await;
}

#[tokio::test]
async fn a_branch_of_a_thread_whose_call_waits_asks_for_itself() {
    let inner = story().edge(START, one).edge(one, ask).edge(ask, END).compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
    on_every_store(async |place| {
        let world = world();
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        let old = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let head = thread.state().await.unwrap().unwrap().id;
        thread.at(head).run_again().context(Arc::clone(&world)).await.unwrap();
        assert_eq!(world.ran(), "one one");
        assert!(thread.resume(old.answer(true)).context(Arc::clone(&world)).await.is_err());
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one ask true last");
        // Two supersteps by hand, in the place of the call and of what follows it.
        thread.run(begin("y")).context(Arc::clone(&world)).await.unwrap();
        let by_hand = [
            vec![(say("inner"), superstep::thread::as_node(&inner))],
            vec![(say("last"), superstep::thread::as_node(last))],
        ];
        thread.bulk_update(by_hand).context(Arc::clone(&world)).await.unwrap();
        let now = thread.state().await.unwrap().unwrap();
        assert!(now.is_finished() && thread.interrupts().await.unwrap().interrupts().is_empty());
        assert_eq!(told(&now.state.unwrap()), "x one ask true last y inner last");
    })
    .await;
}

#[tokio::test]
async fn events_of_a_call_that_is_gone_on_with_have_their_path() {
    let inner = story().edge(START, one).edge(one, ask).edge(ask, END).compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
    on_every_store(async |place| {
        let world = world();
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let mut seen = Vec::new();
        let run = thread.resume(asked.answer(true)).context(Arc::clone(&world));
        let run = run.events([StreamMode::Updates]).stream().for_each(|event| {
            let path: Vec<&str> = event.namespace.iter().map(|node| &**node).collect();
            seen.push(format!("{}:{}", path.join("/"), event.kind.node().unwrap_or("-")));
        });
        run.await.unwrap();
        assert_eq!(seen, ["inner:ask", ":inner", ":last", ":-"]);
    })
    .await;
}
