use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::namespace::Namespace;
use crate::checkpoint::{BatchWrite, CheckpointError, CheckpointId, WriteBatch};

/// The namespaces of a thread.
pub(super) type Namespaces = BTreeMap<Arc<str>, Namespace>;

/// Checks that all writes of a batch are valid. Each write sees the writes before it.
pub(super) fn check(stored: &Namespaces, batch: &WriteBatch) -> Result<(), CheckpointError> {
    let head = stored.get(&batch.namespace).and_then(Namespace::head_id);
    let added = Vec::with_capacity(batch.writes.len());
    let mut state = BatchState { stored, batch, head, added, rolled_back: HashMap::new() };
    let invalid = |reason: String| CheckpointError::invalid(batch.thread.clone(), reason);
    batch.writes.iter().try_for_each(|write| state.check(write).map_err(invalid))
}

/// The checkpoints that exist at this point of a batch.
struct BatchState<'a> {
    stored: &'a Namespaces,
    batch: &'a WriteBatch,
    /// The head of the batch's namespace.
    head: Option<CheckpointId>,
    /// The checkpoints that the batch has added, in order.
    added: Vec<CheckpointId>,
    /// The namespaces that the batch has rolled back. Stored checkpoints after these ids no longer exist.
    rolled_back: HashMap<&'a str, Option<CheckpointId>>,
}

impl<'a> BatchState<'a> {
    fn check(&mut self, write: &'a BatchWrite) -> Result<(), String> {
        let namespace = &*self.batch.namespace;
        match write {
            BatchWrite::Checkpoint(new) => {
                let (id, parent) = (new.checkpoint.id, new.checkpoint.parent);
                if let Some(head) = self.head.filter(|head| *head >= id) {
                    return Err(format!("checkpoint {id} does not sort after {head}"));
                }
                if let Some(parent) = parent.filter(|parent| !self.exists(namespace, *parent)) {
                    return Err(format!("checkpoint {id} follows {parent}, which does not exist"));
                }
                self.head = Some(id);
                self.added.push(id);
            }
            BatchWrite::Records { checkpoint, .. } => {
                if !self.exists(namespace, *checkpoint) {
                    return Err(format!("records belong to checkpoint {checkpoint}, which does not exist"));
                }
            }
            BatchWrite::RollBack { namespace: of, to } => {
                if let Some(to) = to.filter(|to| !self.exists(of, *to)) {
                    return Err(format!("a roll back ends at checkpoint {to}, which does not exist"));
                }
                if **of == *namespace {
                    self.head = *to;
                    self.added.retain(|added| Some(*added) <= *to);
                }
                self.rolled_back.insert(of, *to);
            }
        }
        Ok(())
    }

    fn exists(&self, namespace: &str, id: CheckpointId) -> bool {
        let is_added = namespace == &*self.batch.namespace && self.added.binary_search(&id).is_ok();
        let remains = self.rolled_back.get(namespace).is_none_or(|to| Some(id) <= *to);
        is_added
            || (remains && self.stored.get(namespace).is_some_and(|namespace| namespace.entry(id).is_some()))
    }
}
