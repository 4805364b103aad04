use std::error::Error;

use serde_json::Value;

use crate::checkpoint::{ChangeKind, CheckpointId, StoredChange, StoredField};
use crate::payload::{Encoding, Payload};

use super::MigrationError;
use super::wide_number::holds_wide_number;

/// The stored fields of a state as JSON, for a migration.
///
/// It contains each stored field under the name under which it was stored. A migration also runs on the writes of a
/// finished task in an unfinished superstep; it then contains only the written fields.
///
/// ```
/// use superstep::state::{MigrationError, Stored};
/// use serde_json::json;
///
/// fn migrate(from: u32, stored: &mut Stored) -> Result<(), MigrationError> {
///     if from < 1 {
///         stored.rename("text", "question");
///         stored.change("confidence", |percent| Ok(json!(percent.as_f64().ok_or("no number")? / 100.0)))?;
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Stored {
    fields: Vec<StoredField>,
    /// `true` for the writes of a task: a field that is missing here was not written, and must not be inserted.
    partial: bool,
}

/// Any error, for the closures of a migration.
type AnyError = Box<dyn Error + Send + Sync>;

impl Stored {
    /// The stored fields of a state.
    #[doc(hidden)]
    pub fn __of_state(fields: Vec<StoredField>) -> Self {
        Self { fields, partial: false }
    }

    /// The writes of a task that are not applied yet.
    #[doc(hidden)]
    pub fn __of_writes(fields: Vec<StoredField>) -> Self {
        Self { fields, partial: true }
    }

    /// Returns the fields.
    #[doc(hidden)]
    pub fn __into_fields(self) -> Vec<StoredField> {
        self.fields
    }

    /// Returns the names of the stored fields.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.field.as_str())
    }

    /// Returns `true` if the field is stored.
    pub fn contains(&self, name: &str) -> bool {
        self.names().any(|stored| stored == name)
    }

    /// Renames a field. If a field with the new name is stored as well, their histories are merged.
    ///
    /// A plain rename needs no migration: use `#[state(alias = "..")]`.
    pub fn rename(&mut self, old: &str, new: &str) {
        let mut renamed = self.take(old);
        match self.fields.iter_mut().find(|field| field.field == new) {
            Some(field) => {
                renamed.append(&mut field.changes);
                // Checkpoints of a branch are in the order of their ids.
                renamed.sort_by_key(|change| change.checkpoint);
                field.changes = renamed;
            }
            None if renamed.is_empty() => {}
            None => self.fields.push(StoredField::new(new.to_owned(), renamed)),
        }
    }

    /// Removes a stored field.
    ///
    /// A field that the state no longer has needs no migration: it is ignored.
    pub fn remove(&mut self, name: &str) {
        self.take(name);
    }

    /// Stores a value for a field that is not stored. Does nothing for the writes of a task.
    ///
    /// A field with `#[state(default = ..)]` needs no migration.
    pub fn insert(&mut self, name: &str, value: Value) {
        if self.partial || self.contains(name) {
            return;
        }
        let payload = json(&value);
        let change = StoredChange::new(BEFORE_ALL, ChangeKind::Value, payload);
        self.fields.push(StoredField::new(name.to_owned(), vec![change]));
    }

    /// Changes a stored field: its value and each of its deltas. Does nothing if the field is not stored.
    ///
    /// The form of a delta depends on the field's reducer. The deltas of the built-in reducers that store them (`append`,
    /// `merge`, `union`) look like the value.
    ///
    /// # Errors
    /// The error of the closure, or a stored value that a JSON value cannot represent: bytes, or an integer of more than 64
    /// bits.
    pub fn change(
        &mut self,
        name: &str,
        mut change: impl FnMut(Value) -> Result<Value, AnyError>,
    ) -> Result<(), MigrationError> {
        for field in self.fields.iter_mut().filter(|field| field.field == name) {
            for stored in &mut field.changes {
                let value = parsed(&stored.payload).and_then(&mut change);
                stored.payload = json(&value.map_err(|reason| wrong(name, &reason))?);
            }
        }
        Ok(())
    }

    /// Folds the stored deltas of a field into one value, for a field whose reducer has changed.
    ///
    /// `fold` takes the value so far and the next delta. The value is `None` if the field had its start value before the
    /// first delta.
    ///
    /// # Errors
    /// As [`change`](Self::change). It also fails for the deltas of an unfinished superstep, because the value into which
    /// they fold is missing.
    pub fn fold(
        &mut self,
        name: &str,
        mut fold: impl FnMut(Option<Value>, Value) -> Result<Value, AnyError>,
    ) -> Result<(), MigrationError> {
        for field in self.fields.iter_mut().filter(|field| field.field == name) {
            if self.partial && field.changes.iter().any(|change| change.kind == ChangeKind::Delta) {
                let reason = "the superstep that folds its deltas is not finished";
                return Err(wrong(name, &reason.into()));
            }
            let Some(checkpoint) = field.changes.last().map(|change| change.checkpoint) else { continue };
            let mut value = None;
            for change in &field.changes {
                let next = parsed(&change.payload).map_err(|reason| wrong(name, &reason))?;
                value = Some(match change.kind {
                    ChangeKind::Value => next,
                    ChangeKind::Delta => fold(value, next).map_err(|reason| wrong(name, &reason))?,
                });
            }
            if let Some(value) = value {
                let payload = json(&value);
                field.changes = vec![StoredChange::new(checkpoint, ChangeKind::Value, payload)];
            }
        }
        Ok(())
    }

    fn take(&mut self, name: &str) -> Vec<StoredChange> {
        let (taken, left) =
            std::mem::take(&mut self.fields).into_iter().partition(|field| field.field == name);
        self.fields = left;
        let taken: Vec<StoredField> = taken;
        taken.into_iter().flat_map(|field| field.changes).collect()
    }
}

/// The id of values from a migration. No checkpoint has it.
const BEFORE_ALL: CheckpointId = CheckpointId::FIRST;

fn wrong(field: &str, reason: &AnyError) -> MigrationError {
    MigrationError::Change { field: field.to_owned(), reason: reason.to_string() }
}

fn json(value: &Value) -> Payload {
    Payload::json(value.to_string())
}

fn parsed(payload: &Payload) -> Result<Value, AnyError> {
    match payload.encoding() {
        Encoding::Json if holds_wide_number(payload.bytes()) => {
            Err("it holds an integer of more than 64 bits, which would be rounded".into())
        }
        Encoding::Json => Ok(serde_json::from_slice(payload.bytes())?),
        Encoding::Bytes => Err("it is stored as bytes, not as JSON".into()),
        _ => Err("it is encrypted and was not decrypted".into()),
    }
}
