//! Concurrency of the tasks of a superstep: on one thread, on several, with and without a runtime.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Poll, Wake, Waker};
use std::thread::{self, Thread, ThreadId};

use serde::{Deserialize, Serialize};
use superstep::{Context, ContextWith, END, ErrorKind, Graph, Route, START, StateGraph};

use crate::engine::trace::{Trace, TraceUpdate, block_on, log_of, nodes, ran, say, workers};

nodes! { a b c }

/// Runs a future on this thread without a runtime.
pub(crate) fn block_on_without_runtime<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut future, mut cx) = (pin!(future), std::task::Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

fn chain() -> Graph<Trace> {
    StateGraph::<Trace>::new().edge(START, a).edge(a, b).edge(b, END).compile().unwrap()
}

#[test]
fn one_node_superstep_spawns_no_task() {
    async fn looks(_: &Trace, cx: &ContextWith<tokio::runtime::Runtime>) -> TraceUpdate {
        tokio::task::yield_now().await;
        say(format!("{} tasks", cx.context().metrics().num_alive_tasks()))
    }
    let graph = StateGraph::<Trace>::with_context().edge(START, looks).edge(looks, END).compile().unwrap();
    let runtime = Arc::new(workers(2));
    let outcome = runtime.block_on(graph.run(Trace::input()).context(Arc::clone(&runtime)));
    assert_eq!(outcome.unwrap().state().log, ["0 tasks"]);
}

/// Defines nodes that log where they are, before and after they yield if they do.
macro_rules! located {
    ($($node:ident $yields:literal)*) => {$(
        async fn $node(_: &Trace, cx: &Context) -> TraceUpdate {
            let begins = format!("{} {}", cx.node(), cx.attempt());
            if $yields {
                tokio::task::yield_now().await;
            }
            say(format!("{begins}, {} {}", cx.node(), cx.attempt()))
        }
    )*};
}

located! { first false second true third false fourth true fifth false }

#[test]
fn every_task_has_its_own_context_whether_it_waits_or_not() {
    let tasks = (first, second, third, fourth, fifth);
    let graph = StateGraph::<Trace>::new()
        .edge(START, tasks)
        .edge(first, END)
        .edge(second, END)
        .edge(third, END)
        .edge(fourth, END)
        .edge(fifth, END)
        .compile()
        .unwrap();
    let expected = ["first", "second", "third", "fourth", "fifth"].map(|at| format!("{at} 1, {at} 1"));
    let outcome = block_on(graph.run(Trace::input())).unwrap();
    assert_eq!(outcome.state().log, expected);
    let outcome = block_on(graph.run(Trace::input()).stream().for_each(|_| {})).unwrap();
    assert_eq!(outcome.state().log, expected, "with a listener");
}

#[test]
fn run_needs_no_runtime() {
    assert_eq!(block_on_without_runtime(chain().run(Trace::input())).unwrap().state().log, ["1:a", "2:b"]);
    let fan_out =
        StateGraph::<Trace>::new().edge(START, (a, b)).edge(a, c).edge(b, c).edge(c, END).compile().unwrap();
    let outcome = block_on_without_runtime(fan_out.run(Trace::input())).unwrap();
    assert_eq!(outcome.state().log, ["1:a", "1:b", "2:c"]);
    let long = StateGraph::<Trace>::new().edge(START, a).edge(a, a).compile().unwrap();
    let error = block_on_without_runtime(long.run(Trace::input()).recursion_limit(1000)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RecursionLimit { limit: 1000, .. }));
    let mut events = fan_out.stream(Trace::input());
    let count = block_on_without_runtime(async {
        let mut count = 0;
        while events.next().await.transpose().unwrap().is_some() {
            count += 1;
        }
        count
    });
    assert_eq!(count, 3 + 3 * 3 + 1);
}

#[test]
fn fan_out_without_a_runtime_is_concurrent() {
    async fn meets(_: &Trace, cx: &ContextWith<tokio::sync::Barrier>) -> TraceUpdate {
        cx.context().wait().await;
        ran(cx)
    }
    async fn meets_too(state: &Trace, cx: &ContextWith<tokio::sync::Barrier>) -> TraceUpdate {
        meets(state, cx).await
    }
    let graph = StateGraph::<Trace>::with_context()
        .edge(START, (meets, meets_too))
        .edge(meets, END)
        .edge(meets_too, END)
        .compile()
        .unwrap();
    let run = graph.run(Trace::input()).context(tokio::sync::Barrier::new(2));
    assert_eq!(block_on_without_runtime(run).unwrap().state().log, ["1:meets", "1:meets_too"]);
}

struct Meeting {
    barrier: Barrier,
    threads: std::sync::Mutex<HashSet<ThreadId>>,
}

#[test]
fn tasks_of_a_superstep_run_in_parallel() {
    // Each task blocks its thread until the other arrives, so a single thread would deadlock.
    async fn left(_: &Trace, cx: &ContextWith<Meeting>) -> TraceUpdate {
        cx.context().barrier.wait();
        cx.context().threads.lock().unwrap().insert(thread::current().id());
        ran(cx)
    }
    async fn right(state: &Trace, cx: &ContextWith<Meeting>) -> TraceUpdate {
        left(state, cx).await
    }
    let graph = StateGraph::<Trace>::with_context::<Meeting>()
        .edge(START, (left, right))
        .edge(left, END)
        .edge(right, END)
        .compile()
        .unwrap();
    let meeting = Arc::new(Meeting { barrier: Barrier::new(2), threads: std::sync::Mutex::default() });
    let outcome = workers(2).block_on(graph.run(Trace::input()).context(Arc::clone(&meeting)));
    assert_eq!(outcome.unwrap().state().log, ["1:left", "1:right"]);
    assert_eq!(meeting.threads.lock().unwrap().len(), 2);
}

#[derive(Serialize, Deserialize)]
struct Job(u32);

#[derive(Route)]
enum Deal {
    #[to(work)]
    Work(Job),
}

async fn deal() -> Vec<Deal> {
    (0..40).map(|number| Deal::Work(Job(number))).collect()
}

#[derive(Default)]
struct Crowd {
    now: AtomicUsize,
    most: AtomicUsize,
}

async fn work(job: &Job, cx: &ContextWith<Crowd>) -> TraceUpdate {
    let crowd = cx.context();
    let now = crowd.now.fetch_add(1, Ordering::SeqCst) + 1;
    crowd.most.fetch_max(now, Ordering::SeqCst);
    for _ in 0..=job.0 % 3 {
        tokio::task::yield_now().await;
    }
    crowd.now.fetch_sub(1, Ordering::SeqCst);
    say(job.0.to_string())
}

#[test]
fn max_concurrency_limits_tasks_and_keeps_their_order() {
    let graph =
        StateGraph::<Trace>::with_context::<Crowd>().edge(START, deal).edge(work, END).compile().unwrap();
    let expected: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let runtime = workers(4);
    for limit in [1, 2, 7, 1000] {
        for threads in [false, true] {
            let crowd = Arc::new(Crowd::default());
            let run = graph.run(Trace::input()).max_concurrency(limit).context(Arc::clone(&crowd));
            let outcome = if threads { runtime.block_on(run) } else { block_on(run) };
            assert_eq!(outcome.unwrap().into_state().log, expected);
            let most = crowd.most.load(Ordering::SeqCst);
            assert!(most <= limit, "{most} of {limit}");
            // On one thread the maximum is exact.
            assert!(threads || most == limit.min(40), "{most} of {limit}");
        }
    }
}

#[test]
fn max_concurrency_of_zero_is_refused() {
    let error = chain().run(Trace::input()).max_concurrency(0).start().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Runtime(_)), "{error}");
    assert_eq!(log_of(&chain()), "1:a 2:b");
}

#[test]
fn runtime_shutdown_during_a_run_is_an_error() {
    async fn waits(_: &Trace, _: &Context) -> TraceUpdate {
        std::future::pending().await
    }
    async fn waits_too(_: &Trace, _: &Context) -> TraceUpdate {
        std::future::pending().await
    }
    let graph = StateGraph::<Trace>::new()
        .edge(START, (waits, waits_too))
        .edge(waits, END)
        .edge(waits_too, END)
        .compile()
        .unwrap();
    let runtime = workers(2);
    let handle = runtime.handle().clone();
    let _entered = handle.enter();
    let mut run = pin!(graph.run(Trace::input()));
    assert!(run.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop())).is_pending());
    runtime.shutdown_background();
    let error = block_on_without_runtime(run).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Runtime(_)), "{error}");
}
