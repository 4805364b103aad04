//! The workloads with langgraph, the Rust library of this name.

mod fields;

use std::collections::HashMap;
use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;

use harness::{Bench, CHAIN, LOOP, ROUNDS, STEPS, WIDTH, Workload, content, sum};
use langgraph::channels::binop::append_reducer;
use langgraph::checkpoint::config::RunnableConfigExt as _;
use langgraph::checkpoint::{BaseCheckpointSaver, InMemorySaver};
use langgraph::langgraph_state;
use langgraph::prelude::{
    CompiledStateGraph, END, RoutingFn, Runnable as _, RunnableConfig, RunnableError, START, StateGraph,
};
use langgraph::sqlite::SqliteSaver;
use serde_json::{Value, json};

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
            stored(&bench, |_| ready(Arc::new(InMemorySaver::new()) as Arc<dyn BaseCheckpointSaver>));
        }
        // Its SQLite store panics on a runtime with one thread.
        Workload::MessagesSqlite => stored(&bench.on_two_threads(), open),
        Workload::MessagesSqliteSync => bench.same_as("messages-sqlite"),
        Workload::MessagesSqliteDeltas => bench.cannot("stores whole states"),
    }
}

/// The options of a run of at most this many supersteps.
fn config(supersteps: u64) -> RunnableConfig {
    RunnableConfig::new().with_recursion_limit(supersteps + 1)
}

fn number(state: &Value, key: &str) -> u64 {
    state[key].as_u64().unwrap_or(0)
}

type Output = Result<Value, RunnableError>;

/// The map of a route that leads to `node` as long as it says so.
pub(crate) fn again_or_end(node: &str) -> Option<HashMap<String, String>> {
    Some(HashMap::from([("again".to_owned(), node.to_owned()), ("enough".to_owned(), END.to_owned())]))
}

pub(crate) fn again_if(again: bool) -> String {
    (if again { "again" } else { "enough" }).to_owned()
}

#[langgraph_state]
struct Count {
    total: u64,
}

async fn add(state: Value, _: RunnableConfig) -> Output {
    Ok(json!({ "total": number(&state, "total") + 1 }))
}

fn chain() -> CompiledStateGraph {
    let mut graph = StateGraph::new(Count::create_channels());
    for number in 0..CHAIN {
        graph.add_node(format!("add-{number}"), add).expect("a node");
    }
    for number in 1..CHAIN {
        graph.add_edge(format!("add-{}", number - 1), format!("add-{number}")).expect("an edge");
    }
    graph.add_edge(START, "add-0").expect("an edge");
    graph.add_edge(format!("add-{}", CHAIN - 1), END).expect("an edge");
    graph.compile().expect("a chain")
}

fn looped() -> CompiledStateGraph {
    let mut graph = StateGraph::new(Count::create_channels());
    graph.add_node("tick", add).expect("a node");
    graph.add_edge(START, "tick").expect("an edge");
    // A route reads the update of its node, not the state.
    let route = RoutingFn(|update: &Value| again_if(number(update, "total") < LOOP));
    graph.add_conditional_edges("tick", route, again_or_end("tick")).expect("a route");
    graph.compile().expect("a loop")
}

fn count(bench: &Bench, graph: CompiledStateGraph, expected: u64) {
    let graph = Arc::new(graph);
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move { graph.ainvoke(&json!({ "total": 0 }), &config(LOOP)).await },
        move |_, state| async move { assert_eq!(number(&state.expect("a run"), "total"), expected) },
    );
}

fn add_up(total: &Value, item: &Value) -> Value {
    json!(total.as_u64().unwrap_or(0) + item.as_u64().unwrap_or(0))
}

#[langgraph_state]
struct Sums {
    round: u64,
    #[channel(reducer = "add_up")]
    total: u64,
}

/// The engine has no tasks whose number is chosen at run time, so each task is a node.
fn fan_out(bench: &Bench, rounds: u64) {
    let mut graph = StateGraph::new(Sums::create_channels());
    graph.add_node("split", |_, _| async { Ok(json!({})) }).expect("a node");
    let collect = |state: Value, _| async move { Ok(json!({ "round": number(&state, "round") + 1 })) };
    graph.add_node("collect", collect).expect("a node");
    graph.add_edge(START, "split").expect("an edge");
    for item in 0..WIDTH {
        let name = format!("work-{item:02}");
        graph.add_node(&name, move |_, _| async move { Ok(json!({ "total": item })) }).expect("a node");
        graph.add_edge("split", &name).expect("an edge");
        graph.add_edge(&name, "collect").expect("an edge");
    }
    let route = RoutingFn(move |update: &Value| again_if(number(update, "round") < rounds));
    graph.add_conditional_edges("collect", route, again_or_end("split")).expect("a route");
    let graph = Arc::new(graph.compile().expect("a fan-out"));
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move { graph.ainvoke(&json!({ "round": 0, "total": 0 }), &config(4 * ROUNDS)).await },
        move |_, state| async move {
            let state = state.expect("a run");
            assert_eq!((number(&state, "round"), number(&state, "total")), (rounds, rounds * sum()));
        },
    );
}

#[langgraph_state]
struct Chat {
    #[channel(reducer = "append_reducer")]
    messages: Vec<Value>,
    /// A route reads only the update of its node, so the node says whether the run continues.
    done: bool,
}

fn length(state: &Value) -> u64 {
    state["messages"].as_array().map_or(0, Vec::len) as u64
}

fn chat() -> StateGraph {
    let mut graph = StateGraph::new(Chat::create_channels());
    let answer = |state: Value, _| async move {
        let number = length(&state);
        let message = json!({ "role": "assistant", "content": content(number) });
        Ok(json!({ "messages": [message], "done": number + 1 == STEPS }))
    };
    graph.add_node("answer", answer).expect("a node");
    graph.add_edge(START, "answer").expect("an edge");
    let route = RoutingFn(|update: &Value| again_if(update["done"] == false));
    graph.add_conditional_edges("answer", route, again_or_end("answer")).expect("a route");
    graph
}

fn check(state: &Value) {
    assert_eq!(length(state), STEPS);
    assert_eq!(state["messages"][STEPS as usize - 1]["content"], content(STEPS - 1));
}

fn messages(bench: &Bench) {
    let graph = Arc::new(chat().compile().expect("a loop"));
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move { graph.ainvoke(&json!({ "messages": [] }), &config(STEPS)).await },
        |_, state| async move { check(&state.expect("a run")) },
    );
}

async fn open(folder: PathBuf) -> Arc<dyn BaseCheckpointSaver> {
    let url = format!("sqlite:{}", folder.join("threads.db").display());
    let store = SqliteSaver::from_conn_string(&url).await.expect("a database");
    store.setup().await.expect("tables");
    Arc::new(store)
}

fn on_thread(supersteps: u64) -> RunnableConfig {
    let mut config = config(supersteps);
    config.insert("configurable".to_owned(), json!({ "thread_id": "1", "checkpoint_ns": "" }));
    config
}

fn stored<F>(bench: &Bench, open: impl Fn(PathBuf) -> F + Send + 'static)
where
    F: Future<Output = Arc<dyn BaseCheckpointSaver>> + Send + 'static,
{
    bench.time(
        move |folder| {
            let store = open(folder);
            async move {
                let graph = chat().compile_builder().checkpointer(store.await).build();
                Arc::new(graph.expect("a loop"))
            }
        },
        |graph| async move { graph.ainvoke(&json!({ "messages": [] }), &on_thread(STEPS)).await },
        |graph: Arc<CompiledStateGraph>, state| async move {
            check(&state.expect("a run"));
            // The same state, read from the store.
            check(&graph.get_state(&on_thread(STEPS)).expect("a checkpoint").values);
        },
    );
}
