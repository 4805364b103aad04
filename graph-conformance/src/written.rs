//! Everything that was ever written, and what it comes to, found in the plainest way there is: from a checkpoint back to
//! the beginning. What a store has made faster must come to the same.

use std::collections::{BTreeMap, HashMap};

use superstep_store::checkpoint::{BatchWrite, ChangeKind, CheckpointId, FieldChange, WriteBatch};

use crate::notation::text;

/// The checkpoints of all namespaces of a thread, also those that were dropped.
type Thread = HashMap<(String, CheckpointId), (Option<CheckpointId>, Vec<FieldChange>)>;

#[derive(Default)]
pub(crate) struct Written {
    threads: HashMap<String, Thread>,
}

impl Written {
    /// A batch was made.
    pub(crate) fn commit(&mut self, batch: &WriteBatch) {
        let thread = self.threads.entry(batch.thread.to_string()).or_default();
        for write in &batch.writes {
            if let BatchWrite::Checkpoint(new) = write {
                let key = (batch.namespace.to_string(), new.checkpoint.id);
                thread.insert(key, (new.checkpoint.parent, new.changes.clone()));
            }
        }
    }

    pub(crate) fn delete(&mut self, thread: &str) {
        self.threads.remove(thread);
    }

    pub(crate) fn copy(&mut self, from: &str, to: &str) {
        let copy = self.threads.get(from).cloned().unwrap_or_default();
        self.threads.insert(to.to_owned(), copy);
    }

    /// The line of a checkpoint: fields by name, of each the last whole value and the deltas since.
    pub(crate) fn line(&self, thread: &str, namespace: &str, checkpoint: CheckpointId) -> String {
        let mut way = Vec::new();
        let mut at = Some(checkpoint);
        while let Some(id) = at
            && let Some((parent, pieces)) =
                self.threads.get(thread).and_then(|thread| thread.get(&(namespace.to_owned(), id)))
        {
            way.push(pieces);
            at = *parent;
        }
        let mut fields: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for piece in way.into_iter().rev().flatten() {
            let words = fields.entry(&piece.field).or_default();
            let sign = match piece.kind {
                ChangeKind::Value => {
                    words.clear();
                    '='
                }
                ChangeKind::Delta => '+',
            };
            words.push(format!("{}{sign}{}", piece.field, text(&piece.payload)));
        }
        fields.into_values().flatten().collect::<Vec<_>>().join(" ")
    }
}
