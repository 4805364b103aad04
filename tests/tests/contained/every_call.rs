//! Each call of user code panics once, in runs in memory and on threads.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use superstep::thread::{Thread, as_node};
use superstep::{Graph, Outcome};
use tests::stores::TestStore;
use tokio::runtime::{Builder, Runtime};

use super::faults::{Failed, Faults, Op, Trap};
use super::trapped_store::Trapped;
use super::trip::{Sure, Trip, TripInput, World, chain, last, log_of, trip};

const WHOLE: &str =
    "prepare a bb c spread yes retried rescued paid cached inside inside retried inside inside retried last";

fn input(faults: &Faults) -> TripInput {
    Trip::input(Trap::new(faults.id, "one"))
}

fn world(faults: &Faults) -> Arc<World> {
    Arc::new(World { id: faults.id, ..World::default() })
}

fn runtime(workers: usize) -> Runtime {
    let mut builder = if workers == 0 { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    builder.worker_threads(workers.max(1)).enable_all().build().unwrap()
}

/// The end of a flow: the log of the finished run, or the error of its first call that failed.
type End = Result<String, Failed>;

async fn stream_in_memory(graph: Graph<Trip, World>, faults: Arc<Faults>) -> End {
    let mut stream = graph.run(input(&faults)).context(world(&faults)).stream();
    loop {
        let next = async { stream.next().await.transpose() };
        match faults.call("stream", next).await? {
            None => return Ok("interrupted".to_owned()),
            Some(event) => drop(event),
        }
    }
}

async fn step_in_memory(graph: Graph<Trip, World>, faults: Arc<Faults>) -> End {
    let start = async { graph.run(input(&faults)).context(world(&faults)).start() };
    let mut run = faults.call("start", start).await?;
    loop {
        if faults.call("step", run.step()).await? {
            continue;
        }
        let Some(pause) = run.pause() else { return Ok(log_of(run.state())) };
        let answer = pause.only::<Sure>().unwrap().answer(Trap::new(faults.id, "yes"));
        run.answer(answer).unwrap();
    }
}

async fn run_in_memory(graph: Graph<Trip, World>, faults: Arc<Faults>) -> End {
    let run = async { graph.run(input(&faults)).context(world(&faults)).await };
    faults.call("run", run).await.map(|_| "interrupted".to_owned())
}

/// All calls on a thread. The thread is then finished without faults.
async fn on_thread(store: Arc<TestStore>, graph: Graph<Trip, World>, faults: Arc<Faults>) -> End {
    let world = world(&faults);
    let trapped = Trapped { id: faults.id, inner: store.open() };
    let faulty =
        calls_on_thread(graph.with_checkpointer(trapped).thread("t"), &faults, Arc::clone(&world)).await;
    faults.set_on(false);
    match &faulty {
        Err(Failed::Unwound(_)) => return faulty,
        // The text of an error never changes the course of a run.
        Err(Failed::Typed(error)) => assert!(!faults.is_of([Op::Display, Op::Source]), "{error}"),
        Ok(_) => {}
    }
    // Another process would open the store anew.
    let thread = store.thread(&graph);
    let mut outcome = match thread.state().await.unwrap() {
        None => thread.run(input(&faults)).context(Arc::clone(&world)).await,
        Some(_) => thread.resume(()).context(Arc::clone(&world)).await,
    };
    for _ in 0..10 {
        match outcome {
            Ok(Outcome::Done(state)) => {
                assert!(world.steps.lock().unwrap().len() <= 2, "the durable step ran again");
                return Ok(log_of(&state));
            }
            Ok(_) => {
                let asked = thread.interrupts().await.unwrap().only::<Sure>().unwrap();
                let answer = asked.answer(Trap::new(faults.id, "yes"));
                outcome = thread.resume(answer).context(Arc::clone(&world)).await;
            }
            Err(error) => panic!("the thread cannot be continued: {error:?}; before: {faulty:?}"),
        }
    }
    panic!("the thread does not end")
}

async fn calls_on_thread(thread: Thread<Trip, World>, faults: &Faults, world: Arc<World>) -> End {
    faults.call("run", async { thread.run(input(faults)).context(Arc::clone(&world)).await }).await?;
    let pause = faults.call("interrupts", thread.interrupts()).await?;
    let asked = pause.only::<Sure>().unwrap();
    let answer = asked.answer(Trap::new(faults.id, "yes"));
    faults.call("state", thread.state()).await?;
    faults.call("resume", async { thread.resume(answer).context(Arc::clone(&world)).await }).await?;
    faults.call("history", async { thread.history().await }).await?;
    let svg = async { thread.picture().await?.to_svg() };
    faults.call("picture", svg).await?;
    let copy = faults.call("copy", async { thread.copy("u").await }).await?;
    let update = |text: &str| Trip::update().log([Trap::new(faults.id, text)]);
    let updated = copy.update(update("updated"), as_node(last)).context(Arc::clone(&world));
    faults.call("update", updated).await?;
    let snapshot = faults.call("state of the copy", copy.state()).await?.unwrap();
    let again = copy.at(snapshot.parent.unwrap()).run_again();
    faults.call("run again", async { again.context(Arc::clone(&world)).await }).await?;
    Ok("finished".to_owned())
}

/// Runs a flow with a fault at each call of each kind, and checks how it ends. Without `LONG`, only every `stride`th call.
fn at_each_call<F>(workers: usize, stride: usize, expected: &str, flow: impl Fn(Arc<Faults>) -> F)
where
    F: Future<Output = End> + Send + 'static,
{
    let stride = if std::env::var_os("LONG").is_some() { 1 } else { stride };
    let runtime = runtime(workers);
    let run = |faults: &Arc<Faults>| {
        let flow = std::panic::AssertUnwindSafe(flow(Arc::clone(faults))).catch_unwind();
        runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), tokio::spawn(flow)).await })
    };
    let counted = Faults::new(None);
    let end = run(&counted).expect("hangs").unwrap().unwrap_or_else(|_| panic!("panics"));
    assert_eq!(end.unwrap(), expected);
    let mut bad = Vec::new();
    for op in Op::ALL {
        for nth in (1..=counted.count(op)).step_by(stride) {
            let faults = Faults::new(Some((op, nth)));
            let problem = match run(&faults) {
                Err(_) => "hangs".to_owned(),
                Ok(Err(join)) => format!("unwinds: {join}"),
                Ok(Ok(Err(panic))) => {
                    let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                    std::mem::forget(panic);
                    format!("fails: {text}")
                }
                Ok(Ok(Ok(Err(Failed::Unwound(call))))) => format!("call `{call}` unwinds"),
                Ok(Ok(Ok(Err(Failed::Typed(_))))) => continue,
                Ok(Ok(Ok(Ok(end)))) if end == expected => continue,
                Ok(Ok(Ok(Ok(end)))) => format!("ends with: {end}"),
            };
            bad.push(format!("{op:?} {nth}: {problem}"));
        }
    }
    assert!(bad.is_empty(), "{} of them:\n{}", bad.len(), bad.join("\n"));
}

#[test]
fn runs_in_memory_on_one_thread() {
    at_each_call(0, 1, "interrupted", |faults| run_in_memory(trip(), faults));
}

#[test]
fn steps_in_memory_on_one_thread() {
    at_each_call(0, 1, WHOLE, |faults| step_in_memory(trip(), faults));
}

#[test]
fn chain_in_memory() {
    at_each_call(0, 1, "spread retried paid yes last", |faults| step_in_memory(chain(), faults));
}

#[test]
fn runs_in_memory_on_workers() {
    at_each_call(2, 1, "interrupted", |faults| run_in_memory(trip(), faults));
}

#[test]
fn streams_in_memory() {
    at_each_call(0, 1, "interrupted", |faults| stream_in_memory(trip(), faults));
    at_each_call(2, 3, "interrupted", |faults| stream_in_memory(trip(), faults));
}

#[test]
fn threads_in_memory() {
    at_each_call(0, 13, WHOLE, |faults| on_thread(Arc::new(TestStore::memory()), trip(), faults));
}

#[test]
fn threads_in_memory_on_workers() {
    at_each_call(2, 23, WHOLE, |faults| on_thread(Arc::new(TestStore::memory()), trip(), faults));
}

#[test]
fn chain_on_a_thread() {
    let log = "spread retried paid yes last";
    at_each_call(0, 1, log, |faults| on_thread(Arc::new(TestStore::memory()), chain(), faults));
}

#[test]
fn threads_in_a_file() {
    at_each_call(0, 29, WHOLE, |faults| on_thread(Arc::new(TestStore::file()), trip(), faults));
}

#[test]
fn encrypted_threads() {
    at_each_call(0, 29, WHOLE, |faults| on_thread(Arc::new(TestStore::encrypted()), trip(), faults));
}
