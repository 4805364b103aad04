use std::collections::{HashMap, HashSet};

use super::line::{LineId, Lines, Pieces};
use super::namespace::{Entry, Namespace};
use crate::checkpoint::{CheckpointId, Prune, RecordKey, RecordKind};

impl Namespace {
    /// Drops what may go, and gives back how many checkpoints that was.
    pub(super) fn prune(&mut self, prune: &Prune) -> u64 {
        if prune.keep_last.is_none() && prune.older_than.is_none() {
            return 0;
        }
        // The head stays even where nothing of the newest is to be kept.
        let old = self.entries.len().saturating_sub(prune.keep_last.unwrap_or(0).max(1));
        let followed: HashSet<_> = self.entries.iter().filter_map(|entry| entry.checkpoint.parent).collect();
        let mut index = 0;
        let before = self.entries.len();
        self.entries.retain(|entry| {
            index += 1;
            let goes = index <= old
                && prune.older_than.is_none_or(|time| entry.checkpoint.created_at < time)
                && (followed.contains(&entry.checkpoint.id) || !entry.waits());
            !goes
        });
        let dropped = before - self.entries.len();
        if dropped > 0 {
            self.lines.keep_what_is_seen_from(&self.entries);
        }
        dropped as u64
    }
}

impl Entry {
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
