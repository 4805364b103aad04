use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::checkpoint::{Checkpoint, RecordKey, RecordKind, TaskRecord};
use crate::error::ErrorKind;
use crate::payload::Payload;

use super::corrupt::corrupt;
use super::json::{json_record, reason};
use super::keys::key;

/// A request from outside with the caller's idempotency key. It is stored in the commit that the request has caused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredRequest {
    /// The digest of the request's contents.
    pub(crate) digest: String,
    /// The run that the request continues, if it has added tasks: at a final checkpoint, this is not the checkpoint's run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<String>,
    /// `true` if the request has made the checkpoint: it is an update. A resumption was accepted later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) made: bool,
}

impl StoredRequest {
    /// Returns the record of the request with this idempotency key.
    pub(crate) fn record(&self, idempotency_key: &str) -> Option<TaskRecord> {
        // Two strings can always be written.
        json_record(key(RecordKey::NO_TASK, RecordKind::Request, idempotency_key), self).ok()
    }

    /// Reads the request with this idempotency key from the records of a checkpoint.
    pub(crate) fn read(
        thread: &Arc<str>,
        checkpoint: &Checkpoint,
        records: &[TaskRecord],
        idempotency_key: &str,
    ) -> Result<Option<Self>, ErrorKind> {
        let mut all = requests(records);
        let found = all.find(|record| &*record.key.key == idempotency_key);
        let read = found.map(|record| serde_json::from_slice(record.payload.bytes())).transpose();
        read.map_err(|error| corrupt(thread, checkpoint, "a request", reason(&error)))
    }
}

/// Returns `true` if a checkpoint has accepted the request with this record after it was made: a roll back to the
/// checkpoint takes the request back, and forgets its key.
pub(crate) fn is_accepted_later(payload: &Payload) -> bool {
    serde_json::from_slice::<StoredRequest>(payload.bytes()).is_ok_and(|request| !request.made)
}

/// Returns the run to which the tasks belong that requests have added at a final checkpoint, if it is known.
pub(crate) fn requested_run(records: &[TaskRecord]) -> Option<Arc<str>> {
    requests(records).find_map(|record| {
        serde_json::from_slice::<StoredRequest>(record.payload.bytes())
            .ok()
            .and_then(|request| request.run)
            .map(Arc::from)
    })
}

fn requests(records: &[TaskRecord]) -> impl Iterator<Item = &TaskRecord> {
    records.iter().filter(|record| record.key.kind == RecordKind::Request)
}
