use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use crate::checkpoint::{ChangeKind, CheckpointId, StoredChange, StoredField};
use crate::error::{ErrorKind, NodeFailure};
use crate::payload::{Encoding, Payload};
use crate::reducers::StoredAs;
use crate::state::{EncodeError, FieldWrite as _, Form, GraphState, Writes};

use super::task::WriteOf;

/// The writes of a task as they will be stored.
#[derive(Clone, Debug)]
pub(super) struct Encoded {
    bytes: Arc<[u8]>,
    pub(super) writes: Vec<EncodedWrite>,
}

#[derive(Clone, Debug)]
pub(super) struct EncodedWrite {
    pub(super) field: usize,
    pub(super) form: Form,
    encoding: Encoding,
    range: Range<usize>,
}

/// What is encoded of a task that finishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Keep {
    /// Nothing: there is no store.
    #[default]
    Nothing,
    /// What a checkpoint takes over as it is. The task is alone: its result is in the checkpoint and nowhere else.
    Pieces,
    /// Everything: the result is stored before the superstep is applied.
    All,
}

/// What a task has come to cannot be stored. The task fails with it, and what fails with nothing else is
/// [`NotStorable`](ErrorKind::NotStorable).
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) struct NotEncoded(#[from] EncodeError);

impl NotEncoded {
    /// What has failed, by its own name if it is that something cannot be stored.
    pub(super) fn named(kind: ErrorKind) -> ErrorKind {
        let ErrorKind::Node { first, others } = &kind else { return kind };
        let refused = |failure: &NodeFailure| failure.error.downcast_ref().map(|Self(source)| source.clone());
        match refused(first) {
            Some(source) if others.iter().all(|other| refused(other).is_some()) => {
                let nodes =
                    std::iter::once(first).chain(others).map(|failure| failure.node.clone()).collect();
                ErrorKind::NotStorable { nodes, step: first.step, source }
            }
            _ => kind,
        }
    }
}

impl Encoded {
    /// Encodes the writes of a task, as far as they are to be kept.
    pub(super) fn of<S: GraphState>(
        writes: &Writes<WriteOf<S>>,
        keep: Keep,
    ) -> Result<Option<Self>, NotEncoded> {
        // What it has grown to is used again: the bytes are copied once, into a block of just their size.
        let bytes = SCRATCH.try_with(Cell::take).unwrap_or_default();
        let mut builder = Builder { bytes, writes: Vec::new() };
        let encoded = builder.encode::<S>(writes, keep).map(|()| builder.copied());
        builder.bytes.clear();
        builder.bytes.shrink_to(SCRATCH_BYTES);
        let _ = SCRATCH.try_with(|scratch| scratch.set(builder.bytes));
        encoded
    }

    /// What is stored for one of the writes.
    pub(super) fn payload(&self, write: &EncodedWrite) -> Option<Payload> {
        Payload::part_of(write.encoding, Arc::clone(&self.bytes), write.range.clone())
    }

    /// The writes as if they were the fields' values, which they are where a field is replaced.
    pub(super) fn values<S: GraphState>(&self) -> impl Iterator<Item = StoredField> {
        self.writes.iter().filter_map(|write| {
            let (field, payload) = (S::field(write.field)?.name.to_owned(), self.payload(write)?);
            // Of no checkpoint: nothing is stored yet.
            let checkpoint = CheckpointId::after(None);
            let piece = StoredChange { checkpoint, kind: ChangeKind::Value, payload };
            Some(StoredField { field, changes: vec![piece] })
        })
    }
}

thread_local! {
    /// Where writes are encoded.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// How much room a thread keeps for the next writes.
const SCRATCH_BYTES: usize = 64 * 1024;

/// Writes that are put together one by one.
#[derive(Debug, Default)]
pub(super) struct Builder {
    bytes: Vec<u8>,
    writes: Vec<EncodedWrite>,
}

impl Builder {
    fn encode<S: GraphState>(&mut self, writes: &Writes<WriteOf<S>>, keep: Keep) -> Result<(), NotEncoded> {
        for write in writes.iter() {
            let field = write.field();
            let spec = S::field(field);
            let piece = spec.is_some_and(|spec| !matches!(spec.stored, None | Some(StoredAs::Value)));
            if keep == Keep::Nothing || (keep == Keep::Pieces && !piece) {
                continue;
            }
            let start = self.bytes.len();
            if let Some((form, encoding)) = write.__encode(&mut self.bytes)? {
                if form == Form::Update {
                    return Err(EncodeError::not_prepared().into());
                }
                let range = start..self.bytes.len();
                self.writes.push(EncodedWrite { field, form, encoding, range });
            }
        }
        Ok(())
    }

    /// Encodes writes as a node has handed them in. `None` if one is of a field that is never stored.
    pub(super) fn of_updates<S: GraphState>(
        writes: &Writes<WriteOf<S>>,
    ) -> Result<Option<Encoded>, EncodeError> {
        let mut builder = Self::default();
        for write in writes.iter() {
            let start = builder.bytes.len();
            let Some((form, encoding)) = write.__encode(&mut builder.bytes)? else { return Ok(None) };
            let range = start..builder.bytes.len();
            builder.writes.push(EncodedWrite { field: write.field(), form, encoding, range });
        }
        Ok(Some(builder.finish()))
    }

    /// What has been encoded, without the buffer.
    fn copied(&mut self) -> Option<Encoded> {
        let writes = std::mem::take(&mut self.writes);
        (!writes.is_empty()).then(|| Encoded { bytes: self.bytes.as_slice().into(), writes })
    }

    pub(super) fn add(&mut self, field: usize, form: Form, payload: &Payload) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(payload.bytes());
        let range = start..self.bytes.len();
        self.writes.push(EncodedWrite { field, form, encoding: payload.encoding(), range });
    }

    pub(super) fn finish(self) -> Encoded {
        Encoded { bytes: self.bytes.into(), writes: self.writes }
    }
}
