//! What a node says to the graph around its own: an update and a way there, and nothing more runs within.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::subgraph::{ParentCommand, Subgraph};
use superstep::{
    ContextWith, Durability, END, ErrorKind, Graph, GraphState, NodeError, Route, START, StateGraph,
    WiringProblem,
};

use super::stores::on_every_store;
use super::story::{Story, World, begin, enter, say, story, tellers, told};

tellers! { first never after helper }

#[derive(Route)]
enum Hand {
    #[to("helper")]
    Over,
}

async fn speak(
    story: &Story,
    cx: &ContextWith<World>,
) -> Result<Option<ParentCommand<Story, Hand>>, NodeError> {
    enter(cx, "speak").await?;
    let hard = story.value == Some(1);
    Ok(hard.then(|| ParentCommand::update(say("too hard")).goto(Hand::Over)))
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
    let bot = story().edge(START, (speak, sure)).edge(speak, never).edge(never, END).edge(sure, END);
    let bot = bot.compile().unwrap().as_node("bot");
    let graph =
        story().edge(START, &bot).edge(&bot, after).edge(after, END).edge(helper, END).compile().unwrap();
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let thread = place.thread(&graph);
        let run = thread.run(begin("x").value(1_u32)).context(Arc::clone(&world)).await.unwrap();
        assert!(run.pause().is_some());
        let answer = thread.interrupts().await.unwrap().only::<Sure>().unwrap().answer(true);
        let ended = thread.resume(answer).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x sure true too hard helper");
        // What it has said is kept: it does not run again.
        assert_eq!(world.ran(), "speak helper");
    })
    .await;
}

#[derive(Serialize, Deserialize, Clone, Debug)]
struct Part(u32);

#[derive(Route)]
enum Parts {
    #[to("takes")]
    Takes(Part),
    #[to("helper")]
    Help,
}

/// A route with an exit of the same name, to another node.
#[derive(Route)]
enum Others {
    #[to("after")]
    Help,
}

async fn takes(_: &Story, part: &Part) -> super::story::StoryUpdate {
    say(format!("part {}", part.0))
}

async fn sure(_: &Story, cx: &ContextWith<World>) -> super::story::StoryUpdate {
    say(format!("sure {}", cx.interrupt(Sure).await))
}

#[tokio::test]
async fn what_several_have_said_is_kept_as_it_is() {
    async fn parts(
        _: &Story,
        cx: &ContextWith<World>,
    ) -> Result<ParentCommand<Story, Vec<Parts>>, NodeError> {
        enter(cx, "parts").await?;
        Ok(ParentCommand::to(vec![Parts::Takes(Part(1)), Parts::Help, Parts::Takes(Part(2))]))
    }
    async fn others(_: &Story, cx: &ContextWith<World>) -> Result<ParentCommand<Story, Others>, NodeError> {
        enter(cx, "others").await?;
        Ok(ParentCommand::update(say("others")).goto(Others::Help))
    }
    async fn stays(_: &Story, cx: &ContextWith<World>) -> Result<ParentCommand<Story>, NodeError> {
        enter(cx, "stays").await?;
        Ok(ParentCommand::update(story_value(7)))
    }
    fn story_value(value: u32) -> super::story::StoryUpdate {
        Story::update().value(value)
    }
    let bot = story().edge(START, (parts, others, stays, sure)).edge(parts, END).edge(others, END);
    let bot = bot.edge(stays, END).edge(sure, END).compile().unwrap();
    let here = bot.as_node("bot");
    let mapped = bot.as_node("bot").mapped(|_: &Story| begin("in"), |_| say("never"));
    let graph = |bot| -> Graph<Story, World> {
        let graph: superstep::StateGraph<Story, World> = bot;
        graph.edge(after, END).edge(helper, END).edge(takes, END).compile().unwrap()
    };
    let graphs = [
        (graph(story().edge(START, &here).edge(&here, END)), "x sure true others after helper part 1 part 2"),
        (graph(story().edge(START, &mapped).edge(&mapped, END)), "x others after helper part 1 part 2"),
    ];
    for (graph, ends) in &graphs {
        on_every_store(async |place| {
            let world = world();
            place.thread(graph).run(begin("x")).context(Arc::clone(&world)).await.unwrap();
            let thread = place.thread(graph);
            let answer = thread.interrupts().await.unwrap().only::<Sure>().unwrap().answer(true);
            let ended = thread.resume(answer).context(Arc::clone(&world)).await.unwrap();
            assert_eq!((told(ended.state()).as_str(), ended.state().value), (*ends, Some(7)));
            assert_eq!(world.ran(), "parts others stays after helper");
        })
        .await;
    }
}

#[tokio::test]
async fn what_is_said_next_to_a_task_that_asks_is_said_once() {
    let bot = bot();
    let graph = story().edge(START, (&bot, sure)).edge(&bot, after).edge(after, END).edge(helper, END);
    let graph = graph.edge(sure, END).compile().unwrap();
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |place| {
            let world = world();
            let run = place.thread(&graph).run(begin("x").value(1_u32)).durability(durability);
            run.context(Arc::clone(&world)).await.unwrap();
            assert_eq!(world.ran(), "first speak");
            let thread = place.thread(&graph);
            let answer = thread.interrupts().await.unwrap().only::<Sure>().unwrap().answer(true);
            let ended = thread.resume(answer).context(Arc::clone(&world)).await.unwrap();
            assert_eq!(told(ended.state()), "x first too hard sure true helper");
            assert_eq!(world.ran(), "helper");
        })
        .await;
    }
}

#[tokio::test]
async fn what_is_written_next_to_it_is_left_for_the_next_call() {
    async fn count(story: &Story, cx: &ContextWith<World>) -> super::story::StoryUpdate {
        cx.context().note(format!("n{}", story.log.len()));
        say("counted")
    }
    async fn speak(_: &Story) -> ParentCommand<Story, Hand> {
        ParentCommand::update(say("said")).goto(Hand::Over)
    }
    let bot = story().edge(START, (count, speak)).edge(count, END).edge(speak, END).compile().unwrap();
    let bot = bot.as_node("bot").mapped(|_: &Story| begin("in"), |_| say("never")).per_thread();
    let graph = story().edge(START, &bot).edge(&bot, END).edge(helper, END).compile().unwrap();
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |place| {
            let world = world();
            for _ in 0..3 {
                let run = place.thread(&graph).run(begin("x")).durability(durability);
                run.context(Arc::clone(&world)).await.unwrap();
            }
            assert_eq!(world.ran(), "n1 helper n3 helper n5 helper", "{durability:?}");
            let within = place.thread(&graph).within(&bot).state().await.unwrap().unwrap();
            assert_eq!(told(&within.state.unwrap()), "in counted in counted in counted");
        })
        .await;
    }
}

#[tokio::test]
async fn from_where_it_was_said_a_call_is_replayed_without_running() {
    let bot = bot();
    let graph = story().edge(START, &bot).edge(&bot, after).edge(after, END).edge(helper, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |place| {
        let world = world();
        let thread = place.thread(&graph);
        thread.run(begin("x").value(1_u32)).context(Arc::clone(&world)).await.unwrap();
        world.ran();
        let said = thread.within(&bot).state().await.unwrap().unwrap();
        assert!(said.is_finished());
        let ended = thread.within(&bot).at(said.id).run_again().context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x first too hard helper");
        assert_eq!(world.ran(), "helper");
    })
    .await;
}

fn world() -> Arc<World> {
    Arc::new(World::default())
}

#[derive(GraphState, Clone, Debug)]
struct Search {
    found: u32,
}

#[tokio::test]
async fn a_subgraph_with_another_state_speaks_of_the_outer_one() {
    async fn speak(_: &Search) -> ParentCommand<Story, Hand> {
        ParentCommand::update(say("not found")).goto(Hand::Over)
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
    async fn speak(_: &Search) -> ParentCommand<Story, Hand> {
        ParentCommand::to(Hand::Over)
    }
    let search = StateGraph::<Search>::new().edge(START, speak).edge(speak, END).compile().unwrap();
    let inside = search.as_node("search");
    // The graph around it is on another state.
    let error = StateGraph::<Search>::new().edge(START, &inside).edge(&inside, END).compile().unwrap_err();
    let ErrorKind::Wiring(problems) = error.kind() else { panic!("{error}") };
    assert!(matches!(problems.as_slice(), [WiringProblem::ParentStateMismatch { .. }]), "{error}");
    // It has no such node.
    let mapped = inside.mapped(|_: &Story| Search::input(), |_| say("found"));
    let error = StateGraph::<Story>::new().edge(START, &mapped).edge(&mapped, END).compile().unwrap_err();
    let ErrorKind::Wiring(problems) = error.kind() else { panic!("{error}") };
    assert!(matches!(problems.as_slice(), [WiringProblem::UnknownDestination { .. }]), "{error}");
    // There is none.
    let error = search.run(Search::input()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoParentGraph { .. }), "{error}");
}
