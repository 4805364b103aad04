//! The states of the checkpoints of a page. Each is made from that of its base, by the changes since.

use std::collections::HashMap;
use std::sync::Arc;

use crate::checkpoint::{ChangeKind, Checkpoint, CheckpointId, StoredChange, StoredField, TaskRecord};
use crate::engine::apply::own;
use crate::engine::graph::Compiled;
use crate::engine::stored::{FieldChanges, Program, START, corrupt};
use crate::erased::ErasedState;
use crate::error::{ErrorKind, with_causes};
use crate::state::{Form, have_large_number};

use super::applied::write_record;
use super::read_records::RecordReader;
use super::restored_state::{RestoredState, read_state};

/// The states read so far. A checkpoint is added after its base.
pub(crate) struct PageStates<'g> {
    graph: &'g Compiled,
    thread: &'g Arc<str>,
    has_reducer: HashMap<&'static str, bool>,
    known: HashMap<CheckpointId, PageState>,
}

/// A state without the updates of resumes at its checkpoint.
struct PageState {
    base: Option<CheckpointId>,
    /// All fields, or their changes since the base.
    fields: Vec<StoredField>,
    state: Option<Arc<dyn ErasedState>>,
}

impl<'g> PageStates<'g> {
    pub(crate) fn new(graph: &'g Compiled, thread: &'g Arc<str>) -> Self {
        let specs = (0..graph.state.fields).filter_map(|field| graph.state.field(field));
        let has_reducer = specs.map(|spec| (spec.name, spec.reducer.is_some())).collect();
        Self { graph, thread, has_reducer, known: HashMap::new() }
    }

    /// Returns the state of a checkpoint for display; `None` if its input is the first of a thread. The fields are
    /// complete, or those that changed since `base`.
    pub(crate) fn add(
        &mut self,
        checkpoint: &Checkpoint,
        records: &[TaskRecord],
        base: Option<CheckpointId>,
        fields: Vec<StoredField>,
    ) -> Result<Option<Arc<dyn ErasedState>>, ErrorKind> {
        let state = self.read(checkpoint, base, &fields)?;
        self.known.insert(checkpoint.id, PageState { base, fields, state: state.clone() });
        let Some(state) = state else { return Ok(None) };
        let mut read = RestoredState { state, changes: FieldChanges::default() };
        let reader = RecordReader { graph: self.graph, thread: self.thread, checkpoint, records };
        // The update of a resume is among the changes of the next checkpoint. It copies the state, which is shared.
        reader.patch(&mut read)?;
        Ok(Some(read.state))
    }

    fn read(
        &self,
        checkpoint: &Checkpoint,
        base: Option<CheckpointId>,
        fields: &[StoredField],
    ) -> Result<Option<Arc<dyn ErasedState>>, ErrorKind> {
        let known = base.and_then(|base| self.known.get(&base));
        if let Some(PageState { state: Some(base), .. }) = known
            && let Some(state) = self.changed(&**base, checkpoint, fields)?
        {
            return Ok(Some(state));
        }
        let complete = self.complete(known, fields);
        if complete.is_empty() && checkpoint.next.iter().any(|next| &**next == START) {
            return Ok(None);
        }
        Ok(Some(read_state(self.graph.state, self.thread, checkpoint, complete)?.state))
    }

    /// Returns a copy of a state with changes applied. `None` if the fields have to be migrated, or checked for numbers that
    /// are too large.
    fn changed(
        &self,
        base: &dyn ErasedState,
        checkpoint: &Checkpoint,
        fields: &[StoredField],
    ) -> Result<Option<Arc<dyn ErasedState>>, ErrorKind> {
        let is_current = Program::of_run(self.thread, checkpoint)?.versions == self.graph.state.versions();
        if !is_current || have_large_number(fields) {
            return Ok(None);
        }
        let mut records = Vec::new();
        for StoredField { field, changes, .. } in fields {
            let has_reducer = self.has_reducer.get(field.as_str()).copied().unwrap_or_default();
            for change in since_whole(changes) {
                let whole = change.kind == ChangeKind::Value && has_reducer;
                let form = if whole { Form::Overwrite } else { Form::Delta };
                records.push(write_record(records.len(), form, field, change.payload.clone()));
            }
        }
        let reader = RecordReader { graph: self.graph, thread: self.thread, checkpoint, records: &[] };
        let (writes, _) = reader.writes(records.iter(), None)?;
        let mut state = base.copied();
        if let (Some(mut writes), Some(state)) = (writes.into_erased(), own(&mut state)) {
            let mut undos = (self.graph.state.undos)();
            writes.fold(state, &|_, _| true, &mut *undos).map_err(|(field, error)| {
                let field = format!("field `{}`", self.graph.state.field_name(field));
                corrupt(self.thread, checkpoint, field, with_causes(&error))
            })?;
        }
        Ok(Some(state))
    }

    /// Returns all fields of a checkpoint with these changes since its base.
    fn complete(&self, base: Option<&PageState>, fields: &[StoredField]) -> Vec<StoredField> {
        let mut levels = vec![fields];
        let mut next = base;
        while let Some(PageState { base, fields, .. }) = next {
            levels.push(fields);
            next = base.and_then(|base| self.known.get(&base));
        }
        let mut order: Vec<&str> = Vec::new();
        let mut complete: HashMap<&str, Vec<StoredChange>> = HashMap::new();
        for StoredField { field, changes, .. } in levels.into_iter().rev().flatten() {
            let all = complete.entry(field).or_insert_with(|| {
                order.push(field);
                Vec::new()
            });
            if changes.iter().any(|change| change.kind == ChangeKind::Value) {
                all.clear();
            }
            all.extend(since_whole(changes).iter().cloned());
        }
        let field = |name: &str| StoredField::new(name, complete.remove(name).unwrap_or_default());
        order.into_iter().map(field).collect()
    }
}

/// Returns the changes from the last whole value on.
fn since_whole(changes: &[StoredChange]) -> &[StoredChange] {
    let whole = changes.iter().rposition(|change| change.kind == ChangeKind::Value);
    changes.get(whole.unwrap_or_default()..).unwrap_or_default()
}
