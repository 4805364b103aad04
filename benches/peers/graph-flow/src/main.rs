//! The workloads with graph-flow.
//!
//! Its tasks share one context of JSON values, which they read and write directly. There are no reducers.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use graph_flow::{
    Context, ExecutionStatus, FanOutTask, FlowRunner, Graph, GraphBuilder, InMemorySessionStorage,
    NextAction, Result, Session, SessionStorage, Task, TaskResult,
};
use harness::{Bench, CHAIN, LOOP, ROUNDS, STEPS, TEXT, WIDTH, Workload, content, sum};

fn main() {
    let bench = Bench::from_args();
    match bench.workload {
        Workload::Chain => count(&bench, chain(), CHAIN),
        Workload::Loop => count(&bench, looped(LOOP), LOOP),
        Workload::FanOut | Workload::FanOutThreads => fan_out(&bench, 1),
        Workload::FanOutLoop => fan_out(&bench, ROUNDS),
        Workload::Fields60 => large(&bench, 60),
        Workload::Fields100 => large(&bench, 100),
        Workload::Messages => messages(&bench),
        Workload::MessagesMemory => in_memory(&bench),
        Workload::MessagesSqlite | Workload::MessagesSqliteSync | Workload::MessagesSqliteDeltas => {
            bench.cannot("no SQLite store, only PostgreSQL");
        }
    }
}

/// A task that runs a function on the context.
struct Run<F> {
    id: String,
    run: F,
}

#[async_trait]
impl<F: Fn(&Context) -> Result<NextAction> + Send + Sync> Task for Run<F> {
    fn id(&self) -> &str {
        &self.id
    }

    async fn run(&self, context: Context) -> Result<TaskResult> {
        Ok(TaskResult::new(None, (self.run)(&context)?))
    }
}

fn task<F>(id: impl Into<String>, run: F) -> Arc<dyn Task>
where
    F: Fn(&Context) -> Result<NextAction> + Send + Sync + 'static,
{
    Arc::new(Run { id: id.into(), run })
}

fn number(context: &Context, key: &str) -> u64 {
    context.get(key).unwrap_or(0)
}

/// Adds 1 to `total`. Ends the run when it reaches `end`.
fn add(context: &Context, end: u64) -> Result<NextAction> {
    let total = number(context, "total") + 1;
    context.set("total", total)?;
    Ok(if total < end { NextAction::ContinueAndExecute } else { NextAction::End })
}

fn chain() -> Graph {
    let mut graph = GraphBuilder::new("chain");
    for number in 0..CHAIN {
        graph = graph.add_task(task(format!("add-{number}"), |context| add(context, CHAIN)));
    }
    for number in 1..CHAIN {
        graph = graph.add_edge(format!("add-{}", number - 1), format!("add-{number}"));
    }
    graph.build().expect("a chain")
}

fn looped(end: u64) -> Graph {
    let tick = task("tick", move |context| add(context, end));
    GraphBuilder::new("loop").add_task(tick).add_edge("tick", "tick").build().expect("a loop")
}

fn session(graph: &Graph) -> Session {
    Session::new_from_task("1".to_owned(), graph.start_task_id().expect("a task"))
}

/// Runs all tasks in one call, as for batches.
async fn execute(graph: &Graph, session: &mut Session) {
    let result = graph.execute_session(session).await.expect("a run");
    assert!(matches!(result.status, ExecutionStatus::Completed), "{result:?}");
}

fn count(bench: &Bench, graph: Graph, expected: u64) {
    let graph = Arc::new(graph);
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move {
            let mut session = session(&graph);
            execute(&graph, &mut session).await;
            session
        },
        move |_, session| async move { assert_eq!(number(&session.context, "total"), expected) },
    );
}

/// The tasks of a fan-out are fixed when the graph is built. They add to a shared number, since there are no reducers.
fn fan_out(bench: &Bench, rounds: u64) {
    let total = Arc::new(AtomicU64::new(0));
    let children = (0..WIDTH).map(|item| {
        let total = Arc::clone(&total);
        task(format!("work-{item:02}"), move |_| {
            total.fetch_add(item, Ordering::Relaxed);
            Ok(NextAction::End)
        })
    });
    let work = FanOutTask::new("work", children.collect());
    let work = work.with_next_action(NextAction::ContinueAndExecute);
    let collect = task("collect", move |context| {
        let round = number(context, "round") + 1;
        context.set("round", round)?;
        Ok(if round < rounds { NextAction::ContinueAndExecute } else { NextAction::End })
    });
    let graph = GraphBuilder::new("fan-out")
        .add_task(task("split", |_| Ok(NextAction::ContinueAndExecute)))
        .add_task(work)
        .add_task(collect)
        .add_edge("split", "work")
        .add_edge("work", "collect")
        .add_edge("collect", "split");
    let graph = Arc::new(graph.build().expect("a fan-out"));
    bench.time(
        move |_| {
            total.store(0, Ordering::Relaxed);
            ready((Arc::clone(&graph), Arc::clone(&total)))
        },
        |(graph, _)| async move {
            let mut session = session(&graph);
            execute(&graph, &mut session).await;
            session
        },
        move |(_, total), session| async move {
            assert_eq!(number(&session.context, "round"), rounds);
            assert_eq!(total.load(Ordering::Relaxed), rounds * sum());
        },
    );
}

fn large(bench: &Bench, fields: u64) {
    let graph = Arc::new(looped(STEPS));
    bench.time(
        move |_| {
            let session = session(&graph);
            for field in 1..fields {
                session.context.set(format!("field-{field}"), TEXT).expect("a value");
            }
            ready((Arc::clone(&graph), session))
        },
        |(graph, mut session)| async move {
            execute(&graph, &mut session).await;
            session
        },
        move |_, session| async move {
            assert_eq!(number(&session.context, "total"), STEPS);
            for field in 1..fields {
                assert_eq!(session.context.get::<String>(&format!("field-{field}")).as_deref(), Some(TEXT));
            }
        },
    );
}

/// Appends to the chat history of the context, which keeps at most 1,000 messages by default.
fn chat(next: NextAction) -> Graph {
    let answer = task("answer", move |context| {
        context.add_assistant_message(content(context.chat_history_len() as u64));
        Ok(if context.chat_history_len() as u64 == STEPS { NextAction::End } else { next.clone() })
    });
    GraphBuilder::new("chat").add_task(answer).add_edge("answer", "answer").build().expect("a loop")
}

fn check(context: &Context) {
    let messages = context.get_all_messages();
    assert_eq!(messages.len() as u64, STEPS);
    assert_eq!(messages.last().map(|message| &message.content), Some(&content(STEPS - 1)));
}

fn messages(bench: &Bench) {
    let graph = Arc::new(chat(NextAction::ContinueAndExecute));
    bench.time(
        move |_| ready(Arc::clone(&graph)),
        |graph| async move {
            let mut session = session(&graph);
            execute(&graph, &mut session).await;
            session
        },
        |_, session| async move { check(&session.context) },
    );
}

/// Each task is a call of the runner, which loads and saves the session.
fn in_memory(bench: &Bench) {
    let graph = Arc::new(chat(NextAction::Continue));
    bench.time(
        move |_| {
            let graph = Arc::clone(&graph);
            async move {
                let storage = Arc::new(InMemorySessionStorage::new());
                storage.save(session(&graph)).await.expect("a store");
                (FlowRunner::new(graph, storage.clone()), storage)
            }
        },
        |(runner, _)| async move {
            while !matches!(runner.run("1").await.expect("a run").status, ExecutionStatus::Completed) {}
        },
        |(_, storage): (FlowRunner, Arc<InMemorySessionStorage>), ()| async move {
            check(&storage.get("1").await.expect("a store").expect("a session").context);
        },
    );
}
