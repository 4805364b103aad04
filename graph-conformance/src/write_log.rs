//! A log of all writes. It computes the fields of a checkpoint in the simplest way: by walking back from the
//! checkpoint to its first ancestor.

use std::collections::{BTreeMap, HashMap};

use superstep_store::checkpoint::{BatchWrite, ChangeKind, CheckpointId, FieldChange, WriteBatch};

use crate::shorthand::payload_text;

/// The parents and changes of all checkpoints of a thread, including pruned ones.
type Thread = HashMap<(String, CheckpointId), (Option<CheckpointId>, Vec<FieldChange>)>;

#[derive(Default)]
pub(crate) struct WriteLog {
    threads: HashMap<String, Thread>,
}

impl WriteLog {
    /// Adds a committed batch.
    pub(crate) fn commit(&mut self, batch: &WriteBatch) {
        let thread = self.threads.entry(batch.thread.to_string()).or_default();
        for write in &batch.writes {
            match write {
                BatchWrite::Checkpoint(new) => {
                    let key = (batch.namespace.to_string(), new.checkpoint.id);
                    thread.insert(key, (new.checkpoint.parent, new.changes.clone()));
                }
                BatchWrite::RollBack { namespace, to, .. } => {
                    thread.retain(|(name, id), _| **name != **namespace || Some(*id) <= *to);
                }
                BatchWrite::Records { .. } => {}
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

    /// Returns the fields of a checkpoint in shorthand: by name, each with the last whole value and later deltas.
    pub(crate) fn fields_at(&self, thread: &str, namespace: &str, checkpoint: CheckpointId) -> String {
        let mut path = Vec::new();
        let mut at = Some(checkpoint);
        while let Some(id) = at
            && let Some((parent, changes)) =
                self.threads.get(thread).and_then(|thread| thread.get(&(namespace.to_owned(), id)))
        {
            path.push(changes);
            at = *parent;
        }
        let mut fields: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for change in path.into_iter().rev().flatten() {
            let words = fields.entry(&change.field).or_default();
            let sign = match change.kind {
                ChangeKind::Value => {
                    words.clear();
                    '='
                }
                ChangeKind::Delta => '+',
            };
            words.push(format!("{}{sign}{}", change.field, payload_text(&change.payload)));
        }
        fields.into_values().flatten().collect::<Vec<_>>().join(" ")
    }
}
