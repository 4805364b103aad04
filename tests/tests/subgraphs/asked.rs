//! A question within a subgraph is asked of whoever runs the graph around it, and answered there.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{ContextWith, END, Graph, NodeError, Outcome, START};

use super::stores::on_every_store;
use super::story::{Story, StoryUpdate, World, begin, enter, say, story, tellers, told};

tellers! { first beside after }

#[derive(Serialize, Deserialize, Debug)]
struct Approve {
    what: String,
}

impl Question for Approve {
    type Answer = bool;
}

async fn buy(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Approve { what: "buy".to_owned() }).await;
    enter(cx, "buy").await?;
    Ok(say(format!("buy {yes}")))
}

fn shop() -> Graph<Story, World> {
    let deep =
        story().edge(START, first).edge(first, buy).edge(buy, after).edge(after, END).compile().unwrap();
    let middle = deep.as_node("deep");
    let middle = story().edge(START, &middle).edge(&middle, END).compile().unwrap().as_node("middle");
    story().edge(START, (&middle, beside)).edge(&middle, END).edge(beside, END).compile().unwrap()
}

#[tokio::test]
async fn a_thread_goes_on_within_the_subgraph() {
    on_every_store(async |place| {
        let world = std::sync::Arc::new(World::default());
        let run = place.thread(&shop()).run(begin("x")).context(std::sync::Arc::clone(&world)).await.unwrap();
        let Outcome::Interrupted(pause) = run else { panic!("it asks") };
        let [question] = pause.interrupts() else { panic!("one question") };
        assert_eq!((question.namespace.join("/").as_str(), question.node.as_str()), ("middle/deep", "buy"));
        let mut ran: Vec<String> = world.ran().split(' ').map(str::to_owned).collect();
        ran.sort();
        assert_eq!(ran, ["beside", "first"]);

        let thread = place.thread(&shop());
        let pending = thread.interrupts().await.unwrap();
        assert_eq!(pending.interrupts(), pause.interrupts());
        let asked = pending.only::<Approve>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(std::sync::Arc::clone(&world)).await.unwrap();
        assert_eq!(world.ran(), "buy after");
        assert_eq!(told(ended.state()), "x first buy true after beside");
        // A second click answers nothing.
        assert!(thread.resume(asked.answer(true)).context(world).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn a_run_in_memory_goes_on_within_the_subgraph() {
    let world = std::sync::Arc::new(World::default());
    let mut run = shop().run(begin("x")).context(std::sync::Arc::clone(&world)).start().unwrap();
    while run.step().await.unwrap() {}
    let asked = run.pause().unwrap().only::<Approve>().unwrap();
    assert_eq!(world.ran(), "first beside");
    run.answer(asked.answer(false)).unwrap();
    let ended = run.finish().await.unwrap().into_state();
    assert_eq!(world.ran(), "buy after");
    assert_eq!(told(&ended), "x first buy false after beside");
}

#[tokio::test]
async fn a_subgraph_that_is_not_stored_begins_anew_and_is_not_asked_again() {
    on_every_store(async |place| {
        let world = std::sync::Arc::new(World::default());
        let inner =
            story().edge(START, first).edge(first, buy).edge(buy, after).edge(after, END).compile().unwrap();
        let inner = inner.as_node("inner").unstored();
        let graph = story().edge(START, &inner).edge(&inner, END).compile().unwrap();
        place.thread(&graph).run(begin("x")).context(std::sync::Arc::clone(&world)).await.unwrap();
        let thread = place.thread(&graph);
        let asked = thread.interrupts().await.unwrap().only::<Approve>().unwrap();
        let ended = thread.resume(asked.answer(true)).context(std::sync::Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x first buy true after");
        assert_eq!(world.ran(), "first first buy after");
        assert!(thread.within(&inner).state().await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn a_breakpoint_within_stops_the_run_around_it() {
    on_every_store(async |place| {
        let world = std::sync::Arc::new(World::default());
        let inner = story().edge(START, first).edge(first, after).edge(after, END).interrupt_before(after);
        let inner = inner.compile().unwrap().as_node("inner");
        let graph = story().edge(START, &inner).edge(&inner, beside).edge(beside, END).compile().unwrap();
        let run = place.thread(&graph).run(begin("x")).context(std::sync::Arc::clone(&world)).await.unwrap();
        assert_eq!(run.pause().unwrap().before(), ["inner/after"]);
        let thread = place.thread(&graph);
        assert_eq!(thread.interrupts().await.unwrap().before(), ["inner/after"]);
        let ended = thread.resume(()).context(std::sync::Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x first after beside");
        assert_eq!(world.ran(), "first after beside");
    })
    .await;
}
