use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::checkpoint::{ChangeKind, FieldChange};
use crate::engine::task::{Encoded, Finished};
use crate::erased::{ErasedState, StateType};
use crate::payload::Payload;
use crate::reducers::StoredAs;
use crate::state::{EncodeError, FieldSpec, Form};

use super::resets::{Resets, StoredResets};
use super::stored_size::StoredSize;
use super::task_changes::{Author, AuthoredChange, without_authors};

/// Collects the field changes of the next checkpoint.
#[derive(Debug, Default)]
pub(crate) struct FieldChanges {
    /// The stored size of each field.
    sizes: Vec<StoredSize>,
    /// Fields that are not stored yet, or not in this version. The next checkpoint contains their whole values.
    unstored: Vec<usize>,
    /// Changes that were made between two checkpoints.
    carried: Vec<AuthoredChange>,
    buffer: Vec<u8>,
    /// For a subgraph run on the parent state. Its writes are stored unchanged, and the state itself is not.
    resets: Option<Resets>,
}

/// The error for a field whose value cannot be stored.
pub(crate) type NotStored = (usize, EncodeError);

impl FieldChanges {
    /// Creates a collector for a thread with these stored fields.
    pub(crate) fn new(sizes: Vec<StoredSize>, unstored: Vec<usize>) -> Self {
        Self { sizes, unstored, ..Self::default() }
    }

    /// Returns `true` if no field is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Creates a collector for a thread of which nothing is stored.
    pub(crate) fn fresh(state: &StateType) -> Self {
        Self::new(vec![StoredSize::default(); state.fields], (0..state.fields).collect())
    }

    /// Creates a collector for a subgraph run on the parent state.
    pub(crate) fn on_parent_state(state: &StateType, resets: Resets) -> Self {
        Self { resets: Some(resets), ..Self::new(vec![StoredSize::default(); state.fields], Vec::new()) }
    }

    /// Returns the meaning of the stored values; `None` unless the run works on the parent state.
    pub(crate) fn resets(&self, state: &StateType) -> Option<StoredResets> {
        self.resets.as_ref().map(|resets| resets.stored(state))
    }

    /// Returns `true` if every write has to be encoded when its task makes it.
    pub(crate) fn keeps_writes(&self) -> bool {
        self.resets.is_some()
    }

    /// Keeps an update that was applied before the superstep, for the checkpoint after it.
    pub(crate) fn carry(
        &mut self,
        state: &dyn ErasedState,
        encoded: Option<&Encoded>,
        touched: &[usize],
    ) -> Result<(), NotStored> {
        let mut changes = Vec::new();
        for &field in touched {
            self.of_field(state, field, encoded.into_iter().map(|encoded| (0, encoded)), &mut changes)?;
        }
        self.carried
            .extend(changes.into_iter().map(|change| AuthoredChange { author: Author::NoTask, ..change }));
        Ok(())
    }

    /// Returns the changes that the next checkpoint contains even without a write: fields that are not stored yet,
    /// and changes made between two checkpoints.
    pub(crate) fn unwritten(&mut self, state: &dyn ErasedState) -> Result<Vec<FieldChange>, NotStored> {
        let changes = self.of_superstep(state, &[], &[], &[])?;
        Ok(without_authors(changes))
    }

    /// Returns the field changes of a superstep that was folded into `state`, with their authors. The collector changes only if all of
    /// them could be encoded.
    pub(crate) fn of_superstep(
        &mut self,
        state: &dyn ErasedState,
        results: &[Option<Finished>],
        touched: &[usize],
        cleared: &[usize],
    ) -> Result<Vec<AuthoredChange>, NotStored> {
        let most = self.unstored.len() + self.carried.len() + touched.len() + cleared.len();
        let (mut changes, mut resets) = (Vec::with_capacity(most), self.resets.clone());
        if !self.unstored.is_empty() {
            let written: HashSet<usize> = touched.iter().copied().collect();
            for &field in &self.unstored.clone() {
                let author = if written.contains(&field) { Author::Writers } else { Author::NoTask };
                self.whole(state, field, author, &mut changes)?;
            }
        }
        changes.extend(self.carried.iter().filter(|change| !self.unstored.contains(&change.field)).cloned());
        for &field in touched {
            if self.unstored.contains(&field) {
                continue;
            }
            let encoded = results.iter().enumerate();
            let encoded =
                encoded.filter_map(|(task, result)| Some((task, result.as_ref()?.encoded.as_deref()?)));
            let is_cleared = cleared.contains(&field);
            match &mut resets {
                None if is_cleared => {
                    // No delta contains the clearing that came before the write.
                    self.whole(state, field, Author::Writers, &mut changes)?;
                    continue;
                }
                None => {}
                Some(resets) => {
                    let writes = encoded.clone().flat_map(|(_, encoded)| &encoded.writes);
                    let writes = writes.filter(|write| write.field == field);
                    if resets.add(state.state_type(), field, writes, is_cleared) {
                        let mut before = state.copied();
                        if let Some(before) = Arc::get_mut(&mut before) {
                            before.clear_field(field, &mut *(state.state_type().undos)());
                        }
                        self.whole(&*before, field, Author::NoTask, &mut changes)?;
                    }
                }
            }
            self.of_field(state, field, encoded, &mut changes)?;
        }
        for &field in cleared {
            if self.unstored.contains(&field) || touched.contains(&field) {
                continue;
            }
            if let Some(resets) = &mut resets {
                resets.clear(field);
            }
            self.whole(state, field, Author::NoTask, &mut changes)?;
        }
        self.unstored.clear();
        self.carried.clear();
        self.resets = resets;
        Ok(changes)
    }

    /// Adds the changes of one written field.
    fn of_field<'e>(
        &mut self,
        state: &dyn ErasedState,
        field: usize,
        encoded: impl Iterator<Item = (usize, &'e Encoded)>,
        changes: &mut Vec<AuthoredChange>,
    ) -> Result<(), NotStored> {
        let Some(spec) = state.state_type().field(field) else { return Ok(()) };
        let as_written = self.resets.is_some() && spec.reducer.is_some() && spec.stored.is_some();
        if matches!(spec.stored, None | Some(StoredAs::Value)) && !as_written {
            return self.whole(state, field, Author::Writers, changes);
        }
        let from = changes.len();
        let mut bytes = 0;
        for (task, encoded) in encoded {
            for write in encoded.writes.iter().filter(|write| write.field == field) {
                let Some(payload) = encoded.payload(write) else { continue };
                bytes += payload.len();
                let kind = match write.form {
                    Form::Delta => ChangeKind::Delta,
                    Form::Overwrite => ChangeKind::Value,
                    // Stored writes are always prepared.
                    Form::Update => continue,
                };
                let author = Author::Task(task);
                changes.push(AuthoredChange { field, author, change: change(spec, kind, payload) });
            }
        }
        let written = changes.get(from..).unwrap_or_default();
        if let Some(at) = written.iter().rposition(|change| change.change.kind == ChangeKind::Value) {
            // An overwrite cancels every other write of its superstep to the field. Its task may have made several.
            let whole = changes.swap_remove(from + at);
            changes.truncate(from);
            self.set(field, StoredSize::whole(whole.change.payload.len()));
            changes.push(whole);
            return Ok(());
        }
        let Some(size) = self.sizes.get_mut(field) else { return Ok(()) };
        if spec.stored == Some(StoredAs::Delta) && self.resets.is_none() && size.grow(bytes) {
            let value = encode(state, field, &mut self.buffer)?;
            if let Some(payload) = value
                && size.outweighs(payload.len())
            {
                changes.truncate(from);
                let change = change(spec, ChangeKind::Value, payload);
                changes.push(AuthoredChange { field, author: Author::Writers, change });
            }
        }
        Ok(())
    }

    /// Adds a field's whole value.
    fn whole(
        &mut self,
        state: &dyn ErasedState,
        field: usize,
        author: Author,
        changes: &mut Vec<AuthoredChange>,
    ) -> Result<(), NotStored> {
        let Some(spec) = state.state_type().field(field) else { return Ok(()) };
        if let Some(payload) = encode(state, field, &mut self.buffer)? {
            self.set(field, StoredSize::whole(payload.len()));
            changes.push(AuthoredChange { field, author, change: change(spec, ChangeKind::Value, payload) });
        }
        Ok(())
    }

    fn set(&mut self, field: usize, size: StoredSize) {
        if let Some(slot) = self.sizes.get_mut(field) {
            *slot = size;
        }
    }
}

fn change(spec: &'static FieldSpec, kind: ChangeKind, payload: Payload) -> FieldChange {
    FieldChange::new(Cow::Borrowed(spec.name), kind, payload)
}

/// Encodes the whole value of a field; `None` if the field is never stored.
pub(crate) fn encode(
    state: &dyn ErasedState,
    field: usize,
    buffer: &mut Vec<u8>,
) -> Result<Option<Payload>, NotStored> {
    buffer.clear();
    let encoding = state.encode(field, buffer).map_err(|error| (field, error))?;
    Ok(encoding.map(|encoding| Payload::new(encoding, buffer.as_slice())))
}
