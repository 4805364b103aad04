//! Updates from outside: to a waiting call, and to the state that the next call starts with.

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
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, next, recording_nodes, say, story};

recording_nodes! { one two three last }

#[derive(Serialize, Deserialize, Debug)]
struct Ask;

impl Question for Ask {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Ask).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

async fn other(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Ask).await;
    Ok(say(format!("other {yes}")))
}

async fn count(story: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let seen = format!("n{}", story.log.len());
    cx.context().note(&seen);
    Ok(say(seen))
}

fn probe() -> Arc<Probe> {
    Arc::new(Probe::default())
}

fn asking() -> Subgraph<Story, Probe> {
    let inner = story().edge(START, one).edge(one, ask).edge(ask, two).edge(two, END);
    inner.compile().unwrap().as_node("inner")
}

fn outer(inner: &Subgraph<Story, Probe>) -> Graph<Story, Probe> {
    story().edge(START, inner).edge(inner, last).edge(last, END).compile().unwrap()
}

#[tokio::test]
async fn update_replaces_an_asking_node_inside() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let probe = probe();
            let inner = asking();
            let graph = outer(&inner);
            let thread = store.thread(&graph);
            thread.run(begin("x")).durability(durability).context(Arc::clone(&probe)).await.unwrap();
            let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
            probe.ran();
            let thread = store.thread(&graph);
            let written = thread.within(&inner).update(say("by hand"), as_node(ask));
            let id = written.context(Arc::clone(&probe)).await.unwrap();
            let now = thread.within(&inner).state().await.unwrap().unwrap();
            assert_eq!((now.id, next(&now).as_str()), (id, "two"));
            assert_eq!(log_of(&now.state.unwrap()), "x one by hand");
            // The interrupt is no longer open.
            assert!(thread.interrupts().await.unwrap().interrupts().is_empty());
            let error = thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::InterruptNotOpen { .. }), "{error}");
            let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(log_of(ended.state()), "x one by hand two last");
            assert_eq!(probe.ran(), "two last");
        })
        .await;
    }
}

#[tokio::test]
async fn late_update_inside_is_refused_and_changes_nothing() {
    on_every_store(async |store| {
        let (probe, inner) = (probe(), asking());
        let graph = outer(&inner);
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let call = thread.within(&inner);
        let before = call.state().await.unwrap().unwrap();
        let update = |epoch| {
            let update = call.update(say("by hand"), as_node(ask)).if_epoch(epoch);
            update.context(Arc::clone(&probe))
        };
        let error = update(before.epoch - 1).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Conflict(_)), "{error}");
        let now = call.state().await.unwrap().unwrap();
        assert_eq!((now.id, now.epoch), (before.id, before.epoch));
        assert_eq!(thread.interrupts().await.unwrap().interrupts().len(), 1);

        update(before.epoch).await.unwrap();
        assert_eq!(call.state().await.unwrap().unwrap().epoch, before.epoch + 1);
    })
    .await;
}

#[tokio::test]
async fn call_at_a_breakpoint_continues_after_an_update() {
    on_every_store(async |store| {
        let probe = probe();
        let inner = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
        let inner = inner.interrupt_before(two).interrupt_before(three).compile().unwrap().as_node("inner");
        let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).interrupt_before(&inner);
        let graph = graph.compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(thread.interrupts().await.unwrap().before(), ["inner/two"]);
        // An update as `one`, which ran last: the breakpoint is before `two` again.
        thread.within(&inner).update(say("more"), None).context(Arc::clone(&probe)).await.unwrap();
        assert!(thread.interrupts().await.unwrap().before().is_empty());
        let run = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(run.pause().unwrap().before(), ["inner/two"]);
        thread.within(&inner).update(say("instead"), as_node(two)).context(Arc::clone(&probe)).await.unwrap();
        let run = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(run.pause().unwrap().before(), ["inner/three"]);
        thread.within(&inner).update(say("enough"), as_node(END)).context(Arc::clone(&probe)).await.unwrap();
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one more instead enough last");
        assert_eq!(probe.ran(), "one last");
    })
    .await;
}

#[tokio::test]
async fn update_replaces_a_failed_node_inside() {
    on_every_store(async |store| {
        let probe = probe();
        probe.set_failing(&["two"]);
        let inner = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
        let inner = inner.compile().unwrap().as_node("inner");
        let graph = outer(&inner);
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap_err();
        let stored = graph.with_checkpointer(store.open());
        let unfinished = stored.unfinished().await.unwrap();
        assert!(matches!(unfinished[0].status, ThreadStatus::Failed(_)), "{:?}", unfinished[0].status);
        thread.within(&inner).update(say("mended"), as_node(two)).context(Arc::clone(&probe)).await.unwrap();
        let unfinished = stored.unfinished().await.unwrap();
        assert!(matches!(unfinished[0].status, ThreadStatus::Running), "{:?}", unfinished[0].status);
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one mended three last");
    })
    .await;
}

#[tokio::test]
async fn update_inside_closes_the_error_handlers_interrupt() {
    async fn shall(_: &Story, cx: &ContextWith<Probe>) -> StoryUpdate {
        say(format!("given up {}", cx.interrupt(Ask).await))
    }
    on_every_store(async |store| {
        let probe = probe();
        probe.set_failing(&["two"]);
        let inner = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
        let inner = inner.compile().unwrap().as_node("inner");
        let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END);
        let graph = graph.on_error(&inner, shall).policy(&inner, Policy::new().retry(Retry::attempts(1)));
        let graph = graph.compile().unwrap();
        let thread = store.thread(&graph);
        let run = thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(run.pause().unwrap().interrupts().len(), 1);
        thread.within(&inner).update(say("mended"), as_node(two)).context(Arc::clone(&probe)).await.unwrap();
        assert!(thread.interrupts().await.unwrap().interrupts().is_empty());
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one mended three last");
    })
    .await;
}

#[tokio::test]
async fn update_leaves_interrupts_of_siblings_open() {
    on_every_store(async |store| {
        let probe = probe();
        let deep = story().edge(START, ask).edge(ask, two).edge(two, END).compile().unwrap().as_node("deep");
        let middle = story().edge(START, (&deep, other)).join((&deep, other), three).edge(three, END);
        let middle = middle.compile().unwrap().as_node("middle");
        let graph = story().edge(START, (&middle, ask)).join((&middle, ask), last).edge(last, END);
        let graph = graph.compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
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
        deep.update(say("by hand"), as_node(ask)).context(Arc::clone(&probe)).await.unwrap();
        let pending = thread.interrupts().await.unwrap();
        assert_eq!(who(&pending), "ask middle/other");
        let answers: Vec<_> = pending.all::<Ask>().unwrap().iter().map(|asked| asked.answer(true)).collect();
        let ended = thread.resume(answers).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x by hand two other true three ask true last");
    })
    .await;
}

#[tokio::test]
async fn only_a_waiting_call_accepts_updates() {
    on_every_store(async |store| {
        let probe = probe();
        let inner = asking();
        let graph = outer(&inner);
        let thread = store.thread(&graph);
        let write = async || {
            let written = thread.within(&inner).update(say("no"), as_node(ask)).context(Arc::clone(&probe));
            written.await.unwrap_err()
        };
        let error = write().await;
        assert!(matches!(error.kind(), ErrorKind::NoThread { .. }), "{error}");
        let run = thread.run(begin("x")).interrupt_before(&inner).context(Arc::clone(&probe));
        run.await.unwrap();
        let error = write().await;
        assert!(matches!(error.kind(), ErrorKind::NoSubgraphCall { ended: false, .. }), "{error}");
        thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        // A refused update changes nothing.
        let wrong_node = thread.within(&inner).update(say("no"), as_node(last)).context(Arc::clone(&probe));
        assert!(matches!(wrong_node.await.unwrap_err().kind(), ErrorKind::InvalidAsNode { .. }));
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one ask true two last");
        let error = write().await;
        assert!(matches!(error.kind(), ErrorKind::NoSubgraphCall { ended: true, .. }), "{error}");
        // The call is abandoned.
        thread.run(begin("y")).context(Arc::clone(&probe)).await.unwrap();
        thread.update(say("over"), as_node(END)).context(Arc::clone(&probe)).await.unwrap();
        let error = write().await;
        assert!(matches!(error.kind(), ErrorKind::NoSubgraphCall { ended: true, .. }), "{error}");
    })
    .await;
}

#[tokio::test]
async fn ended_call_beside_a_waiting_one_refuses_updates() {
    on_every_store(async |store| {
        let probe = probe();
        let inner = story().edge(START, one).edge(one, END).compile().unwrap().as_node("inner");
        let graph = story().edge(START, (&inner, ask)).join((&inner, ask), last).edge(last, END);
        let graph = graph.compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let error = thread.within(&inner).update(say("no"), None).context(Arc::clone(&probe)).await;
        assert!(matches!(error.unwrap_err().kind(), ErrorKind::NoSubgraphCall { ended: true, .. }));
    })
    .await;
}

#[tokio::test]
async fn update_inside_overtakes_an_active_run() {
    on_every_store(async |store| {
        let probe = probe();
        let inner = asking();
        let graph = outer(&inner);
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let asked = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        let run = thread.resume(asked.answer(true)).context(Arc::clone(&probe));
        let under_way = run.start().await.unwrap().unwrap();
        let written = store.thread(&graph);
        let written = written.within(&inner).update(say("by hand"), as_node(ask));
        written.context(Arc::clone(&probe)).await.unwrap();
        let error = under_way.finish().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Conflict(_)), "{error:?}");
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one by hand two last");
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
async fn update_needs_the_route_of_the_replaced_node() {
    async fn choose(_: &Story, cx: &ContextWith<Probe>) -> Next {
        if cx.interrupt(Ask).await { Next::Two } else { Next::Three }
    }
    on_every_store(async |store| {
        let probe = probe();
        let inner = story().edge(START, choose).edge(two, END).edge(three, END);
        let inner = inner.compile().unwrap().as_node("inner");
        let graph = outer(&inner);
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let within = thread.within(&inner);
        let error = within.update(say("no"), as_node(choose)).context(Arc::clone(&probe)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidAsNode { .. }), "{error}");
        let choice = as_node(choose).with_route(Next::Three);
        within.update(say("this way"), choice).context(Arc::clone(&probe)).await.unwrap();
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x this way three last");
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

/// A route function that reads the context.
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
async fn mapped_call_with_its_own_context_accepts_updates() {
    let search = StateGraph::<Search>::with_context::<u32>().edge(START, look).route(look, far);
    let search = search.compile().unwrap().as_node("search");
    let search = search.mapped(
        |story: &Story| Search::input(log_of(story)),
        |done| say(done.appended(|search: &Search| &search.found).join("+")),
    );
    let search = search.context_from(|_: &Probe| 2_u32);
    let graph = story().edge(START, &search).edge(&search, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let within = thread.within(&search);
        let found = Search::update().found(["nothing".to_owned()]);
        within.update(found.clone(), as_node(look)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(next(&within.state().await.unwrap().unwrap()), "look");
        within.update(found, as_node(look)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(next(&within.state().await.unwrap().unwrap()), "");
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x nothing+nothing last");
    })
    .await;
}

#[tokio::test]
async fn update_between_calls_changes_the_keyed_state() {
    let inner = story().edge(START, count).edge(count, END).compile().unwrap().as_node("inner");
    let inner = inner
        .mapped(|_: &Story| begin("in"), |done| say(done.appended(|story: &Story| &story.log).join("+")));
    let inner = inner.keyed(|story: &Story| story.value.unwrap_or(0).to_string());
    let graph = story().edge(START, &inner).edge(&inner, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let thread = store.thread(&graph);
        let run = async |key: u32| {
            thread.run(begin("x").value(key)).context(Arc::clone(&probe)).await.unwrap();
        };
        run(1).await;
        let before = thread.state().await.unwrap().unwrap().id;
        run(1).await;
        assert_eq!(probe.ran(), "n1 n3");
        let [one, two] = ["1", "2"].map(|key| thread.within(&inner).key(key));
        one.update(say("a"), None).context(Arc::clone(&probe)).await.unwrap();
        one.update(say("b"), as_node(END)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(&one.state().await.unwrap().unwrap().state.unwrap()), "in n1 in n3 a b");
        // The state of a key can be updated before its first call.
        two.update(say("c"), None).context(Arc::clone(&probe)).await.unwrap();
        let error = one.update(say("no"), as_node(count)).context(Arc::clone(&probe)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidAsNode { .. }), "{error}");
        let error = thread.within(&inner).update(say("no"), None).context(Arc::clone(&probe)).await;
        assert!(matches!(error.unwrap_err().kind(), ErrorKind::NoSubgraphCall { ended: false, .. }));
        run(1).await;
        run(2).await;
        run(1).await;
        assert_eq!(probe.ran(), "n7 n2 n9");
        // A fork from before the update does not contain it.
        let run = thread.at(before).run(begin("x").value(1_u32)).context(Arc::clone(&probe));
        run.await.unwrap();
        assert_eq!(probe.ran(), "n3");
    })
    .await;
}

#[tokio::test]
async fn update_between_calls_survives_pruning() {
    let inner = story().edge(START, count).edge(count, END).compile().unwrap().as_node("inner");
    let inner = inner
        .mapped(|_: &Story| begin("in"), |done| say(done.appended(|story: &Story| &story.log).join("+")));
    let inner = inner.per_thread();
    let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let thread = store.thread(&graph);
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        thread.within(&inner).update(say("a"), None).context(Arc::clone(&probe)).await.unwrap();
        thread.run(begin("x")).interrupt_before(&inner).context(Arc::clone(&probe)).await.unwrap();
        let stored = graph.with_checkpointer(store.open());
        let keep = superstep::checkpoint::Prune::new().keep_last(1);
        stored.prune(keep).await.unwrap();
        thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(probe.ran(), "n1 last n4 last");
    })
    .await;
}

#[tokio::test]
async fn alias_reads_updates_and_replays_a_renamed_call() {
    on_every_store(async |store| {
        let probe = probe();
        let inner = asking();
        let thread = store.thread(&outer(&inner));
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        probe.ran();
        let renamed = inner.graph().as_node("renamed");
        let graph =
            story().edge(START, &renamed).edge(&renamed, last).edge(last, END).alias(&renamed, "inner");
        let thread = store.thread(&graph.compile().unwrap());
        let within = thread.within(&renamed);
        let now = within.state().await.unwrap().unwrap();
        assert_eq!((next(&now).as_str(), &*now.namespace), ("ask", "inner"));
        let waits = now.id;
        within.update(say("by hand"), as_node(ask)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(within.history().await.unwrap().len(), 3);
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one by hand two last");
        probe.ran();
        let again = within.at(waits).run_again().context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(again.pause().unwrap().interrupts().len(), 1);
        assert_eq!(probe.ran(), "");
    })
    .await;
}
