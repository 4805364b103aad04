//! Updates that came with a resume. They belong to the state of the checkpoint at which the thread was resumed.

use std::sync::Arc;

use crate::checkpoint::{Checkpoint, RecordKey, RecordKind, StoredField, TaskRecord};
use crate::engine::apply::{NOT_OWNED, Undos, WriteSet, fold_unchecked, own, rejection};
use crate::engine::graph::Compiled;
use crate::engine::stored::{
    after_ordinal, corrupt, json_record, key, ordinal, parse_write_key, write_records,
};
use crate::engine::task::{Encoded, Finished};
use crate::erased::{ErasedState, StateType};
use crate::error::{ErrorKind, with_causes};
use crate::state::EncodeError;
use crate::step::Leave;

use super::read_records::RecordReader;
use super::restored_state::{RestoredState, read_state};

/// Names the unreadable item in the error of an update that cannot be read.
const WHAT: &str = "the update of an earlier resume";

/// Returns the records of an update that comes with a resume: first its state versions, then its writes.
///
/// `before` is the number of records of earlier updates. The versions are stored because the checkpoint may come from
/// an older program.
pub(crate) fn patch_records(
    state: &'static StateType,
    before: usize,
    encoded: &Encoded,
) -> Result<Vec<TaskRecord>, EncodeError> {
    let at = key(RecordKey::NO_TASK, RecordKind::Patch, &ordinal(before));
    let mut records = vec![json_record(at, &state.versions())?];
    for (index, mut write) in
        write_records(state, RecordKey::NO_TASK, RecordKind::Patch, encoded).into_iter().enumerate()
    {
        let rest = after_ordinal(&write.key.key);
        write.key.key = format!("{}{rest}", ordinal(before + 1 + index)).into();
        records.push(write);
    }
    Ok(records)
}

/// Reads the state of a checkpoint for display. A subgraph run on the parent state starts from `base`.
pub(crate) fn shown_state(
    graph: &Compiled,
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    fields: Vec<StoredField>,
    records: &[TaskRecord],
    base: Option<&dyn ErasedState>,
) -> Result<Arc<dyn ErasedState>, ErrorKind> {
    let reader = RecordReader { graph, thread, checkpoint, records };
    let mut read = match base {
        None => read_state(graph.state, thread, checkpoint, fields)?,
        Some(base) => reader.onto(base, &fields)?.0,
    };
    reader.patch(&mut read)?;
    Ok(read.state)
}

impl RecordReader<'_> {
    /// Applies the updates to the state of the checkpoint, one after the other, and returns the written fields. The
    /// next checkpoint will contain them.
    ///
    /// Rules are not checked again: a rule that was added later does not make a checkpoint unreadable.
    pub(crate) fn patch(&self, read: &mut RestoredState) -> Result<Vec<usize>, ErrorKind> {
        let (mut all, mut write_set) = (Vec::new(), WriteSet::default());
        let mut undos = Undos::new(self.graph.state);
        for patch in self.patches()? {
            let mut results = vec![Some(patch)];
            let Some(state) = own(&mut read.state) else { return Err(NOT_OWNED) };
            fold_unchecked(state, &mut results, &mut write_set, &mut undos).map_err(|rejected| {
                let kind = rejection(self.graph.state, &[], 0, &[], &mut results, rejected);
                corrupt(self.thread, self.checkpoint, WHAT, with_causes(&kind))
            })?;
            let encoded = results.first().and_then(|result| result.as_ref()?.encoded.as_deref());
            read.changes
                .carry(&*read.state, encoded, write_set.touched())
                .map_err(|(_, error)| corrupt(self.thread, self.checkpoint, WHAT, with_causes(&error)))?;
            all.extend_from_slice(write_set.touched());
        }
        Ok(all)
    }

    /// Reads the updates in order. Each begins with a record of its versions.
    fn patches(&self) -> Result<Vec<Finished>, ErrorKind> {
        let mut records: Vec<&TaskRecord> = self.of(RecordKey::NO_TASK, RecordKind::Patch).collect();
        records.sort_by(|one, other| one.key.key.cmp(&other.key.key));
        let mut patches = Vec::new();
        for patch in records.chunk_by(|_, next| parse_write_key(&next.key.key).is_some()) {
            let [of, writes @ ..] = patch else { continue };
            let found: Vec<(String, u32)> = self.json(of)?;
            let (writes, encoded) = self.writes(writes.iter().copied(), Some(&found))?;
            patches.push(Finished { writes, leave: Leave::ByEdges, encoded: Some(Box::new(encoded)) });
        }
        Ok(patches)
    }
}
