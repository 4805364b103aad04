//! Stores that fail: the run says so, and the thread goes on as if nothing had been.

use std::env;
use std::error::Error as _;
use std::process::Command;

use superstep::checkpoint::MemoryCheckpointer;
use superstep::{Durability, ErrorKind};
use superstep_sqlite::SqliteCheckpointer;

use crate::job::{Job, end, graph, is_new, is_whole};
use crate::truth::{Truth, nothing_durable_is_done_again};
use crate::watched::{Fault, Watched};

const ROUNDS: u64 = 2;

async fn fails_once(durability: Durability, nth: usize, fault: Fault) -> bool {
    let about = format!("commit {nth} fails {fault:?}, {durability:?}");
    let store = MemoryCheckpointer::new();
    let (truth, lines) = Truth::kept();
    let watched = Watched::new(store.clone(), truth.clone());
    let mut failing = watched.clone();
    failing.fails = Some((nth, fault));
    let thread = graph().with_checkpointer(failing).thread("job");
    let run = thread.run(Job::input(ROUNDS)).run_id("once").durability(durability).context(truth.clone());
    let failed = match run.await {
        Ok(outcome) => {
            assert_eq!(outcome.into_state(), end(ROUNDS), "{about}");
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
    // The store is well again.
    let thread = graph().with_checkpointer(watched).thread("job");
    let state = match thread.resume(()).durability(durability).context(truth.clone()).await {
        Ok(outcome) => outcome.into_state(),
        Err(error) if is_new(&error) => {
            let run = thread.run(Job::input(ROUNDS)).run_id("once").context(truth.clone());
            run.await.unwrap().into_state()
        }
        Err(error) => panic!("{about}: {error:?}"),
    };
    assert_eq!(state, end(ROUNDS), "{about}");
    if durability != Durability::Exit {
        is_whole(&thread, &about).await;
    }
    nothing_durable_is_done_again(&lines.all(), &about);
    failed
}

#[tokio::test]
async fn whichever_commit_fails_the_run_says_so_and_the_thread_goes_on() {
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

/// A turn of somebody who runs, looks and goes on, with a read that fails; whether one did.
async fn fails_to_read(nth: usize) -> bool {
    let about = format!("read {nth} fails");
    let (truth, lines) = Truth::kept();
    let store = MemoryCheckpointer::new();
    let mut failing = Watched::new(store.clone(), truth.clone());
    failing.fails_to_read = Some(nth);
    let thread = graph().with_checkpointer(failing).thread("job");
    let turn = async {
        let run = thread.run(Job::input(ROUNDS)).run_id("once").recursion_limit(2).context(truth.clone());
        let stopped = run.await.unwrap_err();
        if !matches!(stopped.kind(), ErrorKind::RecursionLimit { .. }) {
            return Err(stopped);
        }
        thread.state().await?;
        thread.history().await?;
        thread.resume(()).context(truth.clone()).await.map(drop)
    };
    let failed = match turn.await {
        Ok(()) => false,
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Checkpoint(_)), "{about}: {error:?}");
            let cause = error.source().unwrap();
            assert_eq!(cause.to_string(), "the store could not read a checkpoint", "{about}");
            true
        }
    };
    // Reading works again.
    let thread = graph().with_checkpointer(Watched::new(store, truth.clone())).thread("job");
    let state = match thread.resume(()).context(truth.clone()).await {
        Ok(outcome) => outcome.into_state(),
        Err(error) if is_new(&error) => {
            thread.run(Job::input(ROUNDS)).context(truth).await.unwrap().into_state()
        }
        Err(error) => panic!("{about}: {error:?}"),
    };
    assert_eq!(state, end(ROUNDS), "{about}");
    is_whole(&thread, &about).await;
    nothing_durable_is_done_again(&lines.all(), &about);
    failed
}

#[tokio::test]
async fn whichever_read_fails_the_call_says_so_and_nothing_is_lost() {
    let mut nth = 0;
    while fails_to_read(nth).await {
        nth += 1;
    }
    assert!(nth >= 5, "only {nth} reads");
}

const PATH: &str = "DURABILITY_TEST_FULL";

/// Does nothing by itself. In a process whose files may not grow, runs until the store fails.
#[test]
fn in_a_process_without_space() {
    let Ok(path) = env::var(PATH) else { return };
    let store = SqliteCheckpointer::open(path).unwrap();
    let thread = graph().with_checkpointer(store).thread("job");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let truth = Truth::told_to(|_| {});
        let run = thread.run(Job::input(u64::MAX)).recursion_limit(u64::MAX).context(truth.clone());
        let error = run.await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Checkpoint(_)), "{error:?}");
        let causes: Vec<String> = std::iter::successors(error.source(), |error| (*error).source())
            .map(ToString::to_string)
            .collect();
        println!("\nfull: {error}: {}", causes.join(": "));
        // It can be read as before.
        is_whole(&thread, "a full disk").await;
        // Reading needs no space, and a second try fails as the first did.
        let again = thread.resume(()).recursion_limit(u64::MAX).context(truth).await.unwrap_err();
        assert!(matches!(again.kind(), ErrorKind::Checkpoint(_)), "{again:?}");
    });
}

/// The limit of the shell is on each file that the process writes; for SQLite it is a disk that takes no more.
#[cfg(unix)]
#[test]
fn a_disk_without_space_is_an_error_and_the_thread_goes_on_once_there_is_some() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let output = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; ulimit -f 512; exec "$0" "$@""#])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "failing_stores::in_a_process_without_space", "--nocapture"])
        .env(PATH, &path)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("full: ") && told.contains("the store could not write a checkpoint"), "{told}");

    let store = SqliteCheckpointer::open(&path).unwrap();
    let thread = graph().with_checkpointer(store).thread("job");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let there = is_whole(&thread, "a disk that was full").await.len();
        let stopped = thread.resume(()).recursion_limit(6).context(Truth::told_to(|_| {})).await.unwrap_err();
        assert!(matches!(stopped.kind(), ErrorKind::RecursionLimit { .. }), "{stopped:?}");
        assert_eq!(is_whole(&thread, "a disk with space again").await.len(), there + 6);
    });
}
