//! Faults in what is written: names, payloads, writes of a batch.

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
            Fault::TrimsNames => name.trim().into(),
            Fault::IgnoresCase => name.to_lowercase().into(),
            Fault::EndsNamesAtNul => name.split('\0').next().unwrap().into(),
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
            (Fault::CutsOffLongValues, encoding) => {
                Payload::new(encoding, &payload.bytes()[..payload.len().min(1_000_000)])
            }
            _ => payload.clone(),
        }
    }

    pub(crate) fn spoil(&self, batch: &mut WriteBatch) {
        batch.thread = self.name(&batch.thread);
        batch.namespace = self.name(&batch.namespace);
        let head = batch.fence.head;
        match self.fault {
            Fault::IgnoresOrigins => batch.origin = "".into(),
            Fault::RoundsEpochs => {
                batch.epoch = batch.epoch as f64 as u64;
                batch.fence.epoch = batch.fence.epoch as f64 as u64;
            }
            Fault::LetsEpochsGoBack => batch.epoch = batch.epoch.max(batch.fence.epoch),
            Fault::ForgetsRecordsOfOldCheckpoints => batch.writes.retain(|write| match write {
                BatchWrite::Records { checkpoint, .. } => Some(*checkpoint) == head,
                BatchWrite::Checkpoint(_) => true,
            }),
            Fault::TakesAnyRecord => batch.writes.retain(|write| matches!(write, BatchWrite::Checkpoint(_))),
            _ => {}
        }
        let mut last = head;
        for write in &mut batch.writes {
            match write {
                BatchWrite::Checkpoint(new) => {
                    self.spoil_checkpoint(new, last);
                    last = Some(new.checkpoint.id);
                }
                BatchWrite::Records { remove, put, .. } => {
                    if self.fault == Fault::RemovesAfterPutting {
                        put.retain(|record| !remove.contains(&record.key));
                    }
                    self.spoil_records(put);
                }
            }
        }
    }

    fn spoil_checkpoint(&self, new: &mut NewCheckpoint, last: Option<CheckpointId>) {
        let checkpoint = &mut new.checkpoint;
        match self.fault {
            Fault::CountsInSeconds => {
                let time = checkpoint.created_at.duration_since(UNIX_EPOCH).unwrap_or_default();
                checkpoint.created_at = UNIX_EPOCH + Duration::from_secs(time.as_secs());
            }
            Fault::TakesAnyParent | Fault::IgnoresParents => checkpoint.parent = last,
            Fault::KeepsOnePieceOfACheckpoint => {
                let mut seen = Vec::new();
                new.changes.reverse();
                new.changes.retain(|piece| {
                    let first = !seen.contains(&piece.field);
                    seen.push(piece.field.clone());
                    first
                });
            }
            _ => {}
        }
        for piece in &mut new.changes {
            piece.payload = self.payload(&piece.payload);
            piece.field = self.name(&piece.field).to_string().into();
        }
        self.spoil_records(&mut new.records);
    }

    fn spoil_records(&self, records: &mut [TaskRecord]) {
        for record in records {
            record.key.key = self.name(&record.key.key);
            record.payload = self.payload(&record.payload);
            if self.fault == Fault::DropsQuestions && record.key.kind == RecordKind::Interrupt {
                record.key.kind = RecordKind::Failed;
            }
            if self.fault == Fault::DropsWhatIsNeeded && record.key.kind == RecordKind::Retained {
                record.key.kind = RecordKind::Step;
            }
        }
    }
}
