use std::collections::{HashMap, HashSet, VecDeque};

use super::places::{Places, Source};
use crate::protocol::{RunId, Timestamp};
use crate::records::WebhookRecord;

/// A result that waits for a place.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) due: Timestamp,
    pub(super) run: RunId,
    sources: Vec<Source>,
}

/// The results that are due and for which there was no place, by the host or the identity that is full.
///
/// Without it, every call that ends would read all of them again.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    queues: HashMap<Source, VecDeque<Waiter>>,
    runs: HashSet<RunId>,
}

/// The maximum number of results that are remembered. The others are read again.
const MAX_WAITING: usize = 100_000;

impl Waiting {
    /// Remembers a result, unless it is known. Returns `false` if there are too many.
    pub(super) fn add(&mut self, webhook: &WebhookRecord, full: &Source) -> bool {
        if self.runs.contains(&webhook.run_id) {
            return true;
        }
        if self.runs.len() >= MAX_WAITING {
            return false;
        }
        self.runs.insert(webhook.run_id);
        let waiter = Waiter { due: webhook.due, run: webhook.run_id, sources: Source::of(webhook) };
        self.queues.entry(full.clone()).or_default().push_back(waiter);
        true
    }

    /// Removes the next result for which there is a place. Only the queues of sources that have room are looked at.
    pub(super) fn next(&mut self, places: &Places) -> Option<Waiter> {
        let mut ready: Vec<Source> = self.queues.keys().cloned().collect();
        ready.retain(|source| places.full(std::slice::from_ref(source)).is_none());
        for source in ready {
            while let Some(waiter) = self.queues.get_mut(&source).and_then(VecDeque::pop_front) {
                if let Some(full) = places.full(&waiter.sources) {
                    // It is the other source, because this one has room.
                    let full = full.clone();
                    self.queues.entry(full).or_default().push_back(waiter);
                    continue;
                }
                self.runs.remove(&waiter.run);
                return Some(waiter);
            }
            self.queues.remove(&source);
        }
        None
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
