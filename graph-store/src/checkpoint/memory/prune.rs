use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::line::{LineId, Lines, Pieces};
use super::namespace::{Entry, Namespace};
use super::thread::Thread;
use crate::checkpoint::{CheckpointId, Prune, RecordKey, RecordKind};

impl Thread {
    /// Drops what may go, and gives back how many checkpoints that was.
    pub(super) fn prune(&mut self, prune: &Prune) -> u64 {
        if prune.keep_last.is_none() && prune.older_than.is_none() {
            return 0;
        }
        let goes =
            self.namespaces.iter().map(|(name, namespace)| (Arc::clone(name), namespace.may_go(prune)));
        let mut goes: BTreeMap<Arc<str>, HashSet<CheckpointId>> = goes.collect();
        let stays = self.namespaces.iter().flat_map(|(name, namespace)| {
            let going = goes.get(name);
            namespace
                .entries
                .iter()
                .filter(move |entry| going.is_none_or(|going| !going.contains(&entry.checkpoint.id)))
        });
        let mut needed: Vec<(CheckpointId, Arc<str>)> = stays.flat_map(Entry::needs).collect();
        while let Some((id, name)) = needed.pop() {
            // What it needs in turn is asked once.
            if goes.get_mut(&name).is_some_and(|going| going.remove(&id)) {
                needed.extend(
                    self.namespace(&name)
                        .and_then(|namespace| namespace.entry(id))
                        .into_iter()
                        .flat_map(Entry::needs),
                );
            }
        }
        let dropped = |(name, namespace): (&Arc<str>, &mut Namespace)| {
            goes.get(name).map_or(0, |going| namespace.drop_all(going))
        };
        self.namespaces.iter_mut().map(dropped).sum()
    }
}

impl Namespace {
    /// The checkpoints that may go, if nobody needs them.
    fn may_go(&self, prune: &Prune) -> HashSet<CheckpointId> {
        // The head stays even where nothing of the newest is to be kept.
        let old = self.entries.len().saturating_sub(prune.keep_last.unwrap_or(0).max(1));
        let followed: HashSet<_> = self.entries.iter().filter_map(|entry| entry.checkpoint.parent).collect();
        let goes = self.entries.iter().take(old).filter(|entry| {
            prune.older_than.is_none_or(|time| entry.checkpoint.created_at < time)
                && (followed.contains(&entry.checkpoint.id) || !entry.waits())
        });
        goes.map(|entry| entry.checkpoint.id).collect()
    }

    fn drop_all(&mut self, goes: &HashSet<CheckpointId>) -> u64 {
        let before = self.entries.len();
        self.entries.retain(|entry| !goes.contains(&entry.checkpoint.id));
        let dropped = before - self.entries.len();
        if dropped > 0 {
            self.lines.keep_what_is_seen_from(&self.entries);
        }
        dropped as u64
    }
}

impl Entry {
    /// The checkpoints that it is of no use without, with their namespaces.
    fn needs(&self) -> impl Iterator<Item = (CheckpointId, Arc<str>)> {
        let first = RecordKey { task: RecordKey::NO_TASK, kind: RecordKind::Retained, key: Arc::from("") };
        let needed = self.records.range(first..).filter_map(|(key, _)| key.retained());
        needed.map(|(id, namespace)| (id, Arc::from(namespace)))
    }

    /// Whether it has a question without an answer.
    fn waits(&self) -> bool {
        self.records.keys().any(|question| {
            let answer = RecordKey { kind: RecordKind::Answer, ..question.clone() };
            question.kind == RecordKind::Interrupt && !self.records.contains_key(&answer)
        })
    }
}

impl Lines {
    /// Drops every piece that none of these checkpoints needs.
    fn keep_what_is_seen_from(&mut self, entries: &[Entry]) {
        let mut seen_from: HashMap<LineId, Vec<CheckpointId>> = HashMap::new();
        for entry in entries {
            seen_from.entry(entry.line).or_default().push(entry.checkpoint.id);
        }
        // From the last line to the first: a line that stays is one more point from which its parent is seen.
        let ids: Vec<_> = self.lines.keys().copied().rev().collect();
        for id in ids {
            let Some(mut points) = seen_from.remove(&id) else {
                self.lines.remove(&id);
                continue;
            };
            points.sort_unstable();
            let Some(line) = self.lines.get_mut(&id) else { continue };
            line.fields.retain(|_, pieces| {
                pieces.keep_what_is_seen_from(&points);
                !pieces.all.is_empty()
            });
            if let Some((above, checkpoint)) = line.from {
                seen_from.entry(above).or_default().push(checkpoint);
            }
        }
    }
}

impl Pieces {
    /// A piece is seen from the checkpoints between its own and the next whole value's.
    pub(super) fn keep_what_is_seen_from(&mut self, points: &[CheckpointId]) {
        let old = std::mem::take(self);
        let mut values = old.values.iter().copied().peekable();
        for (index, piece) in old.all.iter().enumerate() {
            while values.next_if(|value| *value <= index).is_some() {}
            let next_value = values.peek().and_then(|value| old.all.get(*value));
            let first = points.get(points.partition_point(|point| *point < piece.checkpoint));
            let seen = first.is_some_and(|point| next_value.is_none_or(|value| *point < value.checkpoint));
            if seen {
                self.push(piece.clone());
            }
        }
    }
}
