use std::ops::Range;
use std::sync::Arc;

use crate::checkpoint::{Encoding, Payload};
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

/// A write that cannot be stored.
#[derive(Debug, thiserror::Error)]
#[error("the write to field `{field}` cannot be stored")]
pub(super) struct NotEncoded {
    field: &'static str,
    source: EncodeError,
}

impl Encoded {
    /// Encodes the writes of a task, as far as they are to be kept.
    pub(super) fn of<S: GraphState>(
        writes: &Writes<WriteOf<S>>,
        keep: Keep,
    ) -> Result<Option<Self>, NotEncoded> {
        let mut builder = Builder::default();
        for write in writes.iter() {
            let field = write.field();
            let spec = S::field(field);
            let piece = spec.is_some_and(|spec| !matches!(spec.stored, None | Some(StoredAs::Value)));
            if keep == Keep::Nothing || (keep == Keep::Pieces && !piece) {
                continue;
            }
            let start = builder.bytes.len();
            let encoded = write.__encode(&mut builder.bytes).map_err(|source| {
                let field = spec.map_or("?", |spec| spec.name);
                NotEncoded { field, source }
            })?;
            if let Some((form, encoding)) = encoded {
                let range = start..builder.bytes.len();
                builder.writes.push(EncodedWrite { field, form, encoding, range });
            }
        }
        Ok((!builder.writes.is_empty()).then(|| builder.finish()))
    }

    /// What is stored for one of the writes.
    pub(super) fn payload(&self, write: &EncodedWrite) -> Option<Payload> {
        Payload::part_of(write.encoding, Arc::clone(&self.bytes), write.range.clone())
    }
}

/// Writes that are put together one by one.
#[derive(Debug, Default)]
pub(super) struct Builder {
    bytes: Vec<u8>,
    writes: Vec<EncodedWrite>,
}

impl Builder {
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
