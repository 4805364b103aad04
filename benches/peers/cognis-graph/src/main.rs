//! The workloads with cognis-graph.

mod fields;

use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;

use cognis_core::{Result, Runnable, RunnableConfig};
use cognis_graph::{
    Checkpointer, CompiledGraph, Goto, Graph, GraphState, InMemoryCheckpointer, NodeOut, SqliteCheckpointer,
    node_fn,
};
use harness::{Bench, CHAIN, LOOP, ROUNDS, STEPS, WIDTH, Workload, content, sum};
use serde::{Deserialize, Serialize};

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
        Workload::MessagesMemory => {
            stored(&bench, |_| ready(Arc::new(InMemoryCheckpointer::new()) as Arc<dyn Checkpointer<Chat>>));
        }
        Workload::MessagesSqlite => stored(&bench, open),
        Workload::MessagesSqliteSync => bench.same_as("messages-sqlite"),
        Workload::MessagesSqliteDeltas => bench.cannot("stores whole states"),
    }
}

/// The options of a run of at most this many supersteps.
pub(crate) fn config(supersteps: u64) -> RunnableConfig {
    RunnableConfig::default().with_recursion_limit(supersteps as u32 + 1)
}

#[derive(GraphState, Clone, Default)]
struct Count {
    total: u64,
}

fn step(total: u64, goto: Goto) -> Result<NodeOut<Count>> {
    Ok(NodeOut { update: CountUpdate { total: Some(total) }, goto })
}

fn chain() -> CompiledGraph<Count> {
    let mut graph = Graph::<Count>::new().start_at("add-0");
    for number in 0..CHAIN {
        let name = format!("add-{number}");
        let next = (number + 1 < CHAIN).then(|| format!("add-{}", number + 1));
        let node = node_fn(name.clone(), move |count: &Count, _| {
            let total = count.total + 1;
            let goto = next.clone().map_or_else(Goto::end, Goto::Node);
            async move { step(total, goto) }
        });
        graph = graph.node(name, node);
    }
    graph.compile().expect("a chain")
}

fn looped() -> CompiledGraph<Count> {
    let tick = node_fn("tick", |count: &Count, _| {
        let total = count.total + 1;
        async move { step(total, if total < LOOP { Goto::node("tick") } else { Goto::end() }) }
    });
    Graph::<Count>::new().node("tick", tick).start_at("tick").compile().expect("a loop")
}

fn count(bench: &Bench, graph: CompiledGraph<Count>, expected: u64) {
    let graph = Arc::new(graph);
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move { graph.invoke(Count::default(), config(LOOP)).await },
        move |_, count| async move { assert_eq!(count.expect("a run").total, expected) },
    );
}

#[derive(GraphState, Clone, Default)]
struct Sums {
    rounds: u64,
    round: u64,
    #[reducer(add)]
    total: u64,
}

fn fan_out(bench: &Bench, rounds: u64) {
    let split = node_fn("split", |_: &Sums, _| async {
        let targets = (0..WIDTH).map(|item| ("work".to_owned(), item.into()));
        Ok(NodeOut::goto_only(Goto::Send(targets.collect())))
    });
    // Every node names its successor, and each mention runs the successor once. So the last task alone leads on.
    let work = node_fn("work", |_: &Sums, cx| {
        let item = cx.payload().and_then(|item| item.as_u64()).expect("an item");
        async move {
            let update = SumsUpdate { total: item, ..SumsUpdate::default() };
            let goto = if item + 1 == WIDTH { Goto::node("collect") } else { Goto::Halt };
            Ok(NodeOut { update, goto })
        }
    });
    let collect = node_fn("collect", |sums: &Sums, _| {
        let (round, rounds) = (sums.round + 1, sums.rounds);
        async move {
            let update = SumsUpdate { round: Some(round), ..SumsUpdate::default() };
            let goto = if round < rounds { Goto::node("split") } else { Goto::end() };
            Ok(NodeOut { update, goto })
        }
    });
    let graph = Graph::<Sums>::new().node("split", split).node("work", work).node("collect", collect);
    let graph = Arc::new(graph.start_at("split").compile().expect("a fan-out"));
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        move |graph| async move {
            graph.invoke(Sums { rounds, ..Sums::default() }, config(4 * ROUNDS)).await
        },
        move |_, sums| async move {
            let sums = sums.expect("a run");
            assert_eq!((sums.round, sums.total), (rounds, rounds * sum()));
        },
    );
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(GraphState, Clone, Default, Serialize, Deserialize)]
struct Chat {
    #[reducer(append)]
    messages: Vec<Message>,
}

fn chat() -> CompiledGraph<Chat> {
    let answer = node_fn("answer", |chat: &Chat, _| {
        let number = chat.messages.len() as u64;
        async move {
            let message = Message { role: "assistant".to_owned(), content: content(number) };
            let goto = if number + 1 < STEPS { Goto::node("answer") } else { Goto::end() };
            Ok(NodeOut { update: ChatUpdate { messages: vec![message] }, goto })
        }
    });
    Graph::<Chat>::new().node("answer", answer).start_at("answer").compile().expect("a loop")
}

fn check(chat: &Chat) {
    assert_eq!(chat.messages.len() as u64, STEPS);
    assert_eq!(chat.messages.last().map(|message| &message.content), Some(&content(STEPS - 1)));
}

fn messages(bench: &Bench) {
    let graph = Arc::new(chat());
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move { graph.invoke(Chat::default(), config(STEPS)).await },
        |_, output| async move { check(&output.expect("a run")) },
    );
}

async fn open(folder: PathBuf) -> Arc<dyn Checkpointer<Chat>> {
    let url = format!("sqlite:{}?mode=rwc", folder.join("threads.db").display());
    Arc::new(SqliteCheckpointer::connect(&url).await.expect("a database"))
}

fn stored<F>(bench: &Bench, open: impl Fn(PathBuf) -> F + Send + 'static)
where
    F: Future<Output = Arc<dyn Checkpointer<Chat>>> + Send + 'static,
{
    bench.time(
        move |folder| {
            let store = open(folder);
            async move { (Arc::new(chat().with_checkpointer(store.await)), config(STEPS)) }
        },
        |(graph, config)| async move { graph.invoke(Chat::default(), config).await },
        |(graph, config): (Arc<CompiledGraph<Chat>>, RunnableConfig), output| async move {
            check(&output.expect("a run"));
            // The same state, read from the store.
            check(&graph.get_state(config.run_id).await.expect("a store").expect("a checkpoint"));
        },
    );
}
