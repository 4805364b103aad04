use std::collections::BTreeMap;
use std::sync::Arc;

use super::namespace::Namespace;
use crate::checkpoint::{CheckpointError, CheckpointId, Conflict, Fence, Loaded, StoredStatus, WriteBatch};

/// A thread with its namespaces.
#[derive(Clone)]
pub(super) struct Thread {
    origin: Arc<str>,
    pub(super) epoch: u64,
    pub(super) status: StoredStatus,
    pub(super) namespaces: BTreeMap<Arc<str>, Namespace>,
}

impl Thread {
    pub(super) fn new(origin: Arc<str>) -> Self {
        Self { origin, epoch: 0, status: StoredStatus::default(), namespaces: BTreeMap::new() }
    }

    pub(super) fn namespace(&self, name: &str) -> Option<&Namespace> {
        self.namespaces.get(name)
    }

    fn fence(&self, namespace: Option<&Namespace>) -> Fence {
        Fence { epoch: self.epoch, head: namespace.and_then(Namespace::head_id) }
    }

    /// Commits a batch. The whole batch is checked before the first write is made.
    pub(super) fn commit(&mut self, batch: WriteBatch) -> Result<(), CheckpointError> {
        let found = self.fence(self.namespace(&batch.namespace));
        if found != batch.fence || self.origin != batch.origin {
            let WriteBatch { thread, namespace, fence: expected, .. } = batch;
            return Err(CheckpointError::Conflict(Box::new(Conflict { thread, namespace, expected, found })));
        }
        if batch.epoch < found.epoch {
            let reason = format!("the epoch would go back from {} to {}", found.epoch, batch.epoch);
            return Err(CheckpointError::invalid(batch.thread, reason));
        }
        match self.namespaces.get_mut(&*batch.namespace) {
            Some(namespace) => {
                namespace.check(&batch)?;
                namespace.write(batch.writes);
            }
            None if batch.writes.is_empty() => {}
            None => {
                let mut namespace = Namespace::default();
                namespace.check(&batch)?;
                namespace.write(batch.writes);
                self.namespaces.insert(batch.namespace, namespace);
            }
        }
        self.epoch = batch.epoch;
        self.status = batch.status.unwrap_or(self.status);
        Ok(())
    }

    pub(super) fn load(&self, namespace: &str, checkpoint: Option<CheckpointId>) -> Loaded {
        let namespace = self.namespace(namespace);
        Loaded {
            fence: self.fence(namespace),
            origin: Some(self.origin.clone()),
            status: self.status,
            found: namespace.and_then(|namespace| namespace.load(checkpoint)),
        }
    }
}
