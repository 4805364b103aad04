use std::time::{Duration, Instant};

use superstep_sqlite::{SqliteCheckpointer, Synchronous};
use superstep_store::checkpoint::Checkpointer as _;

use crate::fixture::{File, step, wait, writer};

const MESSAGE: usize = 200;

/// A file with `steps` supersteps, each of which appends a message.
fn file_of(steps: usize) -> (File, SqliteCheckpointer) {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let message = format!("[{{\"type\":\"human\",\"content\":\"{}\"}}]", "x".repeat(MESSAGE - 31));
    assert_eq!(message.len(), MESSAGE);
    let begun = Instant::now();
    for _ in 0..steps {
        thread.then(step().delta("messages", &message));
    }
    println!("{steps} steps: {:?} each", begun.elapsed() / u32::try_from(steps.max(1)).unwrap());
    (file, store)
}

#[test]
fn file_grows_linearly_with_its_data() {
    let (empty, _store) = file_of(0);
    let ratio = |steps: usize| {
        let (file, _store) = file_of(steps);
        let ratio = (file.size() - empty.size()) as f64 / (steps * MESSAGE) as f64;
        println!("{steps} steps: {ratio:.2} times the written bytes");
        ratio
    };
    let (short, long) = (ratio(1_000), ratio(10_000));
    assert!(short < 2.2, "{short}");
    assert!(long < 2.2, "{long}");
    assert!(long < short * 1.05, "{short} → {long}");
}

#[test]
fn read_time_depends_on_size_not_on_history() {
    let (_file, store) = file_of(10_000);
    let fastest = |read: &dyn Fn()| {
        (0..7)
            .map(|_| {
                let begun = Instant::now();
                read();
                begun.elapsed()
            })
            .min()
            .unwrap()
    };
    let whole = fastest(&|| {
        let found = wait(store.get("t", "", None)).unwrap().found.unwrap();
        assert_eq!(found.fields[0].changes.len(), 10_000);
    });
    println!("10,000 deltas: {whole:?}");
    let mut thread = writer(&store, "t");
    thread.then(step().value("messages", "[]"));
    let none = fastest(&|| {
        let found = wait(store.get("t", "", None)).unwrap().found.unwrap();
        assert_eq!(found.fields[0].changes.len(), 1);
    });
    println!("one value after them: {none:?}");
    // Bounds for an unoptimized build on a busy machine. An optimized build needs 2 ms and 50 µs.
    assert!(whole < Duration::from_millis(100), "{whole:?}");
    assert!(none < Duration::from_millis(10), "{none:?}");
}

#[test]
fn concurrent_commits_share_the_disk_wait() {
    let file = File::new();
    let store = SqliteCheckpointer::options().synchronous(Synchronous::Full).open(file.path()).unwrap();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for index in 0..100 {
            let store = &store;
            scope.spawn(move || {
                let name = format!("t{index}");
                let mut thread = writer(store, &name);
                for _ in 0..10 {
                    thread.then(step().delta("l", "1"));
                }
            });
        }
    });
    println!("100 callers: {:?} a commit", begun.elapsed() / 1_000);
}
