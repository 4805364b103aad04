use std::sync::Arc;

use super::check::{Namespaces, check};
use super::namespace::Namespace;
use crate::checkpoint::{
    BatchWrite, CheckpointError, CheckpointId, Conflict, Fence, Loaded, StoredStatus, WriteBatch,
};

/// A thread with its namespaces.
#[derive(Clone)]
pub(super) struct Thread {
    origin: Arc<str>,
    pub(super) epoch: u64,
    pub(super) status: StoredStatus,
    pub(super) namespaces: Namespaces,
}

impl Thread {
    pub(super) fn new(origin: Arc<str>) -> Self {
        Self { origin, epoch: 0, status: StoredStatus::default(), namespaces: Namespaces::new() }
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
        check(&self.namespaces, &batch)?;
        for write in batch.writes {
            self.write(&batch.namespace, write);
        }
        self.epoch = batch.epoch;
        self.status = batch.status.unwrap_or(self.status);
        Ok(())
    }

    /// Makes a write of a batch to `namespace`, which the batch's check has found valid.
    fn write(&mut self, namespace: &Arc<str>, write: BatchWrite) {
        match write {
            BatchWrite::Checkpoint(new) => self.namespace_mut(namespace).add(*new),
            BatchWrite::Records { checkpoint, remove, put } => {
                self.namespace_mut(namespace).change_records(checkpoint, remove, put);
            }
            BatchWrite::RollBack { namespace, to } => {
                let Some(rolled_back) = self.namespaces.get_mut(&*namespace) else { return };
                rolled_back.roll_back(to);
                if rolled_back.entries.is_empty() {
                    self.namespaces.remove(&*namespace);
                }
            }
        }
    }

    fn namespace_mut(&mut self, name: &Arc<str>) -> &mut Namespace {
        self.namespaces.entry(Arc::clone(name)).or_default()
    }

    /// Checks that the thread has the epoch that a call names.
    pub(super) fn check_epoch(&self, name: &Arc<str>, epoch: Option<u64>) -> Result<(), CheckpointError> {
        match epoch {
            Some(expected) if expected != self.epoch => {
                let found = self.fence(self.namespace(""));
                Err(CheckpointError::conflict(Conflict::of_epoch(Arc::clone(name), expected, found)))
            }
            _ => Ok(()),
        }
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
