use std::sync::Arc;
use std::task::Poll;
use std::thread;

use superstep_store::checkpoint::{BatchWrite, CheckpointError, CheckpointId, Checkpointer as _, Fence};

use crate::fixture::{File, batch, poll_once, step, wait, writer};

#[test]
fn a_hundred_concurrent_threads_lose_nothing() {
    let file = File::new();
    let store = file.open();
    thread::scope(|scope| {
        for index in 0..100 {
            let store = &store;
            scope.spawn(move || {
                let name = format!("t{index}");
                let mut thread = writer(store, &name);
                for step_index in 0..20 {
                    thread.then(step().delta("l", &step_index.to_string()));
                }
            });
        }
    });
    let expected = (0..20).map(|index| format!("+{index}")).collect::<Vec<_>>().join(" ");
    for index in 0..100 {
        let name = format!("t{index}");
        let thread = writer(&store, &name);
        assert_eq!(thread.field(thread.fence.head.unwrap(), "l"), expected);
    }
}

#[test]
fn refused_commit_does_not_affect_its_group() {
    let file = File::new();
    let store = file.open();
    let head = writer(&store, "contended").add(step());
    // Submits all calls before the first is awaited.
    let mut calls = Vec::new();
    for index in 0..50 {
        let (_, good) = step().delta("l", "1").batch(&format!("t{index}"), Fence::default());
        let (_, stale) = step().delta("l", "2").batch("contended", Fence::default());
        let nothing = BatchWrite::records(CheckpointId::after(None), vec![], vec![]);
        let invalid = batch("contended", Fence::new(0, head), vec![nothing]);
        calls.push((store.commit(good), store.commit(stale), store.commit(invalid)));
    }
    for (good, stale, invalid) in &mut calls {
        for call in [good, stale, invalid] {
            // A call may be done already, and a ready future must not be polled again.
            *call = match poll_once(call) {
                Poll::Pending => continue,
                Poll::Ready(done) => Box::pin(async { done }),
            };
        }
    }
    for (good, stale, invalid) in calls {
        wait(good).unwrap();
        assert!(matches!(wait(stale), Err(CheckpointError::Conflict(_))));
        assert!(matches!(wait(invalid), Err(CheckpointError::Invalid { .. })));
    }
    for index in 0..50 {
        let name = format!("t{index}");
        let thread = writer(&store, &name);
        assert_eq!(thread.field(thread.fence.head.unwrap(), "l"), "+1");
    }
    assert_eq!(writer(&store, "contended").ids(), [head]);
}

#[test]
fn conflict_reports_the_current_fence() {
    let file = File::new();
    let (one, other) = (file.open(), file.open());
    let mut winner = writer(&one, "t");
    let mut loser = writer(&other, "t");
    let head = winner.add(step());
    let Err(CheckpointError::Conflict(conflict)) = loser.try_add(step()) else {
        panic!("two writers have won")
    };
    assert_eq!((conflict.expected, conflict.found), (Fence::default(), Fence::new(0, head)));
    // The winner drops its cached rows once another connection has written.
    loser.fence = conflict.found;
    let next = loser.then(step());
    assert!(matches!(winner.try_add(step()), Err(CheckpointError::Conflict(_))));
    winner.fence.head = Some(next);
    winner.then(step());
    assert_eq!(winner.ids().len(), 3);
}

#[test]
fn calls_run_in_the_order_of_first_polls() {
    let file = File::new();
    let store = file.open();
    let mut fence = Fence::default();
    let mut calls = Vec::new();
    // Far more than are accepted at once. No call is polled a second time before the last is submitted.
    for _ in 0..3_000 {
        let mut next = step().delta("l", "1");
        next.parent = fence.head;
        let (id, batch) = next.batch("t", fence);
        let mut call = store.commit(batch);
        match poll_once(&mut call) {
            Poll::Pending => calls.push(call),
            Poll::Ready(done) => done.unwrap(),
        }
        fence.head = Some(id);
    }
    calls.into_iter().try_for_each(wait).unwrap();
    assert_eq!(writer(&store, "t").fence, fence);
}

#[test]
fn dropped_call_is_atomic() {
    let file = File::new();
    let store = file.open();
    let mut calls = Vec::new();
    for index in 0..2_000 {
        let (_, batch) = step().value("a", "1").value("b", "2").batch(&format!("t{index}"), Fence::default());
        let mut call = store.commit(batch);
        drop(poll_once(&mut call));
        calls.push(call);
    }
    drop(calls);
    // A call that was never polled does not run.
    drop(store.commit(step().batch("never", Fence::default()).1));
    writer(&store, "last").add(step());
    for index in 0..2_000 {
        let name = format!("t{index}");
        let thread = writer(&store, &name);
        if let Some(head) = thread.fence.head {
            assert_eq!((thread.field(head, "a"), thread.field(head, "b")), ("=1".into(), "=2".into()));
        }
    }
    assert_eq!(writer(&store, "t0").ids().len(), 1);
    assert_eq!(writer(&store, "never").fence.head, None);
}

#[test]
fn submitted_calls_run_after_the_last_handle_is_dropped() {
    let file = File::new();
    let store = file.open();
    let mut calls: Vec<_> =
        (0..100).map(|index| step().batch(&format!("t{index}"), Fence::default()).1).collect();
    for batch in calls.drain(..) {
        let mut call = store.commit(batch);
        drop(poll_once(&mut call));
    }
    drop(store);
    let store = file.open();
    let count = || wait(store.threads(Default::default())).unwrap().items.len();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while count() < 100 {
        assert!(std::time::Instant::now() < until, "{} of 100", count());
        thread::yield_now();
    }
}

#[tokio::test]
async fn works_on_a_current_thread_runtime() {
    let file = File::new();
    let store = file.open();
    let (id, batch) = step().value("a", "1").batch("t", Fence::default());
    store.commit(batch).await.unwrap();
    assert_eq!(store.get("t", "", None).await.unwrap().fence.head, Some(id));
    // The store never blocks the thread: both tasks make progress.
    let store = Arc::new(store);
    let (_, one) = step().batch("u", Fence::default());
    let (_, two) = step().batch("v", Fence::default());
    let (one, two) = tokio::join!(store.commit(one), store.commit(two));
    one.unwrap();
    two.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn works_on_a_multi_thread_runtime() {
    let file = File::new();
    let store = file.open();
    let tasks: Vec<_> = (0..20)
        .map(|index| {
            let store = store.clone();
            let (id, batch) = step().batch(&format!("t{index}"), Fence::default());
            tokio::spawn(async move {
                store.commit(batch).await.unwrap();
                let name = format!("t{index}");
                assert_eq!(store.get(&name, "", None).await.unwrap().fence.head, Some(id));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}
