//! The results of tasks in a history are those that the streams of the runs had, whatever kind of node made them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use superstep::cache::{CachePolicy, MemoryCache};
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::subgraph::CallResult;
use superstep::thread::{Thread, as_node, keep_plan};
use superstep::{
    Context, Durability, END, EventKind, Graph, GraphState, NodeError, NodeFailure, Overwrite, Route, START,
    StateGraph, StreamMode,
};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug)]
struct Work {
    #[state(input, reducer = append)]
    log: Vec<String>,
    #[state(reducer = max)]
    best: u32,
    #[state(reducer = add)]
    sum: u32,
    title: String,
    #[state(ephemeral)]
    hint: Option<u8>,
    #[state(ephemeral, reducer = append)]
    hints: Vec<u8>,
}

fn say(text: &str) -> WorkUpdate {
    Work::update().log([text.to_owned()])
}

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

#[derive(Serialize, Deserialize, Clone)]
struct Item(u32);

#[derive(Route)]
enum Fan {
    #[to(part)]
    Part(Item),
    #[to(plain)]
    Plain,
}

async fn spread(_: &Work) -> (WorkUpdate, Vec<Fan>) {
    let parts = (0..3).map(|n| Fan::Part(Item(n))).chain([Fan::Plain]);
    (say("spread").best(1_u32).hints([1]), parts.collect())
}

async fn part(item: &Item) -> WorkUpdate {
    say(&format!("part {}", item.0)).best(item.0).sum(1_u32).hints([u8::try_from(item.0).unwrap()])
}

async fn plain(_: &Work) -> WorkUpdate {
    Work::update().title("plain").hint(7)
}

async fn flaky(_: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    if cx.attempt() < 2 {
        return Err(NodeError::msg("again"));
    }
    Ok(say("flaky").sum(10_u32))
}

async fn broken(_: &Work) -> Result<WorkUpdate, NodeError> {
    Err(NodeError::msg("broken"))
}

async fn rescue(_: &Work, _: &NodeFailure) -> WorkUpdate {
    say("rescue").best(9_u32)
}

async fn cached(_: &Work) -> WorkUpdate {
    say("cached").sum(2_u32)
}

async fn ask(_: &Work, cx: &Context) -> WorkUpdate {
    let yes = cx.interrupt(Go).await;
    say(&format!("ask {yes}")).best(8_u32)
}

async fn inside(_: &Work) -> WorkUpdate {
    say("inside").sum(5_u32)
}

async fn replace(_: &Work) -> WorkUpdate {
    Work::update().log(Overwrite(vec!["replaced".to_owned()])).sum(1_u32)
}

async fn late(_: &Work) -> WorkUpdate {
    say("late").hint(1)
}

fn graph() -> Graph<Work> {
    let inner =
        || StateGraph::<Work>::new().edge(START, inside).edge(inside, ask).edge(ask, END).compile().unwrap();
    let shared = inner().as_node("shared");
    let input = |_: &Work| Work::input().log(["call".to_owned()]);
    let mapped = inner().as_node("mapped").mapped(input, |_: CallResult<Work>| say("mapped").best(3_u32));
    let graph = StateGraph::<Work>::new().edge(START, spread).edge(part, (flaky, broken, cached));
    let graph = graph.join((flaky, broken, cached), (&shared, &mapped, ask)).edge(plain, late);
    let graph = graph.join((&shared, &mapped, ask), replace).edge(replace, END).edge(late, END).defer(late);
    let graph = graph.policy(flaky, Policy::new().retry(Retry::attempts(3))).on_error(broken, rescue);
    let graph = graph.cache(cached, CachePolicy::by(|_: &Work| ()));
    graph.compile().unwrap()
}

type Results = BTreeMap<String, Value>;

/// Runs on the thread and collects the updates of tasks.
macro_rules! collect {
    ($run:expr, $into:expr) => {{
        let mut stream = $run.events([StreamMode::Updates]).stream();
        while let Some(event) = stream.next().await {
            let event = event.unwrap();
            if event.namespace.is_empty()
                && let EventKind::Update { update, .. } = &event.kind
            {
                let json = serde_json::to_value(update).unwrap();
                $into.insert(event.task_id().unwrap(), json);
            }
        }
    }};
}

/// Returns an update without these fields.
fn without(update: &Value, fields: &[String]) -> Value {
    let mut update = update.clone();
    if let Some(all) = update.as_object_mut() {
        let mut overwrites = all.remove("$overwrite").unwrap_or(Value::Null);
        for field in fields {
            all.remove(field);
            if let Some(overwrites) = overwrites.as_object_mut() {
                overwrites.remove(field);
            }
        }
        if overwrites.as_object().is_some_and(|overwrites| !overwrites.is_empty()) {
            all.insert("$overwrite".to_owned(), overwrites);
        }
    }
    update
}

async fn check(thread: &Thread<Work>, results: &Results, about: &str) {
    let mut compared = 0;
    for snapshot in thread.history().await.unwrap() {
        for task in snapshot.tasks.iter().filter(|task| &*task.node != "START") {
            let (Some(result), Some(streamed)) = (&task.result, results.get(&task.id)) else { continue };
            let whole: Vec<String> = task.whole_values.iter().map(ToString::to_string).collect();
            let result = serde_json::to_value(result).unwrap();
            let about = format!("{about}: {} of step {}", task.node, snapshot.step);
            assert_eq!(without(&result, &whole), without(streamed, &whole), "{about}");
            compared += 1;
        }
    }
    assert!(compared >= 5, "{about}: {compared}");
}

#[tokio::test]
async fn results_are_those_of_the_events() {
    on_every_store(async |store| {
        for durability in [Durability::Sync, Durability::Async] {
            let graph = graph().with_cache(MemoryCache::new());
            let thread = store.thread(&graph);
            thread.delete().await.unwrap();
            let mut results = Results::new();
            for round in 0..2 {
                let about = format!("{durability:?}, round {round}");
                let run = thread.run(Work::input().log(["in".to_owned()])).durability(durability);
                collect!(run, results);
                check(&thread, &results, &about).await;
                let open = thread.interrupts().await.unwrap();
                let answers: Vec<_> =
                    open.interrupts().iter().map(|open| open.answer_json(true.into())).collect();
                let [first, rest @ ..] = &answers[..] else { panic!("{about}") };
                let run =
                    thread.resume(first.clone()).update(say("patch").best(50_u32)).durability(durability);
                collect!(run.goto(as_node(late)), results);
                check(&thread, &results, &about).await;
                thread.update(say("kept").sum(100_u32), keep_plan()).await.unwrap();
                check(&thread, &results, &about).await;
                collect!(thread.resume(rest.to_vec()).durability(durability), results);
                assert!(thread.state().await.unwrap().unwrap().is_finished(), "{about}");
                check(&thread, &results, &about).await;
            }
        }
    })
    .await;
}
