//! The memory of truth: what really happened, told line by line, outside of every store.
//!
//! - `ran <superstep> <node>`: a node began.
//! - `stepped <superstep> <node>`: its durable step was really done; `kept …`: the node had the result in its hands.
//! - `planned <checkpoint> <step> <nodes>`: what somebody read of a checkpoint; `stored …`: a store acknowledged one.
//! - `finished <checkpoint> <task>`: a store acknowledged a task's result.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// Where the truth is told.
pub(crate) struct Truth(Box<dyn Fn(String) + Send + Sync>);

impl Truth {
    pub(crate) fn told_to(listener: impl Fn(String) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self(Box::new(listener)))
    }

    /// A truth that is kept in this process.
    pub(crate) fn kept() -> (Arc<Self>, Arc<Lines>) {
        let lines = Arc::new(Lines::default());
        let to = Arc::clone(&lines);
        (Self::told_to(move |line| to.0.lock().unwrap().push(line)), lines)
    }

    pub(crate) fn tell(&self, line: impl Into<String>) {
        (self.0)(line.into());
    }
}

#[derive(Default)]
pub(crate) struct Lines(Mutex<Vec<String>>);

impl Lines {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Holds lines about one thread without branches to what was promised: nothing that was durable was done again.
pub(crate) fn nothing_durable_is_done_again(lines: &[String], about: &str) {
    let mut plans: HashMap<&str, (u64, Vec<&str>)> = HashMap::new();
    let mut finished: HashSet<(u64, &str)> = HashSet::new();
    let mut kept: HashSet<(u64, &str)> = HashSet::new();
    let mut applied = 0;
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            [word @ ("planned" | "stored"), id, step, next] => {
                let superstep = u64::try_from(step.parse::<i64>().unwrap() + 1).unwrap();
                plans.insert(id, (superstep, next.split(',').collect()));
                if word == "stored" {
                    applied = applied.max(superstep.saturating_sub(1));
                }
            }
            ["finished", id, task] => {
                // A task before anything is planned is the input.
                let Some((superstep, next)) = plans.get(id) else {
                    panic!("{about}: {id} was planned by nobody")
                };
                finished.insert((*superstep, next[task.parse::<usize>().unwrap()]));
            }
            ["ran", superstep, node] => {
                let superstep = superstep.parse().unwrap();
                assert!(superstep > applied, "{about}: `{line}` after superstep {applied} was stored");
                assert!(
                    !finished.contains(&(superstep, node)),
                    "{about}: `{line}` after its result was stored"
                );
            }
            ["kept", superstep, node] => {
                kept.insert((superstep.parse().unwrap(), node));
            }
            ["stepped", superstep, node] => {
                let at = (superstep.parse().unwrap(), node);
                assert!(!kept.contains(&at), "{about}: `{line}` after its result was stored");
            }
            _ => {}
        }
    }
}

/// The checkpoints that a store has acknowledged.
pub(crate) fn acknowledged(lines: &[String]) -> HashSet<String> {
    let word = |line: &String, at: usize| line.split(' ').nth(at).unwrap_or_default().to_owned();
    lines
        .iter()
        .filter(|line| ["stored", "event"].contains(&&*word(line, 0)))
        .map(|line| word(line, 1))
        .collect()
}
