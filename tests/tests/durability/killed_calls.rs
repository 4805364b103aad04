//! Processes that are killed while graphs within their graph run.

use superstep::Durability;
use superstep::checkpoint::{CheckpointQuery, Checkpointer as _};
use superstep_sqlite::SqliteCheckpointer;

use crate::calls::{Tour, graph, is_kept, log, shared};
use crate::processes::{Here, Victim, kills, wanted};
use crate::truth::acknowledged;

const ROUNDS: u64 = 4;

fn durability(how: u64) -> Durability {
    if how & 1 == 0 { Durability::Sync } else { Durability::Async }
}

/// Does nothing by itself. In a process that [`Victim`] has started, goes on with the tour and tells the truth.
#[test]
fn in_another_process() {
    let Some(here) = Here::find() else { return };
    here.by_the_clock(async |store, world| {
        let thread = graph().0.with_checkpointer(store).thread("tour");
        let run = thread.run(Tour::input(ROUNDS)).run_id("once").recursion_limit(100);
        let ended = run.durability(durability(here.how)).context(world).await.unwrap();
        assert_eq!(ended.state().log, log(ROUNDS));
    });
    here.truth.tell("done");
}

/// The ids of all checkpoints of the thread, of its calls too.
async fn stored(store: &SqliteCheckpointer) -> Vec<String> {
    let mut all = Vec::new();
    for namespace in ["", "inner", "inner/deep", "kept", "errand#0", "errand#1"] {
        let query = CheckpointQuery {
            thread: "tour".into(),
            namespace: namespace.into(),
            ..CheckpointQuery::default()
        };
        all.extend(store.list(query).await.unwrap().items.iter().map(|checkpoint| checkpoint.id.to_string()));
    }
    all
}

/// Kills the processes of one thread until the tour is done; how many it took.
fn until_it_is_done(seed: u64) -> usize {
    let mut victim = Victim::new("killed_calls::in_another_process", seed);
    let how = victim.dice.roll(2);
    let mut kills = 0;
    loop {
        let ended = victim.kill(how, 80);
        let about = format!("seed {seed}, {:?}: {:#?}", durability(how), victim.lines);
        let notes = victim.lines.iter().filter_map(|line| line.split_once(" @")).map(|(note, _)| note);
        is_kept(notes, ROUNDS, durability(how), &about);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (graph, kept) = graph();
            let thread = graph.with_checkpointer(victim.store()).thread("tour");
            // Whatever was applied by now is a part of what will have been, of calls too.
            if let Some(state) = thread.state().await.unwrap().and_then(|snapshot| snapshot.state) {
                assert!(log(ROUNDS).starts_with(&state.log), "{about}");
            }
            let counted = thread.within(&kept).state().await.unwrap().and_then(|snapshot| snapshot.state);
            for (nth, counted) in counted.iter().flat_map(|count| &count.counted).enumerate() {
                assert_eq!(*counted, format!("{nth} count paid #{nth}"), "{about}");
            }
            // The calls can be looked into, and nothing that was acknowledged is missing.
            thread.within(&shared()).history().await.unwrap();
            let there = stored(&victim.store()).await;
            for id in acknowledged(&victim.lines) {
                assert!(there.contains(&id), "{about}: {id} was acknowledged and is not there");
            }
        });
        if ended {
            return kills;
        }
        kills += 1;
    }
}

/// `LONG=1` makes it 200.
#[test]
fn calls_whose_processes_are_killed_go_on_and_do_nothing_twice() {
    kills(wanted(20), until_it_is_done);
}
