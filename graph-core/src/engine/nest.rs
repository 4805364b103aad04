//! Where a run is: by itself, or in a task of another run.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::checkpoint::CheckpointId;
use crate::run::Stop;
use crate::stream::Sink;

use super::desk::Answered;
use super::options::{Durability, FailureMode, RunOptions};
use super::persist::Host;

/// What a run has from the run that it is within, and what runs within it have from it.
#[derive(Default)]
pub(crate) struct Nest {
    /// The subgraph nodes around it, outermost first: names as they are.
    pub(crate) path: Arc<[Arc<str>]>,
    /// The options of the run, for those within it.
    pub(crate) options: Inherited,
    /// The thread that it is stored on.
    pub(crate) host: Option<Arc<Host>>,
    /// Whoever listens to the run's stream.
    pub(crate) listeners: Option<Arc<dyn Sink>>,
    /// Answers that came to questions of this run by way of the one around it, by id.
    pub(crate) answers: Arc<HashMap<String, Answered>>,
    /// What ids that are derived from a write begin with, besides the thread: which call of which node this is.
    pub(crate) call: Option<Arc<str>>,
    /// Names that nodes of the graph had before, with their places.
    pub(crate) aliases: Vec<(String, usize)>,
    /// Where signs of life of the tasks around it are counted.
    pub(crate) pulses: Vec<Arc<AtomicU64>>,
    /// By namespace, the checkpoint that a replay goes on from.
    pub(crate) enter: Arc<Mutex<BTreeMap<Arc<str>, CheckpointId>>>,
}

impl Nest {
    /// A sign of life for the tasks around the run.
    #[inline]
    pub(super) fn beat(&self) {
        for pulse in &self.pulses {
            pulse.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lets calls go on from these checkpoints, each the first in its namespace.
    pub(crate) fn goes_in(&mut self, enter: BTreeMap<Arc<str>, CheckpointId>) {
        self.enter = Arc::new(Mutex::new(enter));
    }

    /// Where the next call in this namespace goes on from, once.
    pub(super) fn enter(&self, namespace: &str) -> Option<CheckpointId> {
        self.enter.lock().unwrap_or_else(PoisonError::into_inner).remove(namespace)
    }
}

/// The options that a run shares with those within it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inherited {
    pub(crate) recursion_limit: u64,
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) failure_mode: Option<FailureMode>,
    pub(crate) durability: Durability,
    pub(crate) stop: Option<Stop>,
    pub(crate) longest_sleep: Option<Duration>,
}

impl Inherited {
    pub(crate) fn of(options: &RunOptions) -> Self {
        Self {
            recursion_limit: options.recursion_limit,
            max_concurrency: options.max_concurrency,
            failure_mode: options.failure_mode,
            durability: options.durability,
            stop: options.stop.clone(),
            longest_sleep: options.longest_sleep,
        }
    }

    /// The options of a run within.
    pub(crate) fn options(&self, recursion_limit: Option<u64>) -> RunOptions {
        RunOptions {
            recursion_limit: recursion_limit.unwrap_or(self.recursion_limit),
            max_concurrency: self.max_concurrency,
            failure_mode: self.failure_mode,
            durability: self.durability,
            stop: self.stop.clone(),
            longest_sleep: self.longest_sleep,
            ..RunOptions::default()
        }
    }
}
