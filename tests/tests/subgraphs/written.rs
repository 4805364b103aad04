//! A write from outside to a call that waits, and to what the next call begins with.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::subgraph::Subgraph;
use superstep::thread::{ThreadStatus, as_node};
use superstep::{
    ContextWith, Durability, END, ErrorKind, Graph, GraphState, NodeError, Route, START, StateGraph,
};

use super::stores::on_every_store;
use super::story::{Story, StoryUpdate, World, begin, enter, next, say, story, tellers, told};

tellers! { one two three last }

#[derive(Serialize, Deserialize, Debug)]
struct Ask;

impl Question for Ask {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Ask).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

async fn other(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Ask).await;
    Ok(say(format!("other {yes}")))
}

async fn count(story: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    let seen = format!("n{}", story.log.len());
    cx.context().note(&seen);
    Ok(say(seen))
}

fn world() -> Arc<World> {
    Arc::new(World::default())
}

fn asking() -> Subgraph<Story, World> {
    let inner = story().edge(START, one).edge(one, ask).edge(ask, two).edge(two, END);
    inner.compile().unwrap().as_node("inner")
}

fn around(inner: &Subgraph<Story, World>) -> Graph<Story, World> {
    story().edge(START, inner).edge(inner, last).edge(last, END).compile().unwrap()
}

#[tokio::test]
async fn a_call_that_asks_goes_on_without_an_answer() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |place| {
            let world = world();
            let inner = asking();
            let graph = around(&inner);
            let thread = place.thread(&graph);
            thread.run(begin("x")).durability(durability).context(Arc::clone(&world)).await.unwrap();
            let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
            world.ran();
            let thread = place.thread(&graph);
            let written = thread.within(&inner).update(say("by hand"), as_node(ask));
            let id = written.context(Arc::clone(&world)).await.unwrap();
            let now = thread.within(&inner).state().await.unwrap().unwrap();
            assert_eq!((now.id, next(&now).as_str()), (id, "two"));
            assert_eq!(told(&now.state.unwrap()), "x one by hand");
            // Nobody is asked any more.
            assert!(thread.interrupts().await.unwrap().interrupts().is_empty());
            let error = thread.resume(asked.answer(true)).context(Arc::clone(&world)).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::InterruptNotOpen { .. }), "{error}");
            let ended = place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap();
            assert_eq!(told(ended.state()), "x one by hand two last");
            assert_eq!(world.ran(), "two last");
        })
        .await;
    }
}

#[tokio::test]
async fn a_call_at_a_breakpoint_goes_on_from_what_was_written() {
    on_every_store(async |place| {
        let world = world();
        let inner = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
        let inner = inner.interrupt_before(two).interrupt_before(three).compile().unwrap().as_node("inner");
        let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).interrupt_before(&inner);
        let graph = graph.compile().unwrap();
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(thread.interrupts().await.unwrap().before(), ["inner/two"]);
        // In the place of `one`, which ran last: the breakpoint is before it again.
        thread.within(&inner).update(say("more"), None).context(Arc::clone(&world)).await.unwrap();
        assert!(thread.interrupts().await.unwrap().before().is_empty());
        let run = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(run.pause().unwrap().before(), ["inner/two"]);
        thread.within(&inner).update(say("instead"), as_node(two)).context(Arc::clone(&world)).await.unwrap();
        let run = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(run.pause().unwrap().before(), ["inner/three"]);
        thread.within(&inner).update(say("enough"), as_node(END)).context(Arc::clone(&world)).await.unwrap();
        let ended = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one more instead enough last");
        assert_eq!(world.ran(), "one last");
    })
    .await;
}

#[tokio::test]
async fn a_call_that_has_failed_goes_on_past_its_failure() {
    on_every_store(async |place| {
        let world = world();
        world.breaks(&["two"]);
        let inner = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
        let inner = inner.compile().unwrap().as_node("inner");
        let graph = around(&inner);
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap_err();
        let stored = graph.with_checkpointer(place.open());
        let left = stored.unfinished().await.unwrap();
        assert!(matches!(left[0].status, ThreadStatus::Failed(_)), "{:?}", left[0].status);
        thread.within(&inner).update(say("mended"), as_node(two)).context(Arc::clone(&world)).await.unwrap();
        let left = stored.unfinished().await.unwrap();
        assert!(matches!(left[0].status, ThreadStatus::Running), "{:?}", left[0].status);
        let ended = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one mended three last");
    })
    .await;
}

#[tokio::test]
async fn a_call_that_its_handler_asks_about_goes_on_itself() {
    async fn shall(_: &Story, cx: &ContextWith<World>) -> StoryUpdate {
        say(format!("given up {}", cx.interrupt(Ask).await))
    }
    on_every_store(async |place| {
        let world = world();
        world.breaks(&["two"]);
        let inner = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
        let inner = inner.compile().unwrap().as_node("inner");
        let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END);
        let graph = graph.on_error(&inner, shall).policy(&inner, Policy::new().retry(Retry::attempts(1)));
        let graph = graph.compile().unwrap();
        let thread = place.thread(&graph);
        let run = thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(run.pause().unwrap().interrupts().len(), 1);
        thread.within(&inner).update(say("mended"), as_node(two)).context(Arc::clone(&world)).await.unwrap();
        assert!(thread.interrupts().await.unwrap().interrupts().is_empty());
        let ended = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one mended three last");
    })
    .await;
}

#[tokio::test]
async fn what_siblings_wait_for_stays() {
    on_every_store(async |place| {
        let world = world();
        let deep = story().edge(START, ask).edge(ask, two).edge(two, END).compile().unwrap().as_node("deep");
        let middle = story().edge(START, (&deep, other)).join((&deep, other), three).edge(three, END);
        let middle = middle.compile().unwrap().as_node("middle");
        let graph = story().edge(START, (&middle, ask)).join((&middle, ask), last).edge(last, END);
        let graph = graph.compile().unwrap();
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        let who = |pending: &superstep::interrupt::Pause<()>| {
            let who = |open: &superstep::interrupt::OpenInterrupt| {
                let path = open.namespace.iter().chain([&open.node]).cloned().collect::<Vec<_>>();
                path.join("/")
            };
            let mut who: Vec<String> = pending.interrupts().iter().map(who).collect();
            who.sort();
            who.join(" ")
        };
        assert_eq!(who(&thread.interrupts().await.unwrap()), "ask middle/deep/ask middle/other");
        let deep = thread.within(&middle).within(&deep);
        deep.update(say("by hand"), as_node(ask)).context(Arc::clone(&world)).await.unwrap();
        let pending = thread.interrupts().await.unwrap();
        assert_eq!(who(&pending), "ask middle/other");
        let answers: Vec<_> = pending.all::<Ask>().unwrap().iter().map(|asked| asked.answer(true)).collect();
        let ended = thread.resume(answers).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x by hand two other true three ask true last");
    })
    .await;
}

#[tokio::test]
async fn only_a_call_that_waits_can_be_written_to() {
    on_every_store(async |place| {
        let world = world();
        let inner = asking();
        let graph = around(&inner);
        let thread = place.thread(&graph);
        let write = async || {
            let written = thread.within(&inner).update(say("no"), as_node(ask)).context(Arc::clone(&world));
            written.await.unwrap_err()
        };
        let error = write().await;
        assert!(matches!(error.kind(), ErrorKind::NoThread { .. }), "{error}");
        let run = thread.run(begin("x")).interrupt_before(&inner).context(Arc::clone(&world));
        run.await.unwrap();
        let error = write().await;
        assert!(matches!(error.kind(), ErrorKind::NoSubgraphCall { ended: false, .. }), "{error}");
        thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        // What is refused changes nothing.
        let nobody = thread.within(&inner).update(say("no"), as_node(last)).context(Arc::clone(&world));
        assert!(matches!(nobody.await.unwrap_err().kind(), ErrorKind::InvalidAsNode { .. }));
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one ask true two last");
        let error = write().await;
        assert!(matches!(error.kind(), ErrorKind::NoSubgraphCall { ended: true, .. }), "{error}");
        // Given up.
        thread.run(begin("y")).context(Arc::clone(&world)).await.unwrap();
        thread.update(say("over"), as_node(END)).context(Arc::clone(&world)).await.unwrap();
        let error = write().await;
        assert!(matches!(error.kind(), ErrorKind::NoSubgraphCall { ended: true, .. }), "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_call_that_has_ended_beside_one_that_waits_is_not_written_to() {
    on_every_store(async |place| {
        let world = world();
        let inner = story().edge(START, one).edge(one, END).compile().unwrap().as_node("inner");
        let graph = story().edge(START, (&inner, ask)).join((&inner, ask), last).edge(last, END);
        let graph = graph.compile().unwrap();
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        let error = thread.within(&inner).update(say("no"), None).context(Arc::clone(&world)).await;
        assert!(matches!(error.unwrap_err().kind(), ErrorKind::NoSubgraphCall { ended: true, .. }));
    })
    .await;
}

#[tokio::test]
async fn a_run_that_is_under_way_is_overtaken() {
    on_every_store(async |place| {
        let world = world();
        let inner = asking();
        let graph = around(&inner);
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let run = thread.resume(asked.answer(true)).context(Arc::clone(&world));
        let under_way = run.start().await.unwrap().unwrap();
        let written = place.thread(&graph);
        let written = written.within(&inner).update(say("by hand"), as_node(ask));
        written.context(Arc::clone(&world)).await.unwrap();
        let error = under_way.finish().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Conflict(_)), "{error:?}");
        let ended = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one by hand two last");
    })
    .await;
}

#[derive(Route)]
enum Next {
    #[to("two")]
    Two,
    #[to("three")]
    Three,
}

#[tokio::test]
async fn the_way_that_a_node_shall_have_taken_is_said() {
    async fn choose(_: &Story, cx: &ContextWith<World>) -> Next {
        if cx.interrupt(Ask).await { Next::Two } else { Next::Three }
    }
    on_every_store(async |place| {
        let world = world();
        let inner = story().edge(START, choose).edge(two, END).edge(three, END);
        let inner = inner.compile().unwrap().as_node("inner");
        let graph = around(&inner);
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        let within = thread.within(&inner);
        let error = within.update(say("no"), as_node(choose)).context(Arc::clone(&world)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidAsNode { .. }), "{error}");
        let place = as_node(choose).with_route(Next::Three);
        within.update(say("this way"), place).context(Arc::clone(&world)).await.unwrap();
        let ended = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x this way three last");
    })
    .await;
}

#[derive(GraphState, Clone, Debug)]
struct Search {
    #[state(input)]
    words: String,
    #[state(reducer = append)]
    found: Vec<String>,
}

async fn look(search: &Search, cx: &ContextWith<u32>) -> SearchUpdate {
    let sure = cx.interrupt(Ask).await;
    Search::update().found([format!("{} {sure} {}", search.words, cx.context())])
}

/// A route function, which is asked with the context.
fn far(search: &Search, cx: &ContextWith<u32>) -> Far {
    if search.found.len() < *cx.context() as usize { Far::Again } else { Far::Enough }
}

#[derive(Route)]
enum Far {
    #[to("look")]
    Again,
    #[to(END)]
    Enough,
}

#[tokio::test]
async fn a_call_with_a_state_and_a_context_of_its_own_is_written_to() {
    let search = StateGraph::<Search>::with_context::<u32>().edge(START, look).route(look, far);
    let search = search.compile().unwrap().as_node("search");
    let search = search.mapped(
        |story: &Story| Search::input(told(story)),
        |done| say(done.appended(|search: &Search| &search.found).join("+")),
    );
    let search = search.context_from(|_: &World| 2_u32);
    let graph = story().edge(START, &search).edge(&search, last).edge(last, END).compile().unwrap();
    on_every_store(async |place| {
        let world = world();
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        let within = thread.within(&search);
        let found = Search::update().found(["nothing".to_owned()]);
        within.update(found.clone(), as_node(look)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(next(&within.state().await.unwrap().unwrap()), "look");
        within.update(found, as_node(look)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(next(&within.state().await.unwrap().unwrap()), "");
        let ended = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x nothing+nothing last");
    })
    .await;
}

#[tokio::test]
async fn what_the_next_call_begins_with_is_written_between_two() {
    let inner = story().edge(START, count).edge(count, END).compile().unwrap().as_node("inner");
    let inner = inner
        .mapped(|_: &Story| begin("in"), |done| say(done.appended(|story: &Story| &story.log).join("+")));
    let inner = inner.keyed(|story: &Story| story.value.unwrap_or(0).to_string());
    let graph = story().edge(START, &inner).edge(&inner, END).compile().unwrap();
    on_every_store(async |place| {
        let world = world();
        let thread = place.thread(&graph);
        let run = async |key: u32| {
            thread.run(begin("x").value(key)).context(Arc::clone(&world)).await.unwrap();
        };
        run(1).await;
        let before = thread.state().await.unwrap().unwrap().id;
        run(1).await;
        assert_eq!(world.ran(), "n1 n3");
        let [one, two] = ["1", "2"].map(|key| thread.within(&inner).key(key));
        one.update(say("a"), None).context(Arc::clone(&world)).await.unwrap();
        one.update(say("b"), as_node(END)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(&one.state().await.unwrap().unwrap().state.unwrap()), "in n1 in n3 a b");
        // Also before the first call.
        two.update(say("c"), None).context(Arc::clone(&world)).await.unwrap();
        let error = one.update(say("no"), as_node(count)).context(Arc::clone(&world)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidAsNode { .. }), "{error}");
        let error = thread.within(&inner).update(say("no"), None).context(Arc::clone(&world)).await;
        assert!(matches!(error.unwrap_err().kind(), ErrorKind::NoSubgraphCall { ended: false, .. }));
        run(1).await;
        run(2).await;
        run(1).await;
        assert_eq!(world.ran(), "n7 n2 n9");
        // A branch from before it was written has none of it.
        let run = thread.at(before).run(begin("x").value(1_u32)).context(Arc::clone(&world));
        run.await.unwrap();
        assert_eq!(world.ran(), "n3");
    })
    .await;
}

#[tokio::test]
async fn what_was_written_between_two_calls_outlives_pruning() {
    let inner = story().edge(START, count).edge(count, END).compile().unwrap().as_node("inner");
    let inner = inner
        .mapped(|_: &Story| begin("in"), |done| say(done.appended(|story: &Story| &story.log).join("+")));
    let inner = inner.per_thread();
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
    on_every_store(async |place| {
        let world = world();
        let thread = place.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        thread.within(&inner).update(say("a"), None).context(Arc::clone(&world)).await.unwrap();
        thread.run(begin("x")).interrupt_before(&inner).context(Arc::clone(&world)).await.unwrap();
        let stored = graph.with_checkpointer(place.open());
        let keep = superstep::checkpoint::Prune { keep_last: Some(1), ..Default::default() };
        stored.prune(keep).await.unwrap();
        thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(world.ran(), "n1 last n4 last");
    })
    .await;
}

#[tokio::test]
async fn a_call_of_a_node_with_another_name_is_read_written_to_and_replayed() {
    on_every_store(async |place| {
        let world = world();
        let inner = asking();
        let thread = place.thread(&around(&inner));
        thread.run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        world.ran();
        let renamed = inner.graph().as_node("renamed");
        let graph =
            story().edge(START, &renamed).edge(&renamed, last).edge(last, END).alias(&renamed, "inner");
        let thread = place.thread(&graph.compile().unwrap());
        let within = thread.within(&renamed);
        let now = within.state().await.unwrap().unwrap();
        assert_eq!((next(&now).as_str(), &*now.namespace), ("ask", "inner"));
        let waits = now.id;
        within.update(say("by hand"), as_node(ask)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(within.history().await.unwrap().len(), 3);
        let ended = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one by hand two last");
        world.ran();
        let again = within.at(waits).run_again().context(Arc::clone(&world)).await.unwrap();
        assert_eq!(again.pause().unwrap().interrupts().len(), 1);
        assert_eq!(world.ran(), "");
    })
    .await;
}
