use std::error::Error;

use serde_json::Value;

use crate::checkpoint::{ChangeKind, CheckpointId, StoredChange, StoredField};
use crate::payload::{Encoding, Payload};

use super::MigrationError;
use super::wide_number::holds_wide_number;

/// What a store holds of a state, as JSON by field: what a migration works on.
///
/// A field is here under the name under which it was stored, if anything was stored of it. Not only states are migrated:
/// what a finished task has written is, too, and of that only the written fields are here.
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
    /// Only what a task has written: what is not here was not written, and is not to be.
    partial: bool,
}

/// What a closure of a migration's may fail with: any error.
type Any = Box<dyn Error + Send + Sync>;

impl Stored {
    /// The fields of a state.
    #[doc(hidden)]
    pub fn __of_state(fields: Vec<StoredField>) -> Self {
        Self { fields, partial: false }
    }

    /// What a task has written that is still to be applied.
    #[doc(hidden)]
    pub fn __of_writes(fields: Vec<StoredField>) -> Self {
        Self { fields, partial: true }
    }

    /// The fields as they are now.
    #[doc(hidden)]
    pub fn __into_fields(self) -> Vec<StoredField> {
        self.fields
    }

    /// The names of the fields of which something is stored.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.field.as_str())
    }

    /// Whether something is stored of a field.
    pub fn contains(&self, name: &str) -> bool {
        self.names().any(|stored| stored == name)
    }

    /// Gives a field another name. If something is stored under that one as well, the two histories become one.
    ///
    /// A name that only changes needs no migration, `#[state(alias = "..")]` does.
    pub fn rename(&mut self, old: &str, new: &str) {
        let mut renamed = self.take(old);
        match self.fields.iter_mut().find(|field| field.field == new) {
            Some(field) => {
                renamed.append(&mut field.changes);
                // Checkpoints of a branch are in the order of their ids.
                renamed.sort_by_key(|piece| piece.checkpoint);
                field.changes = renamed;
            }
            None if renamed.is_empty() => {}
            None => self.fields.push(StoredField { field: new.to_owned(), changes: renamed }),
        }
    }

    /// Drops what is stored of a field.
    ///
    /// A field that the state just no longer has needs no migration: what is stored of it is ignored.
    pub fn remove(&mut self, name: &str) {
        self.take(name);
    }

    /// Stores a value for a field of which nothing is stored.
    ///
    /// A field with `#[state(default = ..)]` needs no migration.
    pub fn insert(&mut self, name: &str, value: Value) {
        if self.partial || self.contains(name) {
            return;
        }
        let payload = json(&value);
        let piece = StoredChange { checkpoint: BEFORE_ALL, kind: ChangeKind::Value, payload };
        self.fields.push(StoredField { field: name.to_owned(), changes: vec![piece] });
    }

    /// Changes what is stored of a field: the value, and each delta alike. A field of which nothing is stored is left so.
    ///
    /// What a delta is says the field's reducer; the built-in ones that store deltas (`append`, `merge`, `union`) have
    /// deltas that look like the value.
    ///
    /// # Errors
    /// The closure's; something is stored that JSON values cannot hold: bytes, or an integer of more than 64 bits.
    pub fn change(
        &mut self,
        name: &str,
        mut change: impl FnMut(Value) -> Result<Value, Any>,
    ) -> Result<(), MigrationError> {
        for field in self.fields.iter_mut().filter(|field| field.field == name) {
            for piece in &mut field.changes {
                let value = parsed(&piece.payload).and_then(&mut change);
                piece.payload = json(&value.map_err(|reason| wrong(name, &reason))?);
            }
        }
        Ok(())
    }

    /// Makes one value of what is stored of a field, so that no delta is left: for a field whose reducer is another than
    /// the one that has made the deltas. `fold` is given the value so far and the next delta; without a value the field was
    /// at its start value before the first delta.
    ///
    /// # Errors
    /// As [`change`](Self::change). Also for writes of a superstep that is not finished yet: the value that they are to be
    /// folded into is not here.
    pub fn fold(
        &mut self,
        name: &str,
        mut fold: impl FnMut(Option<Value>, Value) -> Result<Value, Any>,
    ) -> Result<(), MigrationError> {
        for field in self.fields.iter_mut().filter(|field| field.field == name) {
            if self.partial && field.changes.iter().any(|piece| piece.kind == ChangeKind::Delta) {
                let reason = "a superstep that was to fold its deltas is not finished";
                return Err(wrong(name, &reason.into()));
            }
            let Some(checkpoint) = field.changes.last().map(|piece| piece.checkpoint) else { continue };
            let mut value = None;
            for piece in &field.changes {
                let next = parsed(&piece.payload).map_err(|reason| wrong(name, &reason))?;
                value = Some(match piece.kind {
                    ChangeKind::Value => next,
                    ChangeKind::Delta => fold(value, next).map_err(|reason| wrong(name, &reason))?,
                });
            }
            if let Some(value) = value {
                let payload = json(&value);
                field.changes = vec![StoredChange { checkpoint, kind: ChangeKind::Value, payload }];
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

/// No checkpoint has this id: it stands for what a migration has made.
const BEFORE_ALL: CheckpointId = CheckpointId::FIRST;

fn wrong(field: &str, reason: &Any) -> MigrationError {
    MigrationError::Change { field: field.to_owned(), reason: reason.to_string() }
}

fn json(value: &Value) -> Payload {
    Payload::json(value.to_string())
}

fn parsed(payload: &Payload) -> Result<Value, Any> {
    match payload.encoding() {
        Encoding::Json if holds_wide_number(payload.bytes()) => {
            Err("it holds an integer of more than 64 bits, which would be rounded".into())
        }
        Encoding::Json => Ok(serde_json::from_slice(payload.bytes())?),
        Encoding::Bytes => Err("it is stored as bytes, not as JSON".into()),
        _ => Err("it is encrypted, and no key has opened it".into()),
    }
}
