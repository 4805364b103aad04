//! The workloads with juncture.

mod fields;

use std::fs::File;
use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;

use harness::{Bench, CHAIN, LOOP, ROUNDS, STEPS, WIDTH, Workload, content, sum};
use juncture::command::SendTarget;
use juncture::edge::{END, PathMap};
use juncture::node::{NodeFnCommand, NodeFnUpdate};
use juncture::stream::{EventEmitter, StreamMode};
use juncture::{Command, CompiledGraph, JunctureError, RunnableConfig, StateGraph};
use juncture_checkpoint::{CheckpointSaver, MemorySaver, SqliteSaver};
use juncture_derive::State;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

fn main() {
    let bench = Bench::from_args();
    match bench.workload {
        Workload::Chain => count(&bench, chain(), CHAIN),
        Workload::Loop => count(&bench, looped(), LOOP),
        Workload::FanOut | Workload::FanOutThreads => fan_out(&bench, 1),
        Workload::FanOutLoop => fan_out(&bench, ROUNDS),
        Workload::Fields60 => fields::with_60(&bench),
        Workload::Fields100 => bench.cannot("a state has at most 64 fields"),
        Workload::Messages => messages(&bench),
        Workload::MessagesMemory => {
            stored(&bench, |_| ready(Arc::new(MemorySaver::new()) as Arc<dyn CheckpointSaver>));
        }
        Workload::MessagesSqlite => stored(&bench, open),
        Workload::MessagesSqliteSync => bench.same_as("messages-sqlite"),
        Workload::MessagesSqliteDeltas => bench.cannot("stores whole states"),
    }
}

/// The options of a run of at most this many supersteps.
pub(crate) fn config(supersteps: u64) -> RunnableConfig {
    RunnableConfig { recursion_limit: supersteps as usize + 1, ..RunnableConfig::new() }
}

/// Leads to `node` as long as the function returns `again`.
pub(crate) fn again_or_end(node: &str) -> PathMap {
    PathMap::from(&[("again", node), ("enough", END)])
}

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Count {
    total: u64,
}

async fn add(total: u64) -> Result<CountUpdate, JunctureError> {
    Ok(CountUpdate { total: Some(total + 1) })
}

fn chain() -> CompiledGraph<Count> {
    let mut graph = StateGraph::<Count>::new();
    let names: Vec<_> = (0..CHAIN).map(|number| format!("add-{number}")).collect();
    for name in &names {
        graph.add_node_simple(name, NodeFnUpdate(|count: &Count| add(count.total))).expect("a node");
    }
    graph.add_sequence(&names).expect("a sequence");
    graph.set_finish_point(names.last().expect("a node"));
    graph.compile().expect("a chain")
}

fn next(count: &Count) -> &str {
    if count.total < LOOP { "again" } else { "enough" }
}

fn looped() -> CompiledGraph<Count> {
    let mut graph = StateGraph::<Count>::new();
    graph.add_node_simple("tick", NodeFnUpdate(|count: &Count| add(count.total))).expect("a node");
    graph.set_entry_point("tick");
    graph.add_conditional_edges("tick", Arc::new(next), again_or_end("tick"));
    graph.compile().expect("a loop")
}

fn count(bench: &Bench, graph: CompiledGraph<Count>, expected: u64) {
    let graph = Arc::new(graph);
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move { graph.invoke_async(Count::default(), &config(LOOP)).await },
        move |_, output| async move { assert_eq!(output.expect("a run").value.total, expected) },
    );
}

fn add_up(total: &mut u64, item: u64) {
    *total += item;
}

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Sums {
    rounds: u64,
    round: u64,
    item: u64,
    #[reducer(custom = add_up)]
    total: u64,
}

fn next_round(sums: &Sums) -> &str {
    if sums.round < sums.rounds { "again" } else { "enough" }
}

fn fan_out(bench: &Bench, rounds: u64) {
    let mut graph = StateGraph::<Sums>::new();
    let split = NodeFnCommand(|sums: &Sums| {
        let sums = sums.clone();
        async move {
            let targets = (0..WIDTH).map(|item| SendTarget {
                node: "work".to_owned(),
                state: serde_json::to_value(Sums { item, ..sums.clone() }).expect("JSON"),
                timeout: None,
            });
            Ok(Command::update_and_send(SumsUpdate::default(), targets.collect()))
        }
    });
    graph.add_node_simple("split", split).expect("a node");
    let work = NodeFnUpdate(|sums: &Sums| {
        let item = sums.item;
        async move { Ok(SumsUpdate { total: Some(item), ..SumsUpdate::default() }) }
    });
    graph.add_node_simple("work", work).expect("a node");
    let collect = NodeFnUpdate(|sums: &Sums| {
        let round = sums.round + 1;
        async move { Ok(SumsUpdate { round: Some(round), ..SumsUpdate::default() }) }
    });
    graph.add_node_simple("collect", collect).expect("a node");
    graph.set_entry_point("split");
    graph.add_edge("split", "work");
    graph.add_edge("work", "collect");
    graph.add_conditional_edges("collect", Arc::new(next_round), again_or_end("split"));
    let graph = Arc::new(graph.compile().expect("a fan-out"));
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        move |graph| async move {
            let sums = Sums { rounds, ..Sums::default() };
            graph.invoke_async(sums, &config(4 * ROUNDS)).await
        },
        move |_, output| async move {
            let sums = output.expect("a run").value;
            assert_eq!((sums.round, sums.total), (rounds, rounds * sum()));
        },
    );
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Chat {
    #[reducer(append)]
    messages: Vec<Message>,
}

fn go_on(chat: &Chat) -> &str {
    if (chat.messages.len() as u64) < STEPS { "again" } else { "enough" }
}

fn chat() -> StateGraph<Chat> {
    let mut graph = StateGraph::<Chat>::new();
    let answer = NodeFnUpdate(|chat: &Chat| {
        let number = chat.messages.len() as u64;
        async move {
            let message = Message { role: "assistant".to_owned(), content: content(number) };
            Ok(ChatUpdate { messages: Some(vec![message]) })
        }
    });
    graph.add_node_simple("answer", answer).expect("a node");
    graph.set_entry_point("answer");
    graph.add_conditional_edges("answer", Arc::new(go_on), again_or_end("answer"));
    graph
}

fn check(chat: &Chat) {
    assert_eq!(chat.messages.len() as u64, STEPS);
    assert_eq!(chat.messages.last().map(|message| &message.content), Some(&content(STEPS - 1)));
}

fn messages(bench: &Bench) {
    let graph = Arc::new(chat().compile().expect("a loop"));
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move { graph.invoke_async(Chat::default(), &config(STEPS)).await },
        |_, output| async move { check(&output.expect("a run").value) },
    );
}

async fn open(folder: PathBuf) -> Arc<dyn CheckpointSaver> {
    let file = folder.join("threads.db");
    // The saver does not create the file.
    File::create(&file).expect("a file");
    Arc::new(SqliteSaver::new(file).await.expect("a database"))
}

fn stored<F>(bench: &Bench, open: impl Fn(PathBuf) -> F + Send + 'static)
where
    F: Future<Output = Arc<dyn CheckpointSaver>> + Send + 'static,
{
    bench.time(
        move |folder| {
            let store = open(folder);
            async move {
                let graph = chat().compile_with_checkpointer(Some(store.await));
                Arc::new(graph.expect("a loop"))
            }
        },
        |graph| async move {
            // `invoke_async` stores no checkpoints.
            let (events, mut received) = mpsc::channel(32);
            let drained = tokio::spawn(async move { while received.recv().await.is_some() {} });
            let emitter = EventEmitter::new(events, StreamMode::Custom);
            // Without an id of a checkpoint, its stores refuse the writes of a task.
            let config = config(STEPS).with_thread_id("1").with_checkpoint_id("1");
            let chat = graph.execute_with_emitter(Chat::default(), &config, emitter).await;
            drained.await.expect("the events");
            chat
        },
        |graph: Arc<CompiledGraph<Chat>>, chat| async move {
            check(&chat.expect("a run"));
            // The same state, read from the store.
            let snapshot = graph.get_state(&RunnableConfig::new().with_thread_id("1")).await;
            check(&snapshot.expect("a store").expect("a checkpoint").values);
        },
    );
}
