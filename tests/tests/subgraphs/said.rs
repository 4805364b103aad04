//! What a node says to the graph around its own: an update and a way there, and nothing more runs within.

use std::sync::Arc;

use graph_core::interrupt::Question;
use graph_core::subgraph::{Subgraph, ToParent};
use graph_core::{
    Ctx, END, ErrorKind, Graph, GraphState, NodeError, Route, START, StateGraph, WiringProblem,
};
use serde::{Deserialize, Serialize};

use super::stores::on_every_store;
use super::story::{Story, World, begin, enter, say, story, tellers, told};

tellers! { first never after helper }

#[derive(Route)]
enum Hand {
    #[to("helper")]
    Over,
}

async fn speak(story: &Story, cx: &Ctx<World>) -> Result<Option<ToParent<Story, Hand>>, NodeError> {
    enter(cx, "speak").await?;
    let hard = story.value == Some(1);
    Ok(hard.then(|| ToParent::update(say("too hard")).goto(Hand::Over)))
}

fn bot() -> Subgraph<Story, World> {
    let bot = story().edge(START, first).edge(first, speak).edge(speak, never).edge(never, END);
    bot.compile().unwrap().as_node("bot")
}

fn desk() -> Graph<Story, World> {
    let bot = bot();
    story().edge(START, &bot).edge(&bot, after).edge(after, END).edge(helper, END).compile().unwrap()
}

#[tokio::test]
async fn an_update_and_a_way_leave_the_subgraph() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let run = place.thread(&desk()).run(begin("x").value(1_u32)).context(Arc::clone(&world));
        assert_eq!(told(run.await.unwrap().state()), "x first too hard helper");
        assert_eq!(world.ran(), "first speak helper");
    })
    .await;
    let world = Arc::new(World::default());
    let ended = desk().run(begin("x")).context(world).await.unwrap();
    assert_eq!(told(ended.state()), "x first never after");
}

#[tokio::test]
async fn after_a_failure_it_is_said_once() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["helper"]);
        let run = place.thread(&desk()).run(begin("x").value(1_u32)).context(Arc::clone(&world));
        assert!(run.await.is_err());
        world.ran();
        world.breaks(&[]);
        let ended = place.thread(&desk()).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x first too hard helper");
        assert_eq!(world.ran(), "helper");
    })
    .await;
}

#[derive(Serialize, Deserialize)]
struct Sure;

impl Question for Sure {
    type Answer = bool;
}

#[tokio::test]
async fn a_sibling_that_asks_is_waited_for() {
    async fn sure(_: &Story, cx: &Ctx<World>) -> super::story::StoryUpdate {
        say(format!("sure {}", cx.interrupt(Sure).await))
    }
    let bot = story().edge(START, (speak, sure)).edge(speak, never).edge(never, END).edge(sure, END);
    let bot = bot.compile().unwrap().as_node("bot");
    let graph =
        story().edge(START, &bot).edge(&bot, after).edge(after, END).edge(helper, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let thread = place.thread(&graph);
        let run = thread.run(begin("x").value(1_u32)).context(Arc::clone(&world)).await.unwrap();
        assert!(run.pause().is_some());
        let answer = thread.pending().await.unwrap().only::<Sure>().unwrap().answer(true);
        let ended = thread.resume(answer).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x sure true too hard helper");
    })
    .await;
}

#[derive(GraphState, Clone, Debug)]
struct Search {
    found: u32,
}

#[tokio::test]
async fn a_subgraph_with_another_state_speaks_of_the_outer_one() {
    async fn speak(_: &Search) -> ToParent<Story, Hand> {
        ToParent::update(say("not found")).goto(Hand::Over)
    }
    async fn helper(_: &Story) -> super::story::StoryUpdate {
        say("help")
    }
    let search = StateGraph::<Search>::new().edge(START, speak).edge(speak, END).compile().unwrap();
    let search = search.as_node("search").mapped(|_: &Story| Search::input(), |_| say("found"));
    let graph =
        StateGraph::<Story>::new().edge(START, &search).edge(&search, END).edge(helper, END).compile();
    let ended = graph.unwrap().run(begin("x")).await.unwrap();
    assert_eq!(told(ended.state()), "x not found help");
}

#[tokio::test]
async fn what_nobody_can_hear_is_told_before_it_runs_or_when_it_is_said() {
    async fn speak(_: &Search) -> ToParent<Story, Hand> {
        ToParent::to(Hand::Over)
    }
    let search = StateGraph::<Search>::new().edge(START, speak).edge(speak, END).compile().unwrap();
    let inside = search.as_node("search");
    // The graph around it is on another state.
    let error = StateGraph::<Search>::new().edge(START, &inside).edge(&inside, END).compile().unwrap_err();
    let ErrorKind::Wiring(problems) = error.kind() else { panic!("{error}") };
    assert!(matches!(problems.as_slice(), [WiringProblem::SaidToAnother { .. }]), "{error}");
    // It has no such node.
    let mapped = inside.mapped(|_: &Story| Search::input(), |_| say("found"));
    let error = StateGraph::<Story>::new().edge(START, &mapped).edge(&mapped, END).compile().unwrap_err();
    let ErrorKind::Wiring(problems) = error.kind() else { panic!("{error}") };
    assert!(matches!(problems.as_slice(), [WiringProblem::UnknownDestination { .. }]), "{error}");
    // There is none.
    let error = search.run(Search::input()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoParent { .. }), "{error}");
}
