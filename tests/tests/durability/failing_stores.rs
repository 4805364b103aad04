//! Stores that fail: the run returns an error, and the thread continues as if nothing had happened.

use std::env;
use std::error::Error as _;
use std::process::Command;

use superstep::checkpoint::MemoryCheckpointer;
use superstep::{Durability, ErrorKind};
use superstep_sqlite::SqliteCheckpointer;

use crate::instrumented_store::{Fault, InstrumentedStore};
use crate::job::{Job, assert_history_is_complete, final_state, graph, has_no_thread};
use crate::journal::{Journal, assert_no_durable_work_repeats};

const ROUNDS: u64 = 2;

async fn fails_once(durability: Durability, nth: usize, fault: Fault) -> bool {
    let about = format!("commit {nth} fails {fault:?}, {durability:?}");
    let store = MemoryCheckpointer::new();
    let (journal, lines) = Journal::in_memory();
    let healthy = InstrumentedStore::new(store.clone(), journal.clone());
    let mut failing = healthy.clone();
    failing.fails = Some((nth, fault));
    let thread = graph().with_checkpointer(failing).thread("job");
    let run = thread.run(Job::input(ROUNDS)).run_id("once").durability(durability).context(journal.clone());
    let failed = match run.await {
        Ok(outcome) => {
            assert_eq!(outcome.into_state(), final_state(ROUNDS), "{about}");
            false
        }
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Checkpoint(_)), "{about}: {error:?}");
            let cause = error.source().unwrap();
            assert_eq!(cause.to_string(), "the store could not write a checkpoint", "{about}");
            assert_eq!(cause.source().unwrap().to_string(), "the cable was pulled", "{about}");
            true
        }
    };
    // The store works again.
    let thread = graph().with_checkpointer(healthy).thread("job");
    let state = match thread.resume(()).durability(durability).context(journal.clone()).await {
        Ok(outcome) => outcome.into_state(),
        Err(error) if has_no_thread(&error) => {
            let run = thread.run(Job::input(ROUNDS)).run_id("once").context(journal.clone());
            run.await.unwrap().into_state()
        }
        Err(error) => panic!("{about}: {error:?}"),
    };
    assert_eq!(state, final_state(ROUNDS), "{about}");
    if durability != Durability::Exit {
        assert_history_is_complete(&thread, &about).await;
    }
    assert_no_durable_work_repeats(&lines.all(), &about);
    failed
}

#[tokio::test]
async fn failed_commit_is_an_error_and_the_thread_continues() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for fault in [Fault::Before, Fault::After] {
            let mut nth = 0;
            while fails_once(durability, nth, fault).await {
                nth += 1;
            }
            assert!(nth >= 2, "{durability:?} has made only {nth} commits");
        }
    }
}

/// Runs, reads and resumes a thread while one read fails. Returns `true` if it failed.
async fn failing_read(nth: usize) -> bool {
    let about = format!("read {nth} fails");
    let (journal, lines) = Journal::in_memory();
    let store = MemoryCheckpointer::new();
    let mut failing = InstrumentedStore::new(store.clone(), journal.clone());
    failing.failing_read = Some(nth);
    let thread = graph().with_checkpointer(failing).thread("job");
    let attempt = async {
        let run = thread.run(Job::input(ROUNDS)).run_id("once").recursion_limit(2).context(journal.clone());
        let stopped = run.await.unwrap_err();
        if !matches!(stopped.kind(), ErrorKind::RecursionLimit { .. }) {
            return Err(stopped);
        }
        thread.state().await?;
        thread.history().await?;
        thread.resume(()).context(journal.clone()).await.map(drop)
    };
    let failed = match attempt.await {
        Ok(()) => false,
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Checkpoint(_)), "{about}: {error:?}");
            let cause = error.source().unwrap();
            assert_eq!(cause.to_string(), "the store could not read a checkpoint", "{about}");
            true
        }
    };
    // Reading works again.
    let thread = graph().with_checkpointer(InstrumentedStore::new(store, journal.clone())).thread("job");
    let state = match thread.resume(()).context(journal.clone()).await {
        Ok(outcome) => outcome.into_state(),
        Err(error) if has_no_thread(&error) => {
            thread.run(Job::input(ROUNDS)).context(journal).await.unwrap().into_state()
        }
        Err(error) => panic!("{about}: {error:?}"),
    };
    assert_eq!(state, final_state(ROUNDS), "{about}");
    assert_history_is_complete(&thread, &about).await;
    assert_no_durable_work_repeats(&lines.all(), &about);
    failed
}

#[tokio::test]
async fn failed_read_is_an_error_and_loses_nothing() {
    let mut nth = 0;
    while failing_read(nth).await {
        nth += 1;
    }
    assert!(nth >= 5, "only {nth} reads");
}

const PATH: &str = "DURABILITY_TEST_FULL";

/// Does nothing on its own. In a child process whose files cannot grow, runs until the store fails.
#[test]
fn child_process_without_space() {
    let Ok(path) = env::var(PATH) else { return };
    let store = SqliteCheckpointer::open(path).unwrap();
    let thread = graph().with_checkpointer(store).thread("job");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let journal = Journal::with_listener(|_| {});
        let run = thread.run(Job::input(u64::MAX)).recursion_limit(u64::MAX).context(journal.clone());
        let error = run.await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Checkpoint(_)), "{error:?}");
        let causes: Vec<String> = std::iter::successors(error.source(), |error| (*error).source())
            .map(ToString::to_string)
            .collect();
        println!("\nfull: {error}: {}", causes.join(": "));
        // The thread is still readable.
        assert_history_is_complete(&thread, "a full disk").await;
        // Reading needs no space, and a second run fails like the first.
        let again = thread.resume(()).recursion_limit(u64::MAX).context(journal).await.unwrap_err();
        assert!(matches!(again.kind(), ErrorKind::Checkpoint(_)), "{again:?}");
    });
}

/// The shell's limit applies to each file of the process. For SQLite, it is a full disk.
#[cfg(unix)]
#[test]
fn full_disk_is_an_error_and_the_thread_continues_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let output = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; ulimit -f 512; exec "$0" "$@""#])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "failing_stores::child_process_without_space", "--nocapture"])
        .env(PATH, &path)
        .output()
        .unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output_text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        output_text.contains("full: ") && output_text.contains("the store could not write a checkpoint"),
        "{output_text}"
    );

    let store = SqliteCheckpointer::open(&path).unwrap();
    let thread = graph().with_checkpointer(store).thread("job");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let there = assert_history_is_complete(&thread, "a disk that was full").await.len();
        let stopped =
            thread.resume(()).recursion_limit(6).context(Journal::with_listener(|_| {})).await.unwrap_err();
        assert!(matches!(stopped.kind(), ErrorKind::RecursionLimit { .. }), "{stopped:?}");
        assert_eq!(assert_history_is_complete(&thread, "a disk with space again").await.len(), there + 6);
    });
}
