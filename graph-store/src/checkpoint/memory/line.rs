//! Where a namespace keeps what its checkpoints wrote, so that neither a write nor a read looks at the history.
//!
//! Checkpoints that follow one another are a *line*. A line has, for each field that was written in it, all its pieces in
//! order, and says which of them are whole values: the pieces that a checkpoint sees are a slice, found by two binary
//! searches. A checkpoint whose parent is not the last of its line begins another one, which goes on reading in its parent's
//! up to where it left it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::checkpoint::{ChangeKind, CheckpointId, FieldChange, StoredChange, StoredField};

/// A line that would have so many above it takes copies of what it can see instead: a read looks at no more.
const DEPTH: u32 = 16;

pub(super) type LineId = u64;

/// The lines of a namespace. A line's number is greater than that of the one it comes from.
#[derive(Clone, Default)]
pub(super) struct Lines {
    pub(super) lines: BTreeMap<LineId, Line>,
    next: LineId,
}

#[derive(Clone)]
pub(super) struct Line {
    /// The line that this one comes from, and the last checkpoint that they have in common.
    pub(super) from: Option<(LineId, CheckpointId)>,
    depth: u32,
    tip: Option<CheckpointId>,
    pub(super) fields: HashMap<Cow<'static, str>, Pieces>,
}

/// The pieces of one field in one line, oldest first.
#[derive(Clone, Default)]
pub(super) struct Pieces {
    pub(super) all: Vec<StoredChange>,
    /// Where in `all` there is a whole value.
    pub(super) values: Vec<usize>,
}

impl Pieces {
    pub(super) fn push(&mut self, piece: StoredChange) {
        if piece.kind == ChangeKind::Value {
            self.values.push(self.all.len());
        }
        self.all.push(piece);
    }

    /// What a checkpoint sees of them, and whether that begins with a whole value.
    fn seen_from(&self, checkpoint: CheckpointId) -> (&[StoredChange], bool) {
        let end = self.all.partition_point(|piece| piece.checkpoint <= checkpoint);
        let values = self.values.partition_point(|value| *value < end);
        let value = values.checked_sub(1).and_then(|last| self.values.get(last));
        let seen = self.all.get(value.copied().unwrap_or(0)..end).unwrap_or_default();
        (seen, value.is_some())
    }
}

impl Lines {
    /// The line of a checkpoint that follows `parent`: the parent's, if nothing else has followed it yet, or a new one.
    pub(super) fn after(&mut self, parent: Option<(LineId, CheckpointId)>) -> LineId {
        let above = parent.and_then(|(line, _)| self.lines.get(&line));
        if let Some((id, line)) = parent.zip(above)
            && line.tip == Some(id.1)
        {
            return id.0;
        }
        let depth = above.map_or(0, |line| line.depth + 1);
        let line = match parent.filter(|_| depth > DEPTH) {
            Some((above, checkpoint)) => {
                let fields = self.fields(above, checkpoint).into_iter().map(
                    |StoredField { field, changes: pieces }| {
                        let mut copied = Pieces::default();
                        pieces.into_iter().for_each(|piece| copied.push(piece));
                        (Cow::Owned(field), copied)
                    },
                );
                Line { from: None, depth: 0, tip: None, fields: fields.collect() }
            }
            None => Line { from: parent, depth, tip: None, fields: HashMap::new() },
        };
        let id = self.next;
        self.next += 1;
        self.lines.insert(id, line);
        id
    }

    /// Adds what a checkpoint wrote, as the last of a line.
    pub(super) fn append(&mut self, line: LineId, checkpoint: CheckpointId, pieces: Vec<FieldChange>) {
        let Some(line) = self.lines.get_mut(&line) else { return };
        line.tip = Some(checkpoint);
        for FieldChange { field, kind, payload } in pieces {
            line.fields.entry(field).or_default().push(StoredChange { checkpoint, kind, payload });
        }
    }

    /// Every field that a checkpoint of a line can see.
    pub(super) fn fields(&self, line: LineId, checkpoint: CheckpointId) -> Vec<StoredField> {
        // For each field the slices of the lines upwards, and whether a whole value has ended the search.
        let mut found: HashMap<&str, (Vec<&[StoredChange]>, bool)> = HashMap::new();
        let mut at = Some((line, checkpoint));
        while let Some((line, checkpoint)) = at
            && let Some(line) = self.lines.get(&line)
        {
            for (field, pieces) in &line.fields {
                let (seen, whole) = pieces.seen_from(checkpoint);
                if seen.is_empty() {
                    continue;
                }
                let (slices, done) = found.entry(field).or_default();
                if !*done {
                    slices.push(seen);
                    *done = whole;
                }
            }
            at = line.from;
        }
        found
            .into_iter()
            .map(|(field, (slices, _))| StoredField {
                field: field.to_owned(),
                changes: slices.into_iter().rev().flatten().cloned().collect(),
            })
            .collect()
    }
}
