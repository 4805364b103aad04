//! The workloads with adk-graph.

use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;

use adk_graph::checkpoint::{Checkpointer, MemoryCheckpointer, SqliteCheckpointer};
use adk_graph::delta::{DeltaCheckpointer, DeltaConfig};
use adk_graph::edge::{END, START};
use adk_graph::graph::{CompiledGraph, StateGraph};
use adk_graph::node::{ExecutionConfig, NodeContext, NodeOutput};
use adk_graph::state::{Channel, Reducer, State, StateSchema};
use harness::{Bench, CHAIN, LOOP, ROUNDS, STEPS, TEXT, WIDTH, Workload, content, sum};
use serde_json::{Value, json};

fn main() {
    let bench = Bench::from_args();
    match bench.workload {
        Workload::Chain => count(&bench, chain(), CHAIN),
        Workload::Loop => count(&bench, looped(LOOP, &["total"]), LOOP),
        Workload::FanOut | Workload::FanOutThreads => fan_out(&bench, 1),
        Workload::FanOutLoop => fan_out(&bench, ROUNDS),
        Workload::Fields60 => large(&bench, 60),
        Workload::Fields100 => large(&bench, 100),
        Workload::Messages => messages(&bench),
        Workload::MessagesMemory => {
            stored(&bench, |_| ready(Arc::new(MemoryCheckpointer::new()) as Arc<dyn Checkpointer>));
        }
        Workload::MessagesSqlite => stored(&bench, open),
        Workload::MessagesSqliteSync => bench.same_as("messages-sqlite"),
        Workload::MessagesSqliteDeltas => stored(&bench, open_deltas),
    }
}

/// The options of a run of at most this many supersteps.
fn config(supersteps: u64) -> ExecutionConfig {
    ExecutionConfig::new("1").with_recursion_limit(supersteps as usize + 1)
}

fn number(state: &State, key: &str) -> u64 {
    state.get(key).and_then(Value::as_u64).unwrap_or(0)
}

async fn add(cx: NodeContext) -> adk_graph::error::Result<NodeOutput> {
    Ok(NodeOutput::new().with_update("total", number(&cx.state, "total") + 1))
}

fn chain() -> CompiledGraph {
    let mut graph = StateGraph::with_channels(&["total"]).add_edge(START, "add-0");
    for number in 0..CHAIN {
        graph = graph.add_node_fn(&format!("add-{number}"), add);
    }
    for number in 1..CHAIN {
        graph = graph.add_edge(&format!("add-{}", number - 1), &format!("add-{number}"));
    }
    graph.add_edge(&format!("add-{}", CHAIN - 1), END).compile().expect("a chain")
}

fn again_or_end(again: bool) -> String {
    (if again { "again" } else { "enough" }).to_owned()
}

/// One node that writes `total` until it is `end`.
fn looped(end: u64, channels: &[&str]) -> CompiledGraph {
    StateGraph::with_channels(channels)
        .add_node_fn("tick", add)
        .add_edge(START, "tick")
        .add_conditional_edges(
            "tick",
            move |state| again_or_end(number(state, "total") < end),
            [("again", "tick"), ("enough", END)],
        )
        .compile()
        .expect("a loop")
}

fn count(bench: &Bench, graph: CompiledGraph, expected: u64) {
    let graph = Arc::new(graph);
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move { graph.invoke(State::new(), config(LOOP)).await },
        move |_, state| async move { assert_eq!(number(&state.expect("a run"), "total"), expected) },
    );
}

/// The library has no tasks whose number is chosen at run time, so each task is a node.
///
/// A task also writes a channel of its own name. Otherwise the join puts a copy of the whole state per task into the state,
/// which grows by a factor of 100 in each round.
fn fan_out(bench: &Bench, rounds: u64) {
    let mut schema = StateSchema::simple(&["round"]);
    let total = Channel::new("total").with_reducer(Reducer::Sum).with_default(json!(0));
    schema.channels.insert("total".to_owned(), total);
    let mut graph = StateGraph::new(schema)
        .add_node_fn("split", |_| async { Ok(NodeOutput::new()) })
        .add_node_fn("collect", |cx: NodeContext| async move {
            Ok(NodeOutput::new().with_update("round", number(&cx.state, "round") + 1))
        })
        .add_edge(START, "split");
    for item in 0..WIDTH {
        let name = format!("work-{item:02}");
        graph = graph
            .add_node_fn(&name, {
                let name = name.clone();
                move |_| {
                    let output = NodeOutput::new().with_update("total", item).with_update(&name, item);
                    async move { Ok(output) }
                }
            })
            .add_edge("split", &name)
            .add_edge(&name, "collect");
    }
    let graph = graph.add_conditional_edges(
        "collect",
        move |state| again_or_end(number(state, "round") < rounds),
        [("again", "split"), ("enough", END)],
    );
    let graph = Arc::new(graph.compile().expect("a fan-out"));
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move { graph.invoke(State::new(), config(4 * ROUNDS)).await },
        move |_, state| async move {
            let state = state.expect("a run");
            assert_eq!(number(&state, "round"), rounds);
            assert_eq!(state["total"].as_f64(), Some((rounds * sum()) as f64));
        },
    );
}

fn large(bench: &Bench, fields: usize) {
    let texts: Vec<String> = (1..fields).map(|field| format!("field-{field}")).collect();
    let channels: Vec<&str> = texts.iter().map(String::as_str).chain(["total"]).collect();
    let graph = Arc::new(looped(STEPS, &channels));
    let input: State = texts.into_iter().map(|name| (name, json!(TEXT))).collect();
    bench.time(
        move |_| ready((Arc::clone(&graph), input.clone())),
        |(graph, input)| async move { graph.invoke(input, config(STEPS)).await },
        move |_, state| async move {
            let state = state.expect("a run");
            assert_eq!(number(&state, "total"), STEPS);
            assert_eq!(state.len(), fields);
            assert_eq!(state.values().filter(|value| *value == TEXT).count(), fields - 1);
        },
    );
}

fn length(state: &State) -> u64 {
    state.get("messages").and_then(Value::as_array).map_or(0, Vec::len) as u64
}

fn chat() -> CompiledGraph {
    StateGraph::new(StateSchema::builder().list_channel("messages").build())
        .add_node_fn("answer", |cx: NodeContext| async move {
            let message = json!({ "role": "assistant", "content": content(length(&cx.state)) });
            Ok(NodeOutput::new().with_update("messages", message))
        })
        .add_edge(START, "answer")
        .add_conditional_edges(
            "answer",
            |state| again_or_end(length(state) < STEPS),
            [("again", "answer"), ("enough", END)],
        )
        .compile()
        .expect("a loop")
}

fn check(state: &State) {
    assert_eq!(length(state), STEPS);
    assert_eq!(state["messages"][STEPS as usize - 1]["content"], content(STEPS - 1));
}

fn messages(bench: &Bench) {
    let graph = Arc::new(chat());
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move { graph.invoke(State::new(), config(STEPS)).await },
        |_, state| async move { check(&state.expect("a run")) },
    );
}

async fn connect(folder: PathBuf) -> SqliteCheckpointer {
    let url = format!("sqlite:{}?mode=rwc", folder.join("threads.db").display());
    SqliteCheckpointer::new(&url).await.expect("a database")
}

async fn open(folder: PathBuf) -> Arc<dyn Checkpointer> {
    Arc::new(connect(folder).await)
}

async fn open_deltas(folder: PathBuf) -> Arc<dyn Checkpointer> {
    Arc::new(DeltaCheckpointer::new(connect(folder).await, DeltaConfig::default()))
}

fn stored<F>(bench: &Bench, open: impl Fn(PathBuf) -> F + Send + 'static)
where
    F: Future<Output = Arc<dyn Checkpointer>> + Send + 'static,
{
    bench.time(
        move |folder| {
            let store = open(folder);
            async move { Arc::new(chat().with_checkpointer_arc(store.await)) }
        },
        |graph| async move { graph.invoke(State::new(), config(STEPS)).await },
        |graph: Arc<CompiledGraph>, state| async move {
            check(&state.expect("a run"));
            // The same state, read from the store.
            let stored = graph.checkpointer().expect("a store").load("1").await;
            check(&stored.expect("a store").expect("a checkpoint").state);
        },
    );
}
