//! The limits of a batch.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use crate::limits::{
    self, CHANGE_BYTES, MAX_KEY_BYTES, MAX_METADATA_BYTES, MAX_NAME_BYTES, MAX_PAYLOAD_BYTES, MAX_PLAN_BYTES,
    shown,
};

use super::{BatchWrite, Checkpoint, CheckpointError, NewCheckpoint, RunRecord, TaskRecord, WriteBatch};

impl WriteBatch {
    /// Checks the [limits](crate::limits) that hold for every store.
    ///
    /// A store calls this before it writes anything of a batch.
    ///
    /// # Errors
    /// [`NotStorable`](CheckpointError::NotStorable) if a part of the batch exceeds a limit.
    pub fn check_limits(&self) -> Result<(), CheckpointError> {
        check_thread_name(&self.thread)?;
        self.check().map_err(|reason| CheckpointError::not_storable(Arc::clone(&self.thread), reason))
    }

    fn check(&self) -> Result<(), String> {
        name("namespace", &self.namespace, MAX_NAME_BYTES)?;
        name("the origin", &self.origin, MAX_KEY_BYTES)?;
        let mut checked: Option<&Arc<RunRecord>> = None;
        for write in &self.writes {
            match write {
                BatchWrite::Checkpoint(new) => {
                    let run = &new.checkpoint.run;
                    // The checkpoints of a run share its record.
                    if !checked.is_some_and(|checked| Arc::ptr_eq(checked, run)) {
                        run.check()?;
                        checked = Some(run);
                    }
                    new.check()?;
                }
                BatchWrite::Records { put, .. } => check_records(put)?,
                BatchWrite::RollBack { namespace, .. } => name("namespace", namespace, MAX_NAME_BYTES)?,
            }
        }
        Ok(())
    }
}

impl RunRecord {
    /// Checks the [limits](crate::limits) of the id and the metadata of a run on a thread.
    ///
    /// [`WriteBatch::check_limits`] includes this. An engine calls it to refuse a run before the run does any work.
    ///
    /// # Errors
    /// [`NotStorable`](CheckpointError::NotStorable) if a part of the record, or the name of the thread, exceeds a limit.
    pub fn check_limits(&self, thread: &Arc<str>) -> Result<(), CheckpointError> {
        check_thread_name(thread)?;
        self.check().map_err(|reason| CheckpointError::not_storable(Arc::clone(thread), reason))
    }

    fn check(&self) -> Result<(), String> {
        name("the id of run", &self.id, MAX_NAME_BYTES)?;
        let program = limits::bytes(self.program.len(), MAX_METADATA_BYTES);
        program.map_err(|excess| format!("the program of run `{}` {excess}", shown(&self.id)))?;
        let metadata = limits::metadata(&self.metadata);
        metadata.map_err(|excess| format!("the metadata of run `{}` {excess}", shown(&self.id)))
    }
}

/// Checks the [limit](crate::limits) of the name of a thread, for example that of a copy.
///
/// # Errors
/// [`NotStorable`](CheckpointError::NotStorable) if the name is too long.
pub fn check_thread_name(thread: &str) -> Result<(), CheckpointError> {
    limits::length(thread.len(), MAX_NAME_BYTES)
        .map_err(|excess| CheckpointError::not_storable(shown(thread), format!("its name {excess}")))
}

impl NewCheckpoint {
    fn check(&self) -> Result<(), String> {
        let Self { checkpoint, changes, records } = self;
        checkpoint.check()?;
        let mut total = 0_usize;
        for change in changes {
            name("the name of field", &change.field, MAX_NAME_BYTES)?;
            limits::payload(&change.payload)
                .map_err(|excess| format!("a change of field `{}` {excess}", shown(&change.field)))?;
            total = total.saturating_add(limits::size(&change.payload)).saturating_add(CHANGE_BYTES);
        }
        // Only a large checkpoint can have a field with large changes.
        if total > MAX_PAYLOAD_BYTES {
            self.check_fields()?;
        }
        check_records(records)
    }

    /// Checks all changes of each field together. A single change may have the maximum size.
    fn check_fields(&self) -> Result<(), String> {
        let mut fields: HashMap<&str, (u64, usize)> = HashMap::new();
        for change in &self.changes {
            let (count, total) = fields.entry(&change.field).or_default();
            *count += 1;
            *total = total.saturating_add(limits::size(&change.payload)).saturating_add(CHANGE_BYTES);
            if *count > 1 {
                limits::bytes(*total, MAX_PAYLOAD_BYTES).map_err(|excess| {
                    format!("the list of changes of field `{}` {excess}", shown(&change.field))
                })?;
            }
        }
        Ok(())
    }
}

impl Checkpoint {
    fn check(&self) -> Result<(), String> {
        let mut total = 0_usize;
        for node in &self.next {
            name("the name of node", node, MAX_NAME_BYTES)?;
            total = total.saturating_add(node.len() + 3);
        }
        let list = limits::bytes(total, MAX_PLAN_BYTES);
        list.map_err(|excess| format!("the list of planned nodes of checkpoint {} {excess}", self.id))?;
        let Some(progress) = &self.progress else { return Ok(()) };
        let plan = limits::payload(progress);
        plan.map_err(|excess| format!("the plan of checkpoint {}, with its packets, {excess}", self.id))
    }
}

fn check_records(records: &[TaskRecord]) -> Result<(), String> {
    for TaskRecord { key, payload } in records {
        let found = limits::length(key.key.len(), MAX_KEY_BYTES);
        found.map_err(|excess| format!("the {:?} key `{}` {excess}", key.kind, shown(&key.key)))?;
        limits::payload(payload).map_err(|excess| {
            format!("the {:?} record `{}` of task {} {excess}", key.kind, shown(&key.key), key.task)
        })?;
    }
    Ok(())
}

fn name(part: impl Display, name: &str, limit: usize) -> Result<(), String> {
    limits::length(name.len(), limit).map_err(|excess| format!("{part} `{}` {excess}", shown(name)))
}
