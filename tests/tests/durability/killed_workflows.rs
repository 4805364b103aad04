//! Processes that are killed while a workflow's function runs.

use superstep::workflow::{Flow, Workflow};
use superstep::{ContextWith, Durability, Graph, NodeError, Result};

use crate::crashes::{Timeline, never_after};
use crate::processes::{ChildProcess, ProcessKiller, kill_until, scaled};

const RUNS: u32 = 3;
const STEPS: u32 = 5;

async fn tally(run: &u32, previous: Option<&Vec<u32>>, timeline: &ContextWith<Timeline>) -> Result<Vec<u32>> {
    let step = |number: u32| {
        let does = async move {
            timeline.context().note(format!("does {run}.{number}"));
            tokio::task::yield_now().await;
            Ok::<_, NodeError>(10 * run + number)
        };
        timeline.step(&format!("{run}.{number}"), does)
    };
    let mut tally = previous.cloned().unwrap_or_default();
    tally.push(step(0).await?);
    timeline.context().note(format!("has {run}.0"));
    tally.extend(timeline.steps((1..STEPS).map(step)).at_most(2).await?);
    timeline.context().note(format!("has {run}.all"));
    Ok(tally)
}

fn graph() -> Graph<Flow<u32, Vec<u32>>, Timeline> {
    Workflow::with_context(tally).compile().unwrap()
}

fn expected(runs: u32) -> Vec<u32> {
    (1..=runs).flat_map(|run| (0..STEPS).map(move |number| 10 * run + number)).collect()
}

fn durability(how: u64) -> Durability {
    if how & 1 == 0 { Durability::Sync } else { Durability::Async }
}

/// Does nothing on its own. In a process started by [`ProcessKiller`], continues the runs and reports to the journal.
#[test]
fn child_process() {
    let Some(child) = ChildProcess::from_env() else { return };
    child.run_with_manual_clock(async |store, timeline| {
        let thread = graph().with_checkpointer(store).thread("tally");
        let known = thread.state().await.unwrap().and_then(|snapshot| snapshot.state);
        let begun =
            known.and_then(|flow| flow.previous().map(|tally| tally.len() as u32 / STEPS)).unwrap_or(0);
        for run in begun.max(1)..=RUNS {
            let ended = thread.run(run).run_id(format!("run {run}")).durability(durability(child.how));
            let ended = ended.context(timeline.clone()).await.unwrap();
            assert_eq!(ended.value().unwrap(), expected(run));
            timeline.note(format!("ended {run}"));
        }
    });
    child.journal.record("done");
}

/// Kills the processes of one thread until all runs are done. Returns the number of kills.
fn kill_until_done(seed: u64) -> usize {
    let mut killer = ProcessKiller::new("killed_workflows::child_process", seed);
    let how = killer.rng.below(2);
    let mut kills = 0;
    loop {
        let ended = killer.kill(how, 60);
        let about = format!("seed {seed}, {:?}: {:#?}", durability(how), killer.lines);
        let notes = || killer.lines.iter().filter_map(|line| line.split_once(" @")).map(|(note, _)| note);
        for run in 1..=RUNS {
            for number in 0..STEPS {
                let does = format!("does {run}.{number}");
                // A step whose result the function has received is never repeated.
                for has in [format!("has {run}.{number}"), format!("has {run}.all"), format!("ended {run}")] {
                    assert!(never_after(&has, &does, notes()), "{has}, {does}: {about}");
                }
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let state = runtime.block_on(async {
            graph().with_checkpointer(killer.store()).thread("tally").state().await.unwrap()
        });
        let stored = state.and_then(|snapshot| snapshot.state).and_then(|flow| flow.previous().cloned());
        let stored = stored.unwrap_or_default();
        assert!(expected(RUNS).starts_with(&stored), "{stored:?}: {about}");
        let acknowledged = (1..=RUNS).rev().find(|run| notes().any(|note| note == format!("ended {run}")));
        assert!(stored.len() as u32 >= STEPS * acknowledged.unwrap_or(0), "{stored:?}: {about}");
        if ended {
            return kills;
        }
        kills += 1;
    }
}

/// 20 kills, or 200 with `LONG=1`.
#[test]
fn killed_workflow_repeats_no_finished_step() {
    kill_until(scaled(20), kill_until_done);
}
