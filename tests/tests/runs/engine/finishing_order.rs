//! The result of a run is independent of the finishing order of tasks and of the number of threads.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use superstep::{ContextWith, Graph, GraphState, Route, START, StateGraph};
use tokio::sync::watch;

use crate::engine::trace::{block_on, workers};

/// Makes tasks finish in a given order: task `i` is the `turns[i]`th.
struct Order {
    turns: Vec<usize>,
    turn: watch::Sender<usize>,
}

impl Order {
    fn new(turns: Vec<usize>) -> Self {
        Self { turns, turn: watch::Sender::new(0) }
    }

    async fn wait(&self, task: usize) {
        self.turn.subscribe().wait_for(|&turn| turn == self.turns[task]).await.unwrap();
        self.turn.send_modify(|turn| *turn += 1);
    }
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Sum {
    #[state(reducer = append)]
    list: Vec<usize>,
    #[state(reducer = append)]
    text: String,
    #[state(reducer = any_value)]
    last: usize,
}

fn wrote(task: usize) -> SumUpdate {
    Sum::update().list([task]).text(format!("{task} ")).last(task)
}

#[derive(Serialize, Deserialize)]
struct Job(usize);

#[derive(Route)]
enum Deal {
    #[to(work)]
    Work(Job),
    #[to(plain_0, plain_1)]
    Plain,
}

async fn deal(_: &Sum, cx: &ContextWith<Order>) -> Vec<Deal> {
    let packets = (2..cx.context().turns.len()).map(|task| Deal::Work(Job(task)));
    packets.chain([Deal::Plain]).collect()
}

async fn plain_0(_: &Sum, cx: &ContextWith<Order>) -> SumUpdate {
    cx.context().wait(0).await;
    wrote(0)
}

async fn plain_1(_: &Sum, cx: &ContextWith<Order>) -> SumUpdate {
    cx.context().wait(1).await;
    wrote(1)
}

async fn work(job: &Job, cx: &ContextWith<Order>) -> SumUpdate {
    cx.context().wait(job.0).await;
    wrote(job.0)
}

async fn close(sum: &Sum) -> SumUpdate {
    wrote(sum.list.len() * 100)
}

fn graph() -> Graph<Sum, Order> {
    StateGraph::<Sum>::with_context::<Order>()
        .node(plain_0)
        .node(plain_1)
        .edge(START, deal)
        .edge(plain_0, close)
        .edge(plain_1, close)
        .edge(work, close)
        .edge(close, superstep::END)
        .compile()
        .unwrap()
}

const TASKS: usize = 12;

fn expected() -> Sum {
    let tasks = (0..TASKS).chain([TASKS * 100]);
    let text = tasks.clone().map(|task| format!("{task} ")).collect();
    Sum { list: tasks.collect(), text, last: TASKS * 100 }
}

#[test]
fn updates_apply_in_graph_order() {
    let graph = graph();
    let runtimes = [1, 2, 4].map(workers);
    let turns = Just((0..TASKS).collect::<Vec<_>>()).prop_shuffle();
    proptest!(ProptestConfig::with_cases(64), |(turns in turns)| {
        let run = || graph.run(Sum::input()).context(Order::new(turns.clone()));
        prop_assert_eq!(block_on(run()).unwrap().into_state(), expected());
        for runtime in &runtimes {
            prop_assert_eq!(runtime.block_on(run()).unwrap().into_state(), expected());
        }
    });
}

#[test]
fn reversed_finishing_order_gives_the_same_state() {
    let graph = graph();
    let reversed = || Order::new((0..TASKS).rev().collect());
    let run = || graph.run(Sum::input()).context(reversed());
    assert_eq!(block_on(run()).unwrap().state(), &expected());
    assert_eq!(workers(2).block_on(run()).unwrap().state(), &expected());
}
