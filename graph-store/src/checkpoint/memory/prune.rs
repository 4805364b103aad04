use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::branch::{BranchId, Branches, FieldHistory};
use super::namespace::{Entry, Namespace};
use super::thread::Thread;
use crate::checkpoint::{CheckpointId, Prune, RecordKey, RecordKind};

impl Thread {
    /// Drops checkpoints and returns their number.
    pub(super) fn prune(&mut self, prune: &Prune) -> u64 {
        if prune.keep_last.is_none() && prune.older_than.is_none() {
            return 0;
        }
        let candidates =
            self.namespaces.iter().map(|(name, namespace)| (Arc::clone(name), namespace.candidates(prune)));
        let mut candidates: BTreeMap<Arc<str>, HashSet<CheckpointId>> = candidates.collect();
        let remaining = self.namespaces.iter().flat_map(|(name, namespace)| {
            let dropped = candidates.get(name);
            namespace
                .entries
                .iter()
                .filter(move |entry| dropped.is_none_or(|dropped| !dropped.contains(&entry.checkpoint.id)))
        });
        let mut retained: Vec<(CheckpointId, Arc<str>)> = remaining.flat_map(Entry::retained).collect();
        while let Some((id, name)) = retained.pop() {
            // Each checkpoint is removed from the candidates once, so its own retained checkpoints are visited once.
            if candidates.get_mut(&name).is_some_and(|dropped| dropped.remove(&id)) {
                retained.extend(
                    self.namespace(&name)
                        .and_then(|namespace| namespace.entry(id))
                        .into_iter()
                        .flat_map(Entry::retained),
                );
            }
        }
        let drop_from = |(name, namespace): (&Arc<str>, &mut Namespace)| {
            candidates.get(name).map_or(0, |dropped| namespace.remove_all(dropped))
        };
        self.namespaces.iter_mut().map(drop_from).sum()
    }
}

impl Namespace {
    /// Returns the checkpoints to drop, unless a remaining checkpoint retains them.
    fn candidates(&self, prune: &Prune) -> HashSet<CheckpointId> {
        // The head stays even with `keep_last: Some(0)`.
        let old = self.entries.len().saturating_sub(prune.keep_last.unwrap_or(0).max(1));
        let followed: HashSet<_> = self.entries.iter().filter_map(|entry| entry.checkpoint.parent).collect();
        let candidates = self.entries.iter().take(old).filter(|entry| {
            prune.older_than.is_none_or(|time| entry.checkpoint.created_at < time)
                && (followed.contains(&entry.checkpoint.id) || !entry.has_open_interrupt())
        });
        candidates.map(|entry| entry.checkpoint.id).collect()
    }

    fn remove_all(&mut self, dropped: &HashSet<CheckpointId>) -> u64 {
        let is_dropped = |entry: &mut Entry| dropped.contains(&entry.checkpoint.id);
        let removed: Vec<_> = self.entries.extract_if(.., is_dropped).collect();
        let count = removed.len();
        if count > 0 {
            for entry in &removed {
                self.forget_requests(entry);
            }
            self.branches.retain_visible_at(&self.entries);
        }
        count as u64
    }
}

impl Entry {
    /// Returns the checkpoints that this one retains, with their namespaces.
    fn retained(&self) -> impl Iterator<Item = (CheckpointId, Arc<str>)> {
        let first = RecordKey { task: RecordKey::NO_TASK, kind: RecordKind::Retained, key: Arc::from("") };
        let retained = self.records.range(first..).filter_map(|(key, _)| key.retained());
        retained.map(|(id, namespace)| (id, Arc::from(namespace)))
    }

    /// Returns `true` if the checkpoint has an interrupt without an answer.
    fn has_open_interrupt(&self) -> bool {
        self.records.keys().any(|interrupt| {
            let answer = RecordKey { kind: RecordKind::Answer, ..interrupt.clone() };
            interrupt.kind == RecordKind::Interrupt && !self.records.contains_key(&answer)
        })
    }
}

impl Branches {
    /// Drops every change that none of these checkpoints sees.
    fn retain_visible_at(&mut self, entries: &[Entry]) {
        let mut visible_at: HashMap<BranchId, Vec<CheckpointId>> = HashMap::new();
        for entry in entries {
            visible_at.entry(entry.branch).or_default().push(entry.checkpoint.id);
        }
        // From the last branch to the first: a branch that stays reads in its parent at the checkpoint where it starts.
        let ids: Vec<_> = self.branches.keys().copied().rev().collect();
        for id in ids {
            let Some(mut points) = visible_at.remove(&id) else {
                self.branches.remove(&id);
                continue;
            };
            points.sort_unstable();
            let Some(branch) = self.branches.get_mut(&id) else { continue };
            branch.fields.retain(|_, history| {
                history.retain_visible_at(&points);
                !history.changes.is_empty()
            });
            if let Some((parent, checkpoint)) = branch.parent {
                visible_at.entry(parent).or_default().push(checkpoint);
            }
        }
    }
}

impl FieldHistory {
    /// Drops every change that no checkpoint in `points` sees.
    ///
    /// A change is visible at its own checkpoint and at those after it, up to the next whole value.
    pub(super) fn retain_visible_at(&mut self, points: &[CheckpointId]) {
        let old = std::mem::take(self);
        let mut values = old.value_positions.iter().copied().peekable();
        for (index, change) in old.changes.iter().enumerate() {
            while values.next_if(|value| *value <= index).is_some() {}
            let next_value = values.peek().and_then(|value| old.changes.get(*value));
            let first = points.get(points.partition_point(|point| *point < change.checkpoint));
            let visible = first.is_some_and(|point| next_value.is_none_or(|value| *point < value.checkpoint));
            if visible {
                self.push(change.clone());
            }
        }
    }
}
