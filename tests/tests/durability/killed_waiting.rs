//! Processes that are killed during a backoff, a sleep or an error handler.

use std::time::Duration;

use superstep::{Durability, Graph, Outcome};

use crate::crashes::{TICK, Timeline};
use crate::policies::{HOUR, Job, SLEEP, alone, assert_durable_work_is_kept, called, with_sibling};
use crate::processes::{ChildProcess, ProcessKiller, kill_until, scaled};

/// The graphs and their final logs.
fn job(which: u64) -> (Graph<Job, Timeline>, &'static [&'static str]) {
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

/// Does nothing on its own. In a process started by [`ProcessKiller`], continues the job and reports to the journal.
#[test]
fn child_process() {
    let Some(child) = ChildProcess::from_env() else { return };
    let (graph, log) = job(child.how >> 2);
    child.run_with_manual_clock(async |store, timeline| {
        let thread = graph.with_checkpointer(store).thread("job");
        loop {
            let mut run = thread.run(Job::input()).run_id("once").durability(durability(child.how));
            if child.how & 2 != 0 {
                run = run.suspend_sleeps_longer_than(HOUR / 2);
            }
            match run.context(timeline.clone()).await.unwrap() {
                Outcome::Done(state) => {
                    assert_eq!(state.log, log);
                    return;
                }
                // The first resume is too early and sleeps again. A later one finds that the time has come.
                Outcome::Interrupted(pause) => {
                    let wakes_at = pause.wakes_at().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
                    timeline.note(format!("left until {}", wakes_at.as_millis()));
                    tokio::time::sleep(TICK).await;
                }
            }
        }
    });
    child.journal.record("done");
}

/// A backoff or sleep: its end, and `true` if it is known to be durable.
#[derive(Default)]
struct Wait {
    until: Option<u64>,
    known: bool,
}

impl Wait {
    /// Starts the wait, unless it is known to have started.
    fn start(&mut self, now: u64, wait: Duration) {
        if !self.known {
            self.until = Some(now + u64::try_from(wait.as_millis()).unwrap());
        }
    }

    /// Asserts that the wait ends in time: not early, and at most two ticks late.
    fn assert_ends_in_time(&self, now: u64, begun: u64, about: &str) {
        let until = self.until.unwrap();
        let tick = u64::try_from(TICK.as_millis()).unwrap();
        assert!(now + 1 >= until && now <= until.max(begun) + 2 * tick, "{about}: {until}, {now}, {begun}");
    }

    fn forget_unless_known(&mut self) {
        if !self.known {
            *self = Self::default();
        }
    }
}

/// Asserts the promised times of backoffs and sleeps.
fn assert_waits_happen_once(lines: &[(&str, u64)], about: &str) {
    let (mut begun, mut next, mut sleep) = (0, Wait::default(), Wait::default());
    for &(note, now) in lines {
        match note {
            "begun" => {
                begun = now;
                next.forget_unless_known();
                sleep.forget_unless_known();
            }
            // The clock moves only while the store is idle.
            "tick" => (next.known, sleep.known) = (next.until.is_some(), sleep.until.is_some()),
            "failed 1" => next.start(now, HOUR),
            "attempt 1" => assert!(!next.known, "{about}"),
            "attempt 2" if next.until.is_some() => next.assert_ends_in_time(now, begun, about),
            "asleep" => sleep.start(now, SLEEP),
            "awake" => sleep.assert_ends_in_time(now, begun, about),
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

/// Kills the processes of one thread until the job is done. Returns the number of kills.
fn kill_until_done(seed: u64) -> usize {
    let mut killer = ProcessKiller::new("killed_waiting::child_process", seed);
    let how = killer.rng.below(16);
    let mut kills = 0;
    loop {
        let ended = killer.kill(how, 40);
        let about = format!("seed {seed}, {how}: {:#?}", killer.lines);
        let notes = killer.lines.iter().filter_map(|line| line.split_once(" @"));
        let notes: Vec<(&str, u64)> = notes.map(|(note, at)| (note, at.parse().unwrap())).collect();
        assert_durable_work_is_kept(notes.iter().map(|(note, _)| *note), durability(how), &about);
        assert_waits_happen_once(&notes, &about);
        if ended {
            return kills;
        }
        kills += 1;
        // The next process starts at once or later.
        let last = notes.last().map_or(killer.clock, |(_, at)| *at);
        killer.clock = last + 30 * 60 * 1_000 * killer.rng.below(4);
    }
}

/// 20 kills, or 200 with `LONG=1`.
#[test]
fn backoffs_sleeps_and_handlers_continue_in_the_next_process() {
    kill_until(scaled(20), kill_until_done);
}
