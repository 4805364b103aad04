//! Faults of writes: names, payloads and batches.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;
use superstep_store::checkpoint::{
    BatchWrite, CheckpointId, NewCheckpoint, RecordKind, TaskRecord, WriteBatch,
};
use superstep_store::payload::{Encoding, Payload};

use crate::fault::Fault;
use crate::faulty::Faulty;

impl Faulty {
    pub(crate) fn name(&self, name: &str) -> Arc<str> {
        match self.fault {
            Fault::TruncatesLongNames => name.chars().take(4_095).collect::<String>().into(),
            Fault::TrimsNames => name.trim().into(),
            Fault::IgnoresCase => name.to_lowercase().into(),
            Fault::CutsNamesAtNul => name.split('\0').next().unwrap().into(),
            Fault::CopiesByReference => {
                self.aliases.lock().unwrap().get(name).cloned().unwrap_or_else(|| name.into())
            }
            _ => name.into(),
        }
    }

    fn payload(&self, payload: &Payload) -> Payload {
        match (self.fault, payload.encoding()) {
            (Fault::ForgetsEncodings, Encoding::Sealed) => Payload::new(Encoding::Bytes, payload.bytes()),
            (Fault::RewritesJson, Encoding::Json) => match serde_json::from_slice::<Value>(payload.bytes()) {
                Ok(value) => Payload::json(value.to_string()),
                Err(_) => payload.clone(),
            },
            (Fault::TruncatesLongValues, encoding) => {
                Payload::new(encoding, &payload.bytes()[..payload.len().min(1_000_000)])
            }
            _ => payload.clone(),
        }
    }

    /// Changes a value of metadata.
    fn change(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.change(item)),
            Value::Number(number) if self.fault == Fault::RoundsMetadata => {
                *value = number.as_f64().into();
            }
            Value::String(text) if self.fault == Fault::TruncatesMetadata => text.truncate(1_000_000),
            _ => {}
        }
    }

    pub(crate) fn tamper(&self, batch: &mut WriteBatch) {
        batch.thread = self.name(&batch.thread);
        batch.namespace = self.name(&batch.namespace);
        let head = batch.fence.head;
        match self.fault {
            Fault::RoundsMetadata | Fault::TruncatesMetadata => {
                for write in &mut batch.writes {
                    let BatchWrite::Checkpoint(new) = write else { continue };
                    let mut run = (*new.checkpoint.run).clone();
                    run.metadata.values_mut().for_each(|value| self.change(value));
                    new.checkpoint.run = run.into();
                }
            }
            Fault::RollsBackNothing => {
                batch.writes.retain(|write| !matches!(write, BatchWrite::RollBack { .. }));
            }
            Fault::RollsBackTheWrongNamespace => {
                for write in &mut batch.writes {
                    if let BatchWrite::RollBack { namespace, to: None, .. } = write {
                        *namespace = batch.namespace.clone();
                    }
                }
            }
            Fault::IgnoresOrigins => batch.origin = "".into(),
            Fault::RoundsEpochs => {
                batch.epoch = batch.epoch as f64 as u64;
                batch.fence.epoch = batch.fence.epoch as f64 as u64;
            }
            Fault::AllowsDecreasingEpochs => batch.epoch = batch.epoch.max(batch.fence.epoch),
            Fault::ForgetsRecordsOfOldCheckpoints => batch.writes.retain(|write| match write {
                BatchWrite::Records { checkpoint, .. } => Some(*checkpoint) == head,
                BatchWrite::Checkpoint(_) | BatchWrite::RollBack { .. } => true,
            }),
            Fault::AcceptsAnyRecord => {
                batch.writes.retain(|write| matches!(write, BatchWrite::Checkpoint(_)))
            }
            _ => {}
        }
        let mut last = head;
        for write in &mut batch.writes {
            match write {
                BatchWrite::Checkpoint(new) => {
                    self.tamper_checkpoint(new, last);
                    last = Some(new.checkpoint.id);
                }
                BatchWrite::Records { remove, put, .. } => {
                    if self.fault == Fault::RemovesAfterPutting {
                        put.retain(|record| !remove.contains(&record.key));
                    }
                    self.tamper_records(put);
                }
                BatchWrite::RollBack { namespace, .. } => *namespace = self.name(namespace),
            }
        }
    }

    fn tamper_checkpoint(&self, new: &mut NewCheckpoint, last: Option<CheckpointId>) {
        let checkpoint = &mut new.checkpoint;
        match self.fault {
            Fault::RoundsTimesToSeconds => {
                let time = checkpoint.created_at.duration_since(UNIX_EPOCH).unwrap_or_default();
                checkpoint.created_at = UNIX_EPOCH + Duration::from_secs(time.as_secs());
            }
            Fault::AcceptsAnyParent | Fault::IgnoresParents => checkpoint.parent = last,
            Fault::KeepsOneChangePerField => {
                let mut seen = Vec::new();
                new.changes.reverse();
                new.changes.retain(|change| {
                    let first = !seen.contains(&change.field);
                    seen.push(change.field.clone());
                    first
                });
            }
            _ => {}
        }
        for change in &mut new.changes {
            change.payload = self.payload(&change.payload);
            change.field = self.name(&change.field).to_string().into();
        }
        self.tamper_records(&mut new.records);
    }

    fn tamper_records(&self, records: &mut [TaskRecord]) {
        for record in records {
            record.key.key = self.name(&record.key.key);
            record.payload = self.payload(&record.payload);
            if self.fault == Fault::DropsOpenInterrupts && record.key.kind == RecordKind::Interrupt {
                record.key.kind = RecordKind::Failed;
            }
            if self.fault == Fault::DropsRetainedCheckpoints && record.key.kind == RecordKind::Retained {
                record.key.kind = RecordKind::Step;
            }
        }
    }
}
