use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use crate::checkpoint::{ChangeKind, CheckpointId, StoredChange, StoredField};
use crate::erased::{StateType, TaskWrites};
use crate::error::{ErrorKind, NodeFailure};
use crate::payload::{Encoding, Payload};
use crate::reducers::StoredAs;
use crate::state::{EncodeError, Form};

/// The writes of a task in their stored form.
#[derive(Clone, Debug)]
pub(crate) struct Encoded {
    bytes: Arc<[u8]>,
    pub(crate) writes: Vec<EncodedWrite>,
}

#[derive(Clone, Debug)]
pub(crate) struct EncodedWrite {
    pub(crate) field: usize,
    pub(crate) form: Form,
    encoding: Encoding,
    range: Range<usize>,
}

/// The parts of a finished task that are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Nothing: the run has no store.
    #[default]
    Nothing,
    /// The deltas that the checkpoint takes over. The task is alone, so its result is stored in the checkpoint only.
    FieldChanges,
    /// Everything: the result is stored before the superstep is applied.
    All,
}

/// The error of a task whose result cannot be stored.
///
/// If all failures of a superstep are of this type, the run fails with [`NotStorable`](ErrorKind::NotStorable).
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct NotEncoded(#[from] EncodeError);

impl NotEncoded {
    /// Turns a node error into `NotStorable` if all of its failures are results that cannot be stored.
    pub(crate) fn named(kind: ErrorKind) -> ErrorKind {
        let ErrorKind::Node { first, others } = &kind else { return kind };
        let refused = |failure: &NodeFailure| failure.error.downcast_ref().map(|Self(source)| source.clone());
        match refused(first) {
            Some(source) if others.iter().all(|other| refused(other).is_some()) => {
                let nodes =
                    std::iter::once(&**first).chain(others).map(|failure| failure.node.clone()).collect();
                ErrorKind::NotStorable { nodes, step: first.step, source }
            }
            _ => kind,
        }
    }
}

impl Encoded {
    /// Encodes the writes of a task, as far as `keep` asks for them.
    pub(crate) fn of(writes: &TaskWrites, keep: Keep) -> Result<Option<Self>, NotEncoded> {
        // The buffer is reused: the bytes are copied once, into an allocation of exactly their size.
        let bytes = SCRATCH.try_with(Cell::take).unwrap_or_default();
        let mut builder = Builder { bytes, writes: Vec::new() };
        let encoded = builder.encode(writes, keep).map(|()| builder.copied());
        builder.bytes.clear();
        builder.bytes.shrink_to(SCRATCH_BYTES);
        let _ = SCRATCH.try_with(|scratch| scratch.set(builder.bytes));
        encoded
    }

    /// Returns the stored form of one write.
    pub(crate) fn payload(&self, write: &EncodedWrite) -> Option<Payload> {
        Payload::part_of(write.encoding, Arc::clone(&self.bytes), write.range.clone())
    }

    /// Returns the writes as if they were the values of their fields. For a field that is replaced, they are.
    pub(crate) fn values(&self, state: &'static StateType) -> impl Iterator<Item = StoredField> {
        self.writes.iter().filter_map(move |write| {
            let (field, payload) = (state.field(write.field)?.name.to_owned(), self.payload(write)?);
            // A placeholder id: no checkpoint contains these writes yet.
            let checkpoint = CheckpointId::after(None);
            let change = StoredChange::new(checkpoint, ChangeKind::Value, payload);
            Some(StoredField::new(field, vec![change]))
        })
    }
}

thread_local! {
    /// The buffer in which writes are encoded.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The capacity that a thread keeps for the next writes.
const SCRATCH_BYTES: usize = 64 * 1024;

/// Collects encoded writes one by one.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    bytes: Vec<u8>,
    writes: Vec<EncodedWrite>,
}

impl Builder {
    fn encode(&mut self, writes: &TaskWrites, keep: Keep) -> Result<(), NotEncoded> {
        let Some(erased) = writes.as_erased() else { return Ok(()) };
        let state = erased.state_type();
        for (nth, field) in writes.fields().enumerate() {
            let spec = state.field(field);
            let change = spec.is_some_and(|spec| !matches!(spec.stored, None | Some(StoredAs::Value)));
            if keep == Keep::Nothing || (keep == Keep::FieldChanges && !change) {
                continue;
            }
            let start = self.bytes.len();
            if let Some((form, encoding)) = erased.encode(nth, &mut self.bytes)? {
                if form == Form::Update {
                    return Err(EncodeError::not_prepared().into());
                }
                let range = start..self.bytes.len();
                self.writes.push(EncodedWrite { field, form, encoding, range });
            }
        }
        Ok(())
    }

    /// Encodes writes before they are prepared. Returns `None` if one is to a field that is never stored.
    pub(crate) fn of_updates(writes: &TaskWrites) -> Result<Option<Encoded>, EncodeError> {
        let mut builder = Self::default();
        let Some(erased) = writes.as_erased() else { return Ok(Some(builder.finish())) };
        for (nth, field) in writes.fields().enumerate() {
            let start = builder.bytes.len();
            let Some((form, encoding)) = erased.encode(nth, &mut builder.bytes)? else { return Ok(None) };
            let range = start..builder.bytes.len();
            builder.writes.push(EncodedWrite { field, form, encoding, range });
        }
        Ok(Some(builder.finish()))
    }

    /// Copies the encoded writes out of the buffer.
    fn copied(&mut self) -> Option<Encoded> {
        let writes = std::mem::take(&mut self.writes);
        (!writes.is_empty()).then(|| Encoded { bytes: self.bytes.as_slice().into(), writes })
    }

    pub(crate) fn add(&mut self, field: usize, form: Form, payload: &Payload) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(payload.bytes());
        let range = start..self.bytes.len();
        self.writes.push(EncodedWrite { field, form, encoding: payload.encoding(), range });
    }

    pub(crate) fn finish(self) -> Encoded {
        Encoded { bytes: self.bytes.into(), writes: self.writes }
    }
}
