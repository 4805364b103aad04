//! Processes that are killed at any moment, each continuing the run of the one before.

use superstep::thread::Thread;
use superstep::{Durability, EventKind, Outcome, StreamMode};
use superstep_sqlite::Synchronous;

use crate::job::{Job, assert_history_is_complete, final_state, graph, has_no_thread};
use crate::journal::{Journal, acknowledged, assert_no_durable_work_repeats};
use crate::processes::{ChildProcess, ProcessKiller, kill_until, scaled};

const ROUNDS: u64 = 12;
const LIMIT: u64 = 1_000;

/// Does nothing on its own. In a process started by [`ProcessKiller`], continues the job and reports to the journal.
#[test]
fn child_process() {
    let Some(child) = ChildProcess::from_env() else { return };
    let how = child.how;
    let synchronous = if how & 1 == 0 { Synchronous::Normal } else { Synchronous::Full };
    let durability = if how & 2 == 0 { Durability::Async } else { Durability::Sync };
    let (thread, journal) =
        (graph().with_checkpointer(child.store(synchronous)).thread("job"), &child.journal);
    let mut runtime = match how & 4 {
        0 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    runtime.enable_time().build().unwrap().block_on(async {
        let again = || {
            thread
                .run(Job::input(ROUNDS))
                .run_id("once")
                .recursion_limit(LIMIT)
                .durability(durability)
                .context(journal.clone())
        };
        let state = match how & 24 {
            0 => match thread
                .resume(())
                .recursion_limit(LIMIT)
                .durability(durability)
                .context(journal.clone())
                .await
            {
                Ok(outcome) => outcome.into_state(),
                Err(error) if has_no_thread(&error) => again().await.unwrap().into_state(),
                Err(error) => panic!("{error:?}"),
            },
            8 => again().await.unwrap().into_state(),
            _ => {
                let mut events = again().events([StreamMode::Checkpoints]).stream();
                loop {
                    match events.next().await.unwrap().unwrap().kind {
                        EventKind::Checkpoint { id, step, .. } => {
                            journal.record(format!("event {id} {step}"))
                        }
                        EventKind::Done(Outcome::Done(state)) => break state,
                        _ => {}
                    }
                }
            }
        };
        assert_eq!(state, final_state(ROUNDS));
        journal.record("done");
    });
}

/// Kills the processes of one thread until the job is done. Returns the number of kills.
fn kill_until_done(seed: u64) -> usize {
    let mut killer = ProcessKiller::new("killed::child_process", seed);
    let about = format!("seed {seed}");
    let mut kills = 0;
    loop {
        // A thread is continued either always by run id or always by `resume`: a resume is another run.
        let rng = &mut killer.rng;
        let how = rng.below(8) + if seed % 2 == 1 { 8 + 8 * rng.below(2) } else { 0 };
        let ended = killer.kill(how, 40);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let thread: Thread<Job, Journal> = graph().with_checkpointer(killer.store()).thread("job");
            let stored = assert_history_is_complete(&thread, &about).await;
            for id in acknowledged(&killer.lines) {
                assert!(stored.contains(&id), "{about}: {id} was acknowledged and is not there");
            }
            if ended {
                assert_eq!(
                    thread.state().await.unwrap().unwrap().state,
                    Some(final_state(ROUNDS)),
                    "{about}"
                );
            }
        });
        assert_no_durable_work_repeats(&killer.lines, &about);
        if ended {
            return kills;
        }
        kills += 1;
    }
}

/// 20 kills, or 200 with `LONG=1`.
#[test]
fn killed_job_finishes_and_repeats_no_durable_work() {
    kill_until(scaled(20), kill_until_done);
}
