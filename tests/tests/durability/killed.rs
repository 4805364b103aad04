//! A process that is killed at any moment, and another one that goes on.

use superstep::thread::Thread;
use superstep::{Durability, EventKind, Outcome, StreamMode};
use superstep_sqlite::Synchronous;

use crate::job::{Job, end, graph, is_new, is_whole};
use crate::processes::{Here, Victim, kills, wanted};
use crate::truth::{Truth, acknowledged, nothing_durable_is_done_again};

const ROUNDS: u64 = 12;
const LIMIT: u64 = 1_000;

/// Does nothing by itself. In a process that [`Victim`] has started, goes on with the job and tells the truth.
#[test]
fn in_another_process() {
    let Some(here) = Here::find() else { return };
    let how = here.how;
    let synchronous = if how & 1 == 0 { Synchronous::Normal } else { Synchronous::Full };
    let durability = if how & 2 == 0 { Durability::Async } else { Durability::Sync };
    let (thread, truth) = (graph().with_checkpointer(here.store(synchronous)).thread("job"), &here.truth);
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
                .context(truth.clone())
        };
        let state = match how & 24 {
            0 => match thread
                .resume(())
                .recursion_limit(LIMIT)
                .durability(durability)
                .context(truth.clone())
                .await
            {
                Ok(outcome) => outcome.into_state(),
                Err(error) if is_new(&error) => again().await.unwrap().into_state(),
                Err(error) => panic!("{error:?}"),
            },
            8 => again().await.unwrap().into_state(),
            _ => {
                let mut events = again().events([StreamMode::Checkpoints]).stream();
                loop {
                    match events.next().await.unwrap().unwrap().kind {
                        EventKind::Checkpoint { id, step, .. } => truth.tell(format!("event {id} {step}")),
                        EventKind::Done(Outcome::Done(state)) => break state,
                        _ => {}
                    }
                }
            }
        };
        assert_eq!(state, end(ROUNDS));
        truth.tell("done");
    });
}

/// Kills the processes of one thread until the job is done; how many it took.
fn until_it_is_done(seed: u64) -> usize {
    let mut victim = Victim::new("killed::in_another_process", seed);
    let about = format!("seed {seed}");
    let mut kills = 0;
    loop {
        // Whoever goes on by the run's id does so each time: a resumption is another run.
        let dice = &mut victim.dice;
        let how = dice.roll(8) + if seed % 2 == 1 { 8 + 8 * dice.roll(2) } else { 0 };
        let ended = victim.kill(how, 40);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let thread: Thread<Job, Truth> = graph().with_checkpointer(victim.store()).thread("job");
            let there = is_whole(&thread, &about).await;
            for id in acknowledged(&victim.lines) {
                assert!(there.contains(&id), "{about}: {id} was acknowledged and is not there");
            }
            if ended {
                assert_eq!(thread.state().await.unwrap().unwrap().state, Some(end(ROUNDS)), "{about}");
            }
        });
        nothing_durable_is_done_again(&victim.lines, &about);
        if ended {
            return kills;
        }
        kills += 1;
    }
}

/// `LONG=1` makes it 200.
#[test]
fn a_job_whose_processes_are_killed_twenty_times_comes_to_its_end_and_does_nothing_twice() {
    kills(wanted(20), until_it_is_done);
}
