//! The checkpoints of a thread that may be dropped.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use superstep_store::checkpoint::{CheckpointId, RecordKey, RecordKind};
use tokio_postgres::Row;

use crate::columns::Id;
use crate::error::Failure;

use super::id;

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Never the newest `keep` checkpoints of a namespace.
    pub(super) keep: usize,
    pub(super) created_before: i64,
}

/// All checkpoints of a thread, by namespace.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    by_name: HashMap<Vec<u8>, i64>,
    namespaces: BTreeMap<i64, Vec<Checkpoint>>,
    followed: HashSet<(i64, CheckpointId)>,
    open_interrupts: HashSet<(i64, CheckpointId)>,
    /// The checkpoints that a checkpoint needs, by namespace.
    retained: HashMap<(i64, CheckpointId), Vec<(i64, CheckpointId)>>,
}

#[derive(Debug)]
struct Checkpoint {
    id: CheckpointId,
    created: i64,
}

impl Checkpoints {
    pub(super) fn new(namespaces: &[Row]) -> Result<Self, Failure> {
        let mut all = Self::default();
        for row in namespaces {
            let id = row.try_get(0)?;
            all.by_name.insert(row.try_get(1)?, id);
            all.namespaces.insert(id, Vec::new());
        }
        Ok(all)
    }

    pub(super) fn ids(&self) -> Vec<i64> {
        self.namespaces.keys().copied().collect()
    }

    /// Adds a checkpoint. Those of a namespace come in order.
    pub(super) fn add(&mut self, row: &Row) -> Result<(), Failure> {
        let namespace: i64 = row.try_get(0)?;
        if let Some(Id(parent)) = row.try_get(2)? {
            self.followed.insert((namespace, parent));
        }
        let checkpoint = Checkpoint { id: id(row, 1)?, created: row.try_get(3)? };
        self.namespaces.entry(namespace).or_default().push(checkpoint);
        Ok(())
    }

    pub(super) fn add_open_interrupt(&mut self, row: &Row) -> Result<(), Failure> {
        self.open_interrupts.insert((row.try_get(0)?, id(row, 1)?));
        Ok(())
    }

    pub(super) fn add_retained(&mut self, row: &Row) -> Result<(), Failure> {
        let owner = (row.try_get(0)?, id(row, 1)?);
        let Ok(key) = std::str::from_utf8(row.try_get(2)?) else { return Ok(()) };
        let key = RecordKey::new(RecordKey::NO_TASK, RecordKind::Retained, Arc::from(key));
        let Some((retained, name)) = key.retained() else { return Ok(()) };
        if let Some(namespace) = self.by_name.get(name.as_bytes()) {
            self.retained.entry(owner).or_default().push((*namespace, retained));
        }
        Ok(())
    }

    /// Returns the checkpoints to drop, by namespace, oldest first: at most `limit` of each. The second result is `true` if
    /// these are all.
    pub(super) fn to_drop(&self, limits: Limits, limit: usize) -> (Vec<(i64, CheckpointId)>, bool) {
        let mut is_last = true;
        let mut candidates: HashSet<(i64, CheckpointId)> = HashSet::new();
        for (namespace, checkpoints) in &self.namespaces {
            let old = checkpoints.len().saturating_sub(limits.keep);
            let found = checkpoints
                .iter()
                .take(old)
                .map(|checkpoint| (checkpoint.created, (*namespace, checkpoint.id)));
            let found = found.filter(|(created, key)| {
                *created < limits.created_before
                    && (self.followed.contains(key) || !self.open_interrupts.contains(key))
            });
            let before = candidates.len();
            candidates.extend(found.map(|(_, key)| key).take(limit));
            is_last &= candidates.len() - before < limit;
        }
        let remaining = self.retained.iter().filter(|(owner, _)| !candidates.contains(owner));
        let mut retained: Vec<_> = remaining.flat_map(|(_, retained)| retained).copied().collect();
        while let Some(key) = retained.pop() {
            // Each checkpoint is removed from the candidates once, so the checkpoints that it retains are visited once.
            if candidates.remove(&key) {
                retained.extend(self.retained.get(&key).into_iter().flatten());
            }
        }
        let mut dropped: Vec<_> = candidates.into_iter().collect();
        dropped.sort_unstable();
        // If everything that this round found is retained, a further one would find the same.
        (dropped.clone(), is_last || dropped.is_empty())
    }
}
