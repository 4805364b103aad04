//! A workflow is a graph: it has threads, replays, sleeps and pictures, and can be a node of another graph.

use std::time::Duration;

use superstep::policy::Policy;
use superstep::thread::as_node;
use superstep::workflow::{Final, Flow, Workflow};
use superstep::{Context, END, ErrorKind, Graph, GraphState, Outcome, Result, START, StateGraph, named};

use super::stores::on_every_store;

async fn double(number: &u32) -> Result<u32> {
    Ok(number * 2)
}

#[tokio::test]
async fn run_on_a_thread_writes_three_checkpoints() {
    on_every_store(async |store| {
        let thread = store.thread(&Workflow::new(double).compile().unwrap());
        thread.run(2).run_id("one").await.unwrap();
        let again = thread.run(2).run_id("one").await.unwrap();
        assert_eq!(again.value().unwrap(), 4);
        let history = thread.history().await.unwrap();
        let steps: Vec<_> = history.iter().map(|at| (at.step, at.next.join(" "))).collect();
        assert_eq!(steps, [(1, String::new()), (0, "double".to_owned()), (-1, "START".to_owned())]);
        let replayed = thread.at(history[1].id).run_again().await.unwrap();
        assert_eq!(replayed.value().unwrap(), 4);
        assert!(matches!(thread.run(1).await.unwrap(), Outcome::Done(_)));
    })
    .await;
}

async fn nap(cx: &Context) -> Result<&'static str, std::io::Error> {
    cx.sleep(Duration::from_secs(3600)).await;
    Ok("awake")
}

async fn napping(cx: &Context) -> Result<String> {
    Ok(nap(cx).await?.to_owned())
}

#[tokio::test(start_paused = true)]
async fn long_sleep_suspends_the_workflow() {
    on_every_store(async |store| {
        let graph = Workflow::new(napping).compile().unwrap();
        let limit = Duration::from_secs(60);
        let thread = store.thread(&graph);
        let asleep = thread.run(()).suspend_sleeps_longer_than(limit).await.unwrap();
        let wakes_at = asleep.pause().unwrap().wakes_at().unwrap();
        let graph = graph.with_checkpointer(store.open());
        assert!(graph.due(wakes_at - limit).await.unwrap().is_empty());
        tokio::time::advance(Duration::from_secs(3700)).await;
        let due = graph.due(wakes_at).await.unwrap();
        assert_eq!(due.len(), 1);
        assert_eq!(due[0].thread.resume(()).await.unwrap().value().unwrap(), "awake");
    })
    .await;
}

#[tokio::test]
async fn alias_finds_a_renamed_workflow() {
    on_every_store(async |store| {
        let failing: Graph<Flow<u32, u32>> =
            Workflow::new(named("old", async |_: &u32| Result::<u32>::Err(superstep::NodeError::msg("no"))))
                .compile()
                .unwrap();
        store.thread(&failing).run(4).await.unwrap_err();
        let error = store.thread(&Workflow::new(double).compile().unwrap()).resume(()).await.unwrap_err();
        assert!(error.to_string().contains("`old`, which is not in the graph"), "{error}");
        let renamed = Workflow::new(double).alias("old").compile().unwrap();
        assert_eq!(store.thread(&renamed).resume(()).await.unwrap().value().unwrap(), 8);
    })
    .await;
}

#[derive(GraphState, Clone)]
struct Order {
    #[state(input)]
    price: u32,
    #[state(reducer = append)]
    totals: Vec<u32>,
}

async fn total(price: &u32, previous: Option<&u32>) -> Result<Final<String, u32>> {
    let sum = price + previous.copied().unwrap_or_default();
    Ok(Final { value: sum.to_string(), save: sum })
}

#[tokio::test]
async fn workflow_is_a_node_of_another_graph() {
    on_every_store(async |store| {
        let workflow = Workflow::new(total).compile().unwrap();
        let node = workflow
            .as_node("total")
            .mapped(
                |order: &Order| Flow::begin(order.price),
                |returned| {
                    Order::update().totals(returned.state.value().and_then(|total| total.parse().ok()))
                },
            )
            .per_thread();
        let graph = StateGraph::<Order>::new().edge(START, &node).edge(&node, END).compile().unwrap();
        store.thread(&graph).run(Order::input(3_u32)).await.unwrap();
        let ended = store.thread(&graph).run(Order::input(4_u32)).await.unwrap();
        assert_eq!(ended.state().totals, [3, 7]);
        let within = store.thread(&graph).within(&node).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!(within.previous(), Some(&7));
    })
    .await;
}

#[test]
fn workflow_has_a_picture_and_wiring_errors() {
    let graph = Workflow::new(double).compile().unwrap();
    assert!(graph.to_mermaid().contains("double"), "{}", graph.to_mermaid());
    let error = Workflow::new(double).policy(Policy::new().timeout(Duration::ZERO)).compile().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Wiring(_)), "{error}");
}

#[tokio::test]
async fn update_sets_the_previous_result() {
    on_every_store(async |store| {
        let graph = Workflow::new(total).compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(3).await.unwrap();
        thread.update(Flow::remember(100), as_node(END)).await.unwrap();
        assert_eq!(thread.run(1).await.unwrap().value().unwrap(), "101");
    })
    .await;
}
