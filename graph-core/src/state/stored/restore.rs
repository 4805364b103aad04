use std::cell::Cell;

use serde::de::DeserializeOwned;

use crate::checkpoint::{ChangeKind, StoredChange, StoredField};
use crate::payload::Payload;
use crate::reducers::{Reducer, StoredAs};

use super::super::GraphState;
use super::error::{Why, guarded, read};
use super::{FieldPlace, RestoreError};
use crate::payload::PayloadDeserializer;

/// The stored fields of a state on their way back into it.
#[derive(Debug)]
pub struct Restore {
    /// By name.
    fields: Vec<StoredField>,
    /// The index of the first field of the state that is being read.
    offset: usize,
    defaulted: Vec<usize>,
}

impl Restore {
    /// Begins to restore a state of these fields.
    pub fn new(mut fields: Vec<StoredField>) -> Self {
        fields.sort_by(|a, b| a.field.cmp(&b.field));
        Self { fields, offset: 0, defaulted: Vec::new() }
    }

    /// The indices of the tracked fields of which nothing is stored: they have the value that a fresh run starts with.
    ///
    /// A later version of the program may start with another one, so the next checkpoint stores them.
    pub fn defaulted(&self) -> &[usize] {
        &self.defaulted
    }

    /// Restores a field.
    ///
    /// # Errors
    /// Something that is stored of the field cannot be read, or nothing is and `start` is `None`.
    pub fn field<R, T>(
        &mut self,
        place: &FieldPlace,
        start: impl FnOnce() -> Option<T>,
    ) -> Result<T, RestoreError>
    where
        R: Reducer<T, Delta: DeserializeOwned>,
        T: Clone + DeserializeOwned,
    {
        self.fold::<R, T>(place, start, |payload| read(payload, |from| T::deserialize(from)), read_into)
    }

    /// The same through the field's own `with` or `deserialize_with` function, for reducers that fold the field's type.
    ///
    /// # Errors
    /// As [`field`](Self::field).
    pub fn field_with<R, T>(
        &mut self,
        place: &FieldPlace,
        start: impl FnOnce() -> Option<T>,
        through: impl Fn(PayloadDeserializer<'_, '_>) -> Result<T, serde_json::Error>,
    ) -> Result<T, RestoreError>
    where
        R: Reducer<T, Delta = T>,
        T: Clone,
    {
        self.fold::<R, T>(
            place,
            start,
            |payload| read(payload, &through),
            |payload, _| read(payload, &through),
        )
    }

    /// The same for reducers that fold another type, which is read as it is.
    ///
    /// # Errors
    /// As [`field`](Self::field).
    pub fn field_value_with<R, T>(
        &mut self,
        place: &FieldPlace,
        start: impl FnOnce() -> Option<T>,
        through: impl Fn(PayloadDeserializer<'_, '_>) -> Result<T, serde_json::Error>,
    ) -> Result<T, RestoreError>
    where
        R: Reducer<T, Delta: DeserializeOwned>,
        T: Clone,
    {
        self.fold::<R, T>(place, start, |payload| read(payload, &through), read_into)
    }

    /// Restores a flattened state, whose first field has the index `offset` in its owner.
    ///
    /// # Errors
    /// One of its fields cannot be read.
    pub fn flattened<S: GraphState>(&mut self, offset: usize) -> Result<S, RestoreError> {
        let outer = self.offset;
        self.offset += offset;
        let state = S::__restore(self);
        self.offset = outer;
        state
    }

    fn fold<R: Reducer<T>, T: Clone>(
        &mut self,
        place: &FieldPlace,
        start: impl FnOnce() -> Option<T>,
        read_value: impl Fn(&Payload) -> Result<T, Why>,
        read_delta: impl Fn(&Payload, Option<R::Delta>) -> Result<R::Delta, Why>,
    ) -> Result<T, RestoreError> {
        let pieces = self.take(place.names);
        if pieces.is_empty() {
            self.defaulted.push(self.offset + place.index);
        }
        // Code of the user's reads and folds; where it is, is known outside when it panics.
        let at = Cell::new(None);
        let folded = guarded(|| {
            let whole = pieces.iter().rposition(|piece| piece.kind == ChangeKind::Value);
            let mut pieces =
                pieces.iter().skip(whole.unwrap_or(0)).inspect(|piece| at.set(Some(piece.checkpoint)));
            let mut value = match whole.and_then(|_| pieces.next()) {
                Some(piece) => read_value(&piece.payload)?,
                None => start().ok_or(Why::new(NOTHING))?,
            };
            let mut left = None;
            for piece in pieces {
                if R::STORED == StoredAs::Value {
                    return Err(Why::new(OTHER_REDUCER));
                }
                let delta = read_delta(&piece.payload, left.take())?;
                left = R::fold_stored(&mut value, delta).map_err(Why::Fold)?;
            }
            Ok(value)
        });
        folded.map_err(|why| RestoreError::new(place, at.get(), why))
    }

    /// What is stored under any of the names, oldest first: a field that was renamed has its earlier pieces under an alias.
    fn take(&mut self, names: &[&str]) -> Vec<StoredChange> {
        let mut taken: Vec<StoredChange> = Vec::new();
        let mut sources = 0;
        for name in names.iter().rev() {
            let Ok(at) = self.fields.binary_search_by(|field| field.field.as_str().cmp(name)) else {
                continue;
            };
            if let Some(field) = self.fields.get_mut(at) {
                sources += 1;
                if taken.is_empty() {
                    taken = std::mem::take(&mut field.changes);
                } else {
                    taken.append(&mut field.changes);
                }
            }
        }
        if sources > 1 {
            // Checkpoints of a branch are in the order of their ids.
            taken.sort_by_key(|piece| piece.checkpoint);
        }
        taken
    }
}

/// Reads a delta, into what is left of one that was folded before it.
fn read_into<D: DeserializeOwned>(payload: &Payload, left: Option<D>) -> Result<D, Why> {
    read(payload, |from| match left {
        Some(mut delta) => {
            D::deserialize_in_place(from, &mut delta)?;
            Ok(delta)
        }
        None => D::deserialize(from),
    })
}

const NOTHING: &str = "nothing is stored of it, and it has no value to start with; give it one with \
                       `#[state(default = ..)]`, make it an `Option`, or insert it in a migration";
const OTHER_REDUCER: &str = "it is stored as deltas of another reducer than it has now; bring that one back, or turn the deltas \
                             into a value in a migration";
