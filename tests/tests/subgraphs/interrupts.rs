//! An interrupt inside a subgraph pauses the parent run and is answered there.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{ContextWith, END, Graph, NodeError, Outcome, START};

use super::stores::on_every_store;
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, recording_nodes, say, story};

recording_nodes! { first beside after }

#[derive(Serialize, Deserialize, Debug)]
struct Approve {
    what: String,
}

impl Question for Approve {
    type Answer = bool;
}

async fn buy(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Approve { what: "buy".to_owned() }).await;
    enter(cx, "buy").await?;
    Ok(say(format!("buy {yes}")))
}

fn shop() -> Graph<Story, Probe> {
    let deep =
        story().edge(START, first).edge(first, buy).edge(buy, after).edge(after, END).compile().unwrap();
    let middle = deep.as_node("deep");
    let middle = story().edge(START, &middle).edge(&middle, END).compile().unwrap().as_node("middle");
    story().edge(START, (&middle, beside)).edge(&middle, END).edge(beside, END).compile().unwrap()
}

#[tokio::test]
async fn answer_continues_inside_the_subgraph() {
    on_every_store(async |store| {
        let probe = std::sync::Arc::new(Probe::default());
        let run = store.thread(&shop()).run(begin("x")).context(std::sync::Arc::clone(&probe)).await.unwrap();
        let Outcome::Interrupted(pause) = run else { panic!("it asks") };
        let [question] = pause.interrupts() else { panic!("one question") };
        assert_eq!((question.namespace.join("/").as_str(), question.node.as_str()), ("middle/deep", "buy"));
        let mut ran: Vec<String> = probe.ran().split(' ').map(str::to_owned).collect();
        ran.sort();
        assert_eq!(ran, ["beside", "first"]);

        let thread = store.thread(&shop());
        let pending = thread.interrupts().await.unwrap();
        assert_eq!(pending.interrupts(), pause.interrupts());
        let asked = pending.only::<Approve>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(std::sync::Arc::clone(&probe)).await.unwrap();
        assert_eq!(probe.ran(), "buy after");
        assert_eq!(log_of(ended.state()), "x first buy true after beside");
        // A second answer is refused.
        assert!(thread.resume(asked.answer(true)).context(probe).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn answer_without_a_checkpointer_continues_inside_the_subgraph() {
    let probe = std::sync::Arc::new(Probe::default());
    let mut run = shop().run(begin("x")).context(std::sync::Arc::clone(&probe)).start().unwrap();
    while run.step().await.unwrap() {}
    let asked = run.pause().unwrap().only::<Approve>().unwrap();
    assert_eq!(probe.ran(), "first beside");
    run.answer(asked.answer(false)).unwrap();
    let ended = run.finish().await.unwrap().into_state();
    assert_eq!(probe.ran(), "buy after");
    assert_eq!(log_of(&ended), "x first buy false after beside");
}

#[tokio::test]
async fn unstored_subgraph_restarts_without_asking_again() {
    on_every_store(async |store| {
        let probe = std::sync::Arc::new(Probe::default());
        let inner =
            story().edge(START, first).edge(first, buy).edge(buy, after).edge(after, END).compile().unwrap();
        let inner = inner.as_node("inner").unstored();
        let graph = story().edge(START, &inner).edge(&inner, END).compile().unwrap();
        store.thread(&graph).run(begin("x")).context(std::sync::Arc::clone(&probe)).await.unwrap();
        let thread = store.thread(&graph);
        let asked = thread.interrupts().await.unwrap().only::<Approve>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(std::sync::Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x first buy true after");
        assert_eq!(probe.ran(), "first first buy after");
        assert!(thread.within(&inner).state().await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn breakpoint_inside_stops_the_parent_run() {
    on_every_store(async |store| {
        let probe = std::sync::Arc::new(Probe::default());
        let inner = story().edge(START, first).edge(first, after).edge(after, END).interrupt_before(after);
        let inner = inner.compile().unwrap().as_node("inner");
        let graph = story().edge(START, &inner).edge(&inner, beside).edge(beside, END).compile().unwrap();
        let run = store.thread(&graph).run(begin("x")).context(std::sync::Arc::clone(&probe)).await.unwrap();
        assert_eq!(run.pause().unwrap().before(), ["inner/after"]);
        let thread = store.thread(&graph);
        assert_eq!(thread.interrupts().await.unwrap().before(), ["inner/after"]);
        let ended = thread.resume(()).context(std::sync::Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x first after beside");
        assert_eq!(probe.ran(), "first after beside");
    })
    .await;
}
