//! Processes that are killed while a node waits for its next attempt, sleeps, or has its error handled.

use std::time::Duration;

use superstep::{Durability, Graph, Outcome};

use crate::instants::{TICK, World};
use crate::policies::{HOUR, Job, SLEEP, alone, called, is_kept, with_sibling};
use crate::processes::{Here, Victim, kills, wanted};

/// The graphs, with what they come to.
fn job(which: u64) -> (Graph<Job, World>, &'static [&'static str]) {
    match which % 4 {
        0 => (alone(HOUR), &["first", "rescued from 2", "last"]),
        1 => (with_sibling(HOUR), &["first", "rescued from 2", "beside", "last"]),
        2 => (called(alone(HOUR)), &["first", "first", "rescued from 2", "last", "last"]),
        _ => (called(with_sibling(HOUR)), &["first", "first", "rescued from 2", "beside", "last", "last"]),
    }
}

fn durability(how: u64) -> Durability {
    if how & 1 == 0 { Durability::Sync } else { Durability::Async }
}

/// Does nothing by itself. In a process that [`Victim`] has started, goes on with the job and tells the truth.
#[test]
fn in_another_process() {
    let Some(here) = Here::find() else { return };
    let (graph, log) = job(here.how >> 2);
    here.by_the_clock(async |store, world| {
        let thread = graph.with_checkpointer(store).thread("job");
        loop {
            let mut run = thread.run(Job::input()).run_id("once").durability(durability(here.how));
            if here.how & 2 != 0 {
                run = run.suspend_sleeps_longer_than(HOUR / 2);
            }
            match run.context(world.clone()).await.unwrap() {
                Outcome::Done(state) => {
                    assert_eq!(state.log, log);
                    return;
                }
                // Gone on with too early, which sends it back to sleep, and again once the time has come.
                Outcome::Interrupted(pause) => {
                    let wakes_at = pause.wakes_at().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
                    world.note(format!("left until {}", wakes_at.as_millis()));
                    tokio::time::sleep(TICK).await;
                }
            }
        }
    });
    here.truth.tell("done");
}

/// Something that is waited for: until when, and whether that is known to be durable.
#[derive(Default)]
struct Wait {
    until: Option<u64>,
    known: bool,
}

impl Wait {
    /// It begins, unless it is known to have begun.
    fn begins(&mut self, now: u64, wait: Duration) {
        if !self.known {
            self.until = Some(now + u64::try_from(wait.as_millis()).unwrap());
        }
    }

    /// It is over, not before its time, and not later than whoever waits can know.
    fn is_over(&self, now: u64, begun: u64, about: &str) {
        let until = self.until.unwrap();
        let tick = u64::try_from(TICK.as_millis()).unwrap();
        assert!(now + 1 >= until && now <= until.max(begun) + 2 * tick, "{about}: {until}, {now}, {begun}");
    }

    fn dies(&mut self) {
        if !self.known {
            *self = Self::default();
        }
    }
}

/// Holds what was told to what was promised of times.
fn waits_are_waited_for_once(lines: &[(&str, u64)], about: &str) {
    let (mut begun, mut next, mut sleep) = (0, Wait::default(), Wait::default());
    for &(note, now) in lines {
        match note {
            "begun" => {
                begun = now;
                next.dies();
                sleep.dies();
            }
            // The clock moves once the store has nothing to do any more.
            "tick" => (next.known, sleep.known) = (next.until.is_some(), sleep.until.is_some()),
            "failed 1" => next.begins(now, HOUR),
            "attempt 1" => assert!(!next.known, "{about}"),
            "attempt 2" if next.until.is_some() => next.is_over(now, begun, about),
            "asleep" => sleep.begins(now, SLEEP),
            "awake" => sleep.is_over(now, begun, about),
            _ => {
                if let Some(left) = note.strip_prefix("left until ") {
                    let left: u64 = left.parse().unwrap();
                    let until = sleep.until.or(next.until).unwrap();
                    assert!(left.abs_diff(until) <= 1, "{about}: left until {left}, not {until}");
                    (next.known, sleep.known) = (next.until.is_some(), sleep.until.is_some());
                }
            }
        }
    }
}

/// Kills the processes of one thread until the job is done; how many it took.
fn until_it_is_done(seed: u64) -> usize {
    let mut victim = Victim::new("killed_waiting::in_another_process", seed);
    let how = victim.dice.roll(16);
    let mut kills = 0;
    loop {
        let ended = victim.kill(how, 40);
        let about = format!("seed {seed}, {how}: {:#?}", victim.lines);
        let notes = victim.lines.iter().filter_map(|line| line.split_once(" @"));
        let notes: Vec<(&str, u64)> = notes.map(|(note, at)| (note, at.parse().unwrap())).collect();
        is_kept(notes.iter().map(|(note, _)| *note), durability(how), &about);
        waits_are_waited_for_once(&notes, &about);
        if ended {
            return kills;
        }
        kills += 1;
        // The next process begins at once, or some time later.
        let last = notes.last().map_or(victim.clock, |(_, at)| *at);
        victim.clock = last + 30 * 60 * 1_000 * victim.dice.roll(4);
    }
}

/// `LONG=1` makes it 200.
#[test]
fn waits_sleeps_and_handlers_go_on_in_the_next_process() {
    kills(wanted(20), until_it_is_done);
}
