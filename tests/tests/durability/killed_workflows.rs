//! Processes that are killed while the function of a workflow runs.

use superstep::workflow::{Flow, Workflow};
use superstep::{ContextWith, Durability, Graph, NodeError, Result};

use crate::instants::{World, never_after};
use crate::processes::{Here, Victim, kills, wanted};

const RUNS: u32 = 3;
const STEPS: u32 = 5;

async fn tally(run: &u32, previous: Option<&Vec<u32>>, world: &ContextWith<World>) -> Result<Vec<u32>> {
    let step = |number: u32| {
        let does = async move {
            world.context().note(format!("does {run}.{number}"));
            tokio::task::yield_now().await;
            Ok::<_, NodeError>(10 * run + number)
        };
        world.step(&format!("{run}.{number}"), does)
    };
    let mut tally = previous.cloned().unwrap_or_default();
    tally.push(step(0).await?);
    world.context().note(format!("has {run}.0"));
    tally.extend(world.steps((1..STEPS).map(step)).at_most(2).await?);
    world.context().note(format!("has {run}.all"));
    Ok(tally)
}

fn graph() -> Graph<Flow<u32, Vec<u32>>, World> {
    Workflow::with_context(tally).compile().unwrap()
}

fn expected(runs: u32) -> Vec<u32> {
    (1..=runs).flat_map(|run| (0..STEPS).map(move |number| 10 * run + number)).collect()
}

fn durability(how: u64) -> Durability {
    if how & 1 == 0 { Durability::Sync } else { Durability::Async }
}

/// Does nothing by itself. In a process that [`Victim`] has started, goes on with the runs and tells the truth.
#[test]
fn in_another_process() {
    let Some(here) = Here::find() else { return };
    here.by_the_clock(async |store, world| {
        let thread = graph().with_checkpointer(store).thread("tally");
        let known = thread.state().await.unwrap().and_then(|snapshot| snapshot.state);
        let begun =
            known.and_then(|flow| flow.previous().map(|tally| tally.len() as u32 / STEPS)).unwrap_or(0);
        for run in begun.max(1)..=RUNS {
            let ended = thread.run(run).run_id(format!("run {run}")).durability(durability(here.how));
            let ended = ended.context(world.clone()).await.unwrap();
            assert_eq!(ended.value().unwrap(), expected(run));
            world.note(format!("ended {run}"));
        }
    });
    here.truth.tell("done");
}

/// Kills the processes of one thread until all runs are done; how many it took.
fn until_it_is_done(seed: u64) -> usize {
    let mut victim = Victim::new("killed_workflows::in_another_process", seed);
    let how = victim.dice.roll(2);
    let mut kills = 0;
    loop {
        let ended = victim.kill(how, 60);
        let about = format!("seed {seed}, {:?}: {:#?}", durability(how), victim.lines);
        let notes = || victim.lines.iter().filter_map(|line| line.split_once(" @")).map(|(note, _)| note);
        for run in 1..=RUNS {
            for number in 0..STEPS {
                let does = format!("does {run}.{number}");
                // What the function has had, alone or with all others, is never done again.
                for has in [format!("has {run}.{number}"), format!("has {run}.all"), format!("ended {run}")] {
                    assert!(never_after(&has, &does, notes()), "{has}, {does}: {about}");
                }
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let state = runtime.block_on(async {
            graph().with_checkpointer(victim.store()).thread("tally").state().await.unwrap()
        });
        let had = state.and_then(|snapshot| snapshot.state).and_then(|flow| flow.previous().cloned());
        let had = had.unwrap_or_default();
        assert!(expected(RUNS).starts_with(&had), "{had:?}: {about}");
        let acknowledged = (1..=RUNS).rev().find(|run| notes().any(|note| note == format!("ended {run}")));
        assert!(had.len() as u32 >= STEPS * acknowledged.unwrap_or(0), "{had:?}: {about}");
        if ended {
            return kills;
        }
        kills += 1;
    }
}

/// `LONG=1` makes it 200.
#[test]
fn functions_whose_processes_are_killed_go_on_and_take_no_step_again_that_they_had() {
    kills(wanted(20), until_it_is_done);
}
