//! Processes that are killed during subgraph calls.

use superstep::Durability;
use superstep::checkpoint::{CheckpointQuery, Checkpointer as _};
use superstep_sqlite::SqliteCheckpointer;

use crate::journal::acknowledged;
use crate::processes::{ChildProcess, ProcessKiller, kill_until, scaled};
use crate::subgraph_calls::{Tour, assert_durable_work_is_kept, graph, log, shared};

const ROUNDS: u64 = 4;

fn durability(how: u64) -> Durability {
    if how & 1 == 0 { Durability::Sync } else { Durability::Async }
}

/// Does nothing on its own. In a process started by [`ProcessKiller`], continues the tour and reports to the journal.
#[test]
fn child_process() {
    let Some(child) = ChildProcess::from_env() else { return };
    child.run_with_manual_clock(async |store, timeline| {
        let thread = graph().0.with_checkpointer(store).thread("tour");
        let run = thread.run(Tour::input(ROUNDS)).run_id("once").recursion_limit(100);
        let ended = run.durability(durability(child.how)).context(timeline).await.unwrap();
        assert_eq!(ended.state().log, log(ROUNDS));
    });
    child.journal.record("done");
}

/// The ids of all checkpoints of the thread, including its subgraph calls.
async fn stored(store: &SqliteCheckpointer) -> Vec<String> {
    let mut all = Vec::new();
    for namespace in ["", "inner", "inner/deep", "kept", "errand#0", "errand#1"] {
        let query = CheckpointQuery::new("tour").namespace(namespace);
        all.extend(store.list(query).await.unwrap().items.iter().map(|checkpoint| checkpoint.id.to_string()));
    }
    all
}

/// Kills the processes of one thread until the tour is done. Returns the number of kills.
fn kill_until_done(seed: u64) -> usize {
    let mut killer = ProcessKiller::new("killed_subgraphs::child_process", seed);
    let how = killer.rng.below(2);
    let mut kills = 0;
    loop {
        let ended = killer.kill(how, 80);
        let about = format!("seed {seed}, {:?}: {:#?}", durability(how), killer.lines);
        let notes = killer.lines.iter().filter_map(|line| line.split_once(" @")).map(|(note, _)| note);
        assert_durable_work_is_kept(notes, ROUNDS, durability(how), &about);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (graph, counts) = graph();
            let thread = graph.with_checkpointer(killer.store()).thread("tour");
            // The applied log is a prefix of the final log, in subgraph calls too.
            if let Some(state) = thread.state().await.unwrap().and_then(|snapshot| snapshot.state) {
                assert!(log(ROUNDS).starts_with(&state.log), "{about}");
            }
            let counted = thread.within(&counts).state().await.unwrap().and_then(|snapshot| snapshot.state);
            for (nth, counted) in counted.iter().flat_map(|count| &count.counted).enumerate() {
                assert_eq!(*counted, format!("{nth} count paid #{nth}"), "{about}");
            }
            // The calls are readable, and no acknowledged checkpoint is missing.
            thread.within(&shared()).history().await.unwrap();
            let stored_ids = stored(&killer.store()).await;
            for id in acknowledged(&killer.lines) {
                assert!(stored_ids.contains(&id), "{about}: {id} was acknowledged and is not there");
            }
        });
        if ended {
            return kills;
        }
        kills += 1;
    }
}

/// 20 kills, or 200 with `LONG=1`.
#[test]
fn killed_calls_continue_and_repeat_no_durable_work() {
    kill_until(scaled(20), kill_until_done);
}
