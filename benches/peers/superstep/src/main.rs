//! The workloads with superstep.

mod fields;

use std::path::PathBuf;

use harness::{Bench, CHAIN, LOOP, ROUNDS, STEPS, WIDTH, Workload, content, sum};
use serde::{Deserialize, Serialize};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::thread::Thread;
use superstep::{Context, Durability, END, Graph, GraphState, Node, Route, START, StateGraph, named};
use superstep_sqlite::SqliteCheckpointer;

fn main() {
    let bench = Bench::from_args();
    match bench.workload {
        Workload::Chain => count(&bench, chain(), CHAIN),
        Workload::Loop => count(&bench, looped(), LOOP),
        Workload::FanOut | Workload::FanOutThreads => fan_out(&bench, 1),
        Workload::FanOutLoop => fan_out(&bench, ROUNDS),
        Workload::Fields60 => fields::with_60(&bench),
        Workload::Fields100 => fields::with_100(&bench),
        Workload::Messages => messages(&bench),
        Workload::MessagesMemory => stored(&bench, Durability::default(), |_| MemoryCheckpointer::default()),
        Workload::MessagesSqlite => stored(&bench, Durability::default(), open),
        Workload::MessagesSqliteSync => stored(&bench, Durability::Sync, open),
        Workload::MessagesSqliteDeltas => bench.same_as("messages-sqlite"),
    }
}

#[derive(GraphState, Clone)]
struct Count {
    total: u64,
}

struct Add;

impl Node for Add {
    type Reads = Count;
    type Output = CountUpdate;

    async fn run(&self, count: &Count, _: &Context) -> CountUpdate {
        Count::update().total(count.total + 1)
    }
}

fn chain() -> Graph<Count> {
    let nodes: Vec<_> = (0..CHAIN).map(|number| named(format!("add-{number}"), Add)).collect();
    let mut graph = StateGraph::<Count>::new();
    for pair in nodes.windows(2) {
        graph = graph.edge(&pair[0], &pair[1]);
    }
    let (first, last) = (&nodes[0], &nodes[nodes.len() - 1]);
    graph.edge(START, first).edge(last, END).compile().expect("a chain")
}

#[derive(Route)]
enum Next {
    #[to(tick)]
    Again,
    #[to(END)]
    Enough,
}

async fn tick(count: &Count) -> (CountUpdate, Next) {
    let next = if count.total + 1 < LOOP { Next::Again } else { Next::Enough };
    (Count::update().total(count.total + 1), next)
}

fn looped() -> Graph<Count> {
    StateGraph::<Count>::new().edge(START, tick).compile().expect("a loop")
}

fn count(bench: &Bench, graph: Graph<Count>, expected: u64) {
    bench.time(
        move |_| std::future::ready(graph.clone()),
        |graph| async move { graph.run(Count::input()).recursion_limit(LOOP + 1).await },
        move |_, outcome| async move { assert_eq!(outcome.expect("a run").into_state().total, expected) },
    );
}

#[derive(GraphState, Clone)]
struct Sums {
    #[state(input)]
    rounds: u64,
    round: u64,
    #[state(reducer = add)]
    total: u64,
}

#[derive(Route)]
enum Work {
    #[to(work)]
    On(u64),
}

#[derive(Route)]
enum Round {
    #[to(split)]
    Again,
    #[to(END)]
    Enough,
}

async fn split(_: &Sums) -> Vec<Work> {
    (0..WIDTH).map(Work::On).collect()
}

async fn work(item: &u64) -> SumsUpdate {
    Sums::update().total(*item)
}

async fn collect(sums: &Sums) -> (SumsUpdate, Round) {
    let next = if sums.round + 1 < sums.rounds { Round::Again } else { Round::Enough };
    (Sums::update().round(sums.round + 1), next)
}

fn fan_out(bench: &Bench, rounds: u64) {
    let graph =
        StateGraph::<Sums>::new().edge(START, split).edge(work, collect).compile().expect("a fan-out");
    bench.time(
        move |_| std::future::ready(graph.clone()),
        move |graph| async move { graph.run(Sums::input(rounds)).recursion_limit(4 * ROUNDS).await },
        move |_, outcome| async move {
            let sums = outcome.expect("a run").into_state();
            assert_eq!((sums.round, sums.total), (rounds, rounds * sum()));
        },
    );
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(GraphState, Clone)]
struct Chat {
    #[state(reducer = append)]
    messages: Vec<Message>,
}

#[derive(Route)]
enum Talk {
    #[to(answer)]
    On,
    #[to(END)]
    Done,
}

async fn answer(chat: &Chat) -> (ChatUpdate, Talk) {
    let number = chat.messages.len() as u64;
    let message = Message { role: "assistant".to_owned(), content: content(number) };
    (Chat::update().messages([message]), if number + 1 < STEPS { Talk::On } else { Talk::Done })
}

fn chat() -> Graph<Chat> {
    StateGraph::<Chat>::new().edge(START, answer).compile().expect("a loop")
}

fn check(chat: &Chat) {
    assert_eq!(chat.messages.len() as u64, STEPS);
    assert_eq!(chat.messages.last().map(|message| &message.content), Some(&content(STEPS - 1)));
}

fn messages(bench: &Bench) {
    let graph = chat();
    bench.time(
        move |_| std::future::ready(graph.clone()),
        |graph| async move { graph.run(Chat::input()).recursion_limit(STEPS + 1).await },
        |_, outcome| async move { check(&outcome.expect("a run").into_state()) },
    );
}

fn open(folder: PathBuf) -> SqliteCheckpointer {
    SqliteCheckpointer::open(folder.join("threads.db")).expect("a file")
}

fn stored<C: superstep::checkpoint::Checkpointer>(
    bench: &Bench,
    durability: Durability,
    open: impl Fn(PathBuf) -> C + Send + 'static,
) {
    let graph = chat();
    bench.time(
        move |folder| std::future::ready(graph.clone().with_checkpointer(open(folder)).thread("1")),
        move |thread| async move {
            thread.run(Chat::input()).recursion_limit(STEPS + 1).durability(durability).await
        },
        |thread: Thread<Chat>, outcome| async move {
            check(&outcome.expect("a run").into_state());
            // The same state, read from the store.
            let snapshot = thread.state().await.expect("a store").expect("a checkpoint");
            check(snapshot.state.as_ref().expect("a state"));
        },
    );
}
