//! The journal: events that really happened, one line each, recorded outside of every store.
//!
//! - `ran <superstep> <node>`: a node started.
//! - `stepped <superstep> <node>`: its durable step was done. `kept …`: the node has received the step's result.
//! - `planned <checkpoint> <step> <nodes>`: a checkpoint was read. `stored …`: a store acknowledged it.
//! - `finished <checkpoint> <task>`: a store acknowledged a task's result.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// Receives the lines of a journal.
pub(crate) struct Journal(Box<dyn Fn(String) + Send + Sync>);

impl Journal {
    pub(crate) fn with_listener(listener: impl Fn(String) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self(Box::new(listener)))
    }

    /// Creates a journal in this process.
    pub(crate) fn in_memory() -> (Arc<Self>, Arc<Lines>) {
        let lines = Arc::new(Lines::default());
        let sink = Arc::clone(&lines);
        (Self::with_listener(move |line| sink.0.lock().unwrap().push(line)), lines)
    }

    pub(crate) fn record(&self, line: impl Into<String>) {
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

/// Asserts for a thread without forks that durable work was not repeated.
pub(crate) fn assert_no_durable_work_repeats(lines: &[String], about: &str) {
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
                // A finished task without a plan is the input.
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

/// Returns the acknowledged checkpoints.
pub(crate) fn acknowledged(lines: &[String]) -> HashSet<String> {
    let word = |line: &String, at: usize| line.split(' ').nth(at).unwrap_or_default().to_owned();
    lines
        .iter()
        .filter(|line| ["stored", "event"].contains(&&*word(line, 0)))
        .map(|line| word(line, 1))
        .collect()
}
