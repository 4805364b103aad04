use serde::de::DeserializeOwned;

use crate::checkpoint::{ChangeKind, CheckpointId, StoredChange, StoredField};
use crate::payload::Payload;
use crate::reducers::{Reducer, StoredAs};

use super::super::GraphState;
use super::error::{Why, guarded, read, read_value};
use super::{FieldPlace, RestoreError};
use crate::payload::PayloadDeserializer;

/// A reader that restores a state from its stored fields.
#[derive(Debug)]
pub struct Restore {
    /// Sorted by name.
    fields: Vec<StoredField>,
    /// The index of the first field of the state that is read now.
    offset: usize,
    defaulted: Vec<usize>,
}

impl Restore {
    /// Starts to restore a state from these fields.
    pub fn new(mut fields: Vec<StoredField>) -> Self {
        fields.sort_by(|a, b| a.field.cmp(&b.field));
        Self { fields, offset: 0, defaulted: Vec::new() }
    }

    /// Returns the indices of the tracked fields without a stored value. They have their start value.
    ///
    /// A later version of the program may have another start value, so the next checkpoint stores them.
    pub fn defaulted(&self) -> &[usize] {
        &self.defaulted
    }

    /// Restores a field.
    ///
    /// # Errors
    /// A stored value or delta of the field cannot be read, or nothing is stored and `start` returns `None`.
    pub fn field<R, T>(&mut self, place: &FieldPlace, start: fn() -> Option<T>) -> Result<T, RestoreError>
    where
        R: Reducer<T, Delta: DeserializeOwned>,
        T: Clone + DeserializeOwned,
    {
        self.fold::<R, T>(place, start, read_value, read_into)
    }

    /// Like [`field`](Self::field), through the field's own function, for reducers that fold the field's type.
    ///
    /// # Errors
    /// As [`field`](Self::field).
    pub fn field_with<R, T>(
        &mut self,
        place: &FieldPlace,
        start: fn() -> Option<T>,
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
            |payload, delta| {
                *delta = Some(read(payload, &through)?);
                Ok(())
            },
        )
    }

    /// Like [`field_with`](Self::field_with), for reducers that fold another type. Deltas do not go through the function.
    ///
    /// # Errors
    /// As [`field`](Self::field).
    pub fn field_value_with<R, T>(
        &mut self,
        place: &FieldPlace,
        start: fn() -> Option<T>,
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
        start: fn() -> Option<T>,
        read_value: impl Fn(&Payload) -> Result<T, Why>,
        read_delta: impl Fn(&Payload, &mut Option<R::Delta>) -> Result<(), Why>,
    ) -> Result<T, RestoreError> {
        let mut changes = self.changes(place);
        // User code reads and folds, and may panic.
        let folded = guarded(|| {
            let mut value = match changes.value() {
                Some(payload) => read_value(payload)?,
                None => start().ok_or(Why::new(NOT_STORED))?,
            };
            if const { matches!(R::STORED, StoredAs::Value) } {
                changes.no_deltas()?;
                return Ok(value);
            }
            // Between two deltas, this holds the memory that remains of the first.
            let mut delta = None;
            while let Some(payload) = changes.delta() {
                read_delta(payload, &mut delta)?;
                R::fold_stored(&mut value, &mut delta).map_err(Why::Fold)?;
            }
            Ok(value)
        });
        folded.map_err(|why| RestoreError::new(place, changes.checkpoint, why))
    }

    /// Takes the changes of a field.
    fn changes(&mut self, place: &FieldPlace) -> Changes {
        let changes = self.take(place.names);
        if changes.is_empty() {
            self.defaulted.push(self.offset + place.index);
        }
        let whole = changes.iter().rposition(|change| change.kind == ChangeKind::Value);
        Changes { next: whole.unwrap_or(0), whole: whole.is_some(), changes, checkpoint: None }
    }

    /// Takes the changes under all names, oldest first. The earlier changes of a renamed field are under an alias.
    fn take(&mut self, names: &[&str]) -> Vec<StoredChange> {
        let mut taken: Vec<StoredChange> = Vec::new();
        let mut names_found = 0;
        for name in names.iter().rev() {
            let Ok(at) = self.fields.binary_search_by(|field| field.field.as_str().cmp(name)) else {
                continue;
            };
            if let Some(field) = self.fields.get_mut(at) {
                names_found += 1;
                if taken.is_empty() {
                    taken = std::mem::take(&mut field.changes);
                } else {
                    taken.append(&mut field.changes);
                }
            }
        }
        if names_found > 1 {
            // Checkpoints of a branch are in the order of their ids.
            taken.sort_by_key(|change| change.checkpoint);
        }
        taken
    }
}

/// The changes of one field that make up its value, oldest first.
struct Changes {
    changes: Vec<StoredChange>,
    /// The index of the next change to read.
    next: usize,
    /// `true` if the first of them is a whole value.
    whole: bool,
    /// The checkpoint of the change that was read last.
    checkpoint: Option<CheckpointId>,
}

impl Changes {
    /// Returns the whole value that the deltas follow.
    fn value(&mut self) -> Option<&Payload> {
        if self.whole { self.delta() } else { None }
    }

    fn delta(&mut self) -> Option<&Payload> {
        let change = self.changes.get(self.next)?;
        self.next += 1;
        self.checkpoint = Some(change.checkpoint);
        Some(&change.payload)
    }

    /// Refuses deltas, for a reducer whose fields are stored as values.
    fn no_deltas(&mut self) -> Result<(), Why> {
        self.delta().map_or(Ok(()), |_| Err(Why::new(OTHER_REDUCER)))
    }
}

/// Reads a delta into a place that may hold the memory of the delta before it.
// In place, because a move costs as much as reading a short delta.
fn read_into<D: DeserializeOwned>(payload: &Payload, delta: &mut Option<D>) -> Result<(), Why> {
    read(payload, |from| {
        match delta {
            Some(delta) => D::deserialize_in_place(from, delta)?,
            None => *delta = Some(D::deserialize(from)?),
        }
        Ok(())
    })
}

const NOT_STORED: &str = "no value is stored for it, and it has no start value: give it one with \
                       `#[state(default = ..)]`, make it an `Option`, or insert it in a migration";
const OTHER_REDUCER: &str = "it is stored as deltas of another reducer than its present one: restore that reducer, or fold the deltas \
                             into a value in a migration";
