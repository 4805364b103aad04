//! `ParentCommand`: an update and a route for the parent graph. The subgraph runs no further.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::subgraph::{ParentCommand, Subgraph};
use superstep::{
    ContextWith, Durability, END, ErrorKind, Graph, GraphState, NodeError, Route, START, StateGraph,
    WiringProblem,
};

use super::stores::on_every_store;
use super::story::{Probe, Story, begin, enter, log_of, recording_nodes, say, story};

recording_nodes! { first never after helper }

#[derive(Route)]
enum Hand {
    #[to("helper")]
    Over,
}

async fn speak(
    story: &Story,
    cx: &ContextWith<Probe>,
) -> Result<Option<ParentCommand<Story, Hand>>, NodeError> {
    enter(cx, "speak").await?;
    let hard = story.value == Some(1);
    Ok(hard.then(|| ParentCommand::update(say("too hard")).goto(Hand::Over)))
}

fn bot() -> Subgraph<Story, Probe> {
    let bot = story().edge(START, first).edge(first, speak).edge(speak, never).edge(never, END);
    bot.compile().unwrap().as_node("bot")
}

fn outer() -> Graph<Story, Probe> {
    let bot = bot();
    story().edge(START, &bot).edge(&bot, after).edge(after, END).edge(helper, END).compile().unwrap()
}

#[tokio::test]
async fn command_updates_and_routes_the_parent() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let run = store.thread(&outer()).run(begin("x").value(1_u32)).context(Arc::clone(&probe));
        assert_eq!(log_of(run.await.unwrap().state()), "x first too hard helper");
        assert_eq!(probe.ran(), "first speak helper");
    })
    .await;
    let probe = Arc::new(Probe::default());
    let ended = outer().run(begin("x")).context(probe).await.unwrap();
    assert_eq!(log_of(ended.state()), "x first never after");
}

#[tokio::test]
async fn command_applies_once_after_a_failure() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["helper"]);
        let run = store.thread(&outer()).run(begin("x").value(1_u32)).context(Arc::clone(&probe));
        assert!(run.await.is_err());
        probe.ran();
        probe.set_failing(&[]);
        let ended = store.thread(&outer()).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x first too hard helper");
        assert_eq!(probe.ran(), "helper");
    })
    .await;
}

#[derive(Serialize, Deserialize)]
struct Sure;

impl Question for Sure {
    type Answer = bool;
}

#[tokio::test]
async fn command_waits_for_an_asking_sibling() {
    let bot = story().edge(START, (speak, sure)).edge(speak, never).edge(never, END).edge(sure, END);
    let bot = bot.compile().unwrap().as_node("bot");
    let graph =
        story().edge(START, &bot).edge(&bot, after).edge(after, END).edge(helper, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph);
        let run = thread.run(begin("x").value(1_u32)).context(Arc::clone(&probe)).await.unwrap();
        assert!(run.pause().is_some());
        let answer = thread.interrupts().await.unwrap().only::<Sure>().unwrap().answer(true);
        let ended = thread.resume(answer).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x sure true too hard helper");
        // The command is stored: `speak` does not run again.
        assert_eq!(probe.ran(), "speak helper");
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

/// A route with an exit of the same name, but to another node.
#[derive(Route)]
enum Others {
    #[to("after")]
    Help,
}

async fn takes(_: &Story, part: &Part) -> super::story::StoryUpdate {
    say(format!("part {}", part.0))
}

async fn sure(_: &Story, cx: &ContextWith<Probe>) -> super::story::StoryUpdate {
    say(format!("sure {}", cx.interrupt(Sure).await))
}

#[tokio::test]
async fn several_commands_survive_an_interrupt() {
    async fn parts(
        _: &Story,
        cx: &ContextWith<Probe>,
    ) -> Result<ParentCommand<Story, Vec<Parts>>, NodeError> {
        enter(cx, "parts").await?;
        Ok(ParentCommand::to(vec![Parts::Takes(Part(1)), Parts::Help, Parts::Takes(Part(2))]))
    }
    async fn others(_: &Story, cx: &ContextWith<Probe>) -> Result<ParentCommand<Story, Others>, NodeError> {
        enter(cx, "others").await?;
        Ok(ParentCommand::update(say("others")).goto(Others::Help))
    }
    async fn stays(_: &Story, cx: &ContextWith<Probe>) -> Result<ParentCommand<Story>, NodeError> {
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
    let graph = |bot| -> Graph<Story, Probe> {
        let graph: superstep::StateGraph<Story, Probe> = bot;
        graph.edge(after, END).edge(helper, END).edge(takes, END).compile().unwrap()
    };
    let graphs = [
        (graph(story().edge(START, &here).edge(&here, END)), "x sure true others after helper part 1 part 2"),
        (graph(story().edge(START, &mapped).edge(&mapped, END)), "x others after helper part 1 part 2"),
    ];
    for (graph, expected) in &graphs {
        on_every_store(async |store| {
            let probe = probe();
            store.thread(graph).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
            let thread = store.thread(graph);
            let answer = thread.interrupts().await.unwrap().only::<Sure>().unwrap().answer(true);
            let ended = thread.resume(answer).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!((log_of(ended.state()).as_str(), ended.state().value), (*expected, Some(7)));
            assert_eq!(probe.ran(), "parts others stays after helper");
        })
        .await;
    }
}

#[tokio::test]
async fn command_beside_an_asking_task_applies_once() {
    let bot = bot();
    let graph = story().edge(START, (&bot, sure)).edge(&bot, after).edge(after, END).edge(helper, END);
    let graph = graph.edge(sure, END).compile().unwrap();
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let probe = probe();
            let run = store.thread(&graph).run(begin("x").value(1_u32)).durability(durability);
            run.context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(probe.ran(), "first speak");
            let thread = store.thread(&graph);
            let answer = thread.interrupts().await.unwrap().only::<Sure>().unwrap().answer(true);
            let ended = thread.resume(answer).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(log_of(ended.state()), "x first too hard sure true helper");
            assert_eq!(probe.ran(), "helper");
        })
        .await;
    }
}

#[tokio::test]
async fn writes_beside_a_command_persist_for_the_next_call() {
    async fn count(story: &Story, cx: &ContextWith<Probe>) -> super::story::StoryUpdate {
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
        on_every_store(async |store| {
            let probe = probe();
            for _ in 0..3 {
                let run = store.thread(&graph).run(begin("x")).durability(durability);
                run.context(Arc::clone(&probe)).await.unwrap();
            }
            assert_eq!(probe.ran(), "n1 helper n3 helper n5 helper", "{durability:?}");
            let within = store.thread(&graph).within(&bot).state().await.unwrap().unwrap();
            assert_eq!(log_of(&within.state.unwrap()), "in counted in counted in counted");
        })
        .await;
    }
}

#[tokio::test]
async fn replay_from_a_command_runs_nothing_inside() {
    let bot = bot();
    let graph = story().edge(START, &bot).edge(&bot, after).edge(after, END).edge(helper, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let thread = store.thread(&graph);
        thread.run(begin("x").value(1_u32)).context(Arc::clone(&probe)).await.unwrap();
        probe.ran();
        let ended_call = thread.within(&bot).state().await.unwrap().unwrap();
        assert!(ended_call.is_finished());
        let ended =
            thread.within(&bot).at(ended_call.id).run_again().context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x first too hard helper");
        assert_eq!(probe.ran(), "helper");
    })
    .await;
}

fn probe() -> Arc<Probe> {
    Arc::new(Probe::default())
}

#[derive(GraphState, Clone, Debug)]
struct Search {
    found: u32,
}

#[tokio::test]
async fn mapped_subgraph_commands_the_parent_state() {
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
    assert_eq!(log_of(ended.state()), "x not found help");
}

#[tokio::test]
async fn command_without_a_receiver_is_an_error() {
    async fn speak(_: &Search) -> ParentCommand<Story, Hand> {
        ParentCommand::to(Hand::Over)
    }
    let search = StateGraph::<Search>::new().edge(START, speak).edge(speak, END).compile().unwrap();
    let inside = search.as_node("search");
    // The parent graph has another state.
    let error = StateGraph::<Search>::new().edge(START, &inside).edge(&inside, END).compile().unwrap_err();
    let ErrorKind::Wiring(problems) = error.kind() else { panic!("{error}") };
    assert!(matches!(problems.as_slice(), [WiringProblem::ParentStateMismatch { .. }]), "{error}");
    // The parent graph has no such node.
    let mapped = inside.mapped(|_: &Story| Search::input(), |_| say("found"));
    let error = StateGraph::<Story>::new().edge(START, &mapped).edge(&mapped, END).compile().unwrap_err();
    let ErrorKind::Wiring(problems) = error.kind() else { panic!("{error}") };
    assert!(matches!(problems.as_slice(), [WiringProblem::UnknownDestination { .. }]), "{error}");
    // There is no parent graph.
    let error = search.run(Search::input()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoParentGraph { .. }), "{error}");
}
