//! The results of an applied superstep. Its tasks are planned by one checkpoint, and their writes are field changes of
//! the next.

use std::collections::HashMap;
use std::sync::Arc;

use crate::checkpoint::{
    ChangeKind, Checkpoint, CheckpointSource, RecordKey, RecordKind, StoredChange, StoredField, TaskRecord,
};
use crate::engine::graph::Compiled;
use crate::engine::stored::{ChangesByField, START, is_delta, key, ordinal, parse_write_key, progress};
use crate::erased::TaskWrites;
use crate::error::ErrorKind;
use crate::payload::Payload;
use crate::state::{FieldSpec, Form};

use super::read_records::{RecordReader, planned};

/// The checkpoint that has applied a superstep, with its field changes. Changes of other checkpoints are ignored.
#[derive(Clone, Debug)]
pub(crate) struct AppliedBy {
    pub(crate) checkpoint: Checkpoint,
    pub(crate) fields: Vec<StoredField>,
}

/// The result of a task of an applied superstep.
pub(crate) struct AppliedResult {
    pub(crate) writes: TaskWrites,
    /// The fields of which `writes` has the value after the superstep, as an overwrite. Fields that a dump leaves out are
    /// not named.
    pub(crate) whole_values: Vec<Arc<str>>,
}

/// Returns `true` if `next` was made by the superstep that `checkpoint` has planned.
pub(crate) fn is_applied_by(checkpoint: &Checkpoint, next: &Checkpoint) -> bool {
    // Durability `Exit` merges checkpoints. The changes of a merged one belong to several supersteps.
    next.parent == Some(checkpoint.id)
        && next.source == CheckpointSource::Loop
        && next.step == checkpoint.step.saturating_add(1)
}

/// Returns `true` if the result of a planned task is not among the records of its checkpoint.
pub(crate) fn has_unrecorded_tasks(checkpoint: &Checkpoint, records: &[TaskRecord]) -> bool {
    let finished = records.iter().filter(|record| record.key.kind == RecordKind::Finished).count();
    !is_input(checkpoint) && finished < planned(checkpoint, records).len()
}

fn is_input(checkpoint: &Checkpoint) -> bool {
    checkpoint.next.iter().any(|next| &**next == START)
}

/// The results of a superstep's tasks, read from the checkpoint that has applied it.
pub(crate) struct AppliedResults<'r> {
    graph: &'r Compiled,
    thread: &'r Arc<str>,
    checkpoint: &'r Checkpoint,
    records: &'r [TaskRecord],
    by: &'r Checkpoint,
    /// The changes of the superstep.
    changes: HashMap<&'r str, Vec<&'r StoredChange>>,
    /// The fields of the state by their names.
    specs: HashMap<&'static str, (usize, &'static FieldSpec)>,
    stored: progress::StoredProgress,
    is_alone: bool,
}

impl<'r> AppliedResults<'r> {
    pub(crate) fn new(
        graph: &'r Compiled,
        thread: &'r Arc<str>,
        (checkpoint, records): (&'r Checkpoint, &'r [TaskRecord]),
        AppliedBy { checkpoint: by, fields }: &'r AppliedBy,
    ) -> Result<Self, ErrorKind> {
        let changes = fields.iter().map(|field| {
            let of_superstep = field.changes.iter().filter(|change| change.checkpoint == by.id);
            (field.field.as_str(), of_superstep.collect())
        });
        let specs = (0..graph.state.fields).filter_map(|field| {
            let spec = graph.state.field(field)?;
            Some((spec.name, (field, spec)))
        });
        Ok(Self {
            changes: changes.collect(),
            specs: specs.collect(),
            stored: progress::read(thread, by)?,
            is_alone: planned(checkpoint, records).len() == 1,
            graph,
            thread,
            checkpoint,
            records,
            by,
        })
    }

    /// Returns the result of a task; `None` if an older program has stored it in a way that does not tell.
    pub(crate) fn of_task(&self, task: usize) -> Result<Option<AppliedResult>, ErrorKind> {
        if is_input(self.checkpoint) {
            return self.of_input().map(Some);
        }
        let assigned = self.stored.wrote.as_ref().map(|wrote| wrote.of_task(task));
        match assigned {
            Some(Some(numbers)) => {
                self.read(|field, changes| assigned_changes(numbers, field, changes)).map(Some)
            }
            None if self.is_alone => self.read(|_, changes| changes.to_vec()).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the input, which has records of its own.
    fn of_input(&self) -> Result<AppliedResult, ErrorKind> {
        let reader = RecordReader {
            graph: self.graph,
            thread: self.thread,
            checkpoint: self.checkpoint,
            records: self.records,
        };
        // A field without a reducer is written and not overwritten, also where the input sets it directly.
        let records =
            reader.of(0, RecordKind::Write).enumerate().map(|(nth, record)| {
                match parse_write_key(&record.key.key) {
                    Some((Form::Overwrite, field)) if !self.has_reducer(field) => {
                        write_record(nth, Form::Delta, field, record.payload.clone())
                    }
                    _ => record.clone(),
                }
            });
        let records: Vec<TaskRecord> = records.collect();
        let whole_values = records.iter().filter(|record| !is_delta(record));
        let whole_values =
            whole_values.filter_map(|record| self.shown_name(parse_write_key(&record.key.key)?.1)).collect();
        let (writes, _) = reader.writes(records.iter(), None)?;
        Ok(AppliedResult { writes, whole_values })
    }

    /// Reads the changes that `select` returns for each field.
    fn read(
        &self,
        select: impl Fn(&str, &[&'r StoredChange]) -> Vec<&'r StoredChange>,
    ) -> Result<AppliedResult, ErrorKind> {
        let (mut records, mut whole_values) = (Vec::new(), Vec::new());
        let mut fields: Vec<(&str, &Vec<&StoredChange>)> =
            self.changes.iter().map(|(field, changes)| (*field, changes)).collect();
        fields.sort_by_key(|(field, _)| (self.specs.get(field).map(|(nth, _)| *nth), *field));
        for (field, changes) in fields {
            for change in select(field, changes) {
                let is_whole = change.kind == ChangeKind::Value && self.has_reducer(field);
                if is_whole {
                    whole_values.extend(self.shown_name(field));
                }
                let form = if is_whole { Form::Overwrite } else { Form::Delta };
                records.push(write_record(records.len(), form, field, change.payload.clone()));
            }
        }
        let (graph, thread) = (self.graph, self.thread);
        let reader = RecordReader { graph, thread, checkpoint: self.by, records: &[] };
        let (writes, _) = reader.writes(records.iter(), None)?;
        Ok(AppliedResult { writes, whole_values })
    }

    fn has_reducer(&self, field: &str) -> bool {
        self.specs.get(field).is_some_and(|(_, spec)| spec.reducer.is_some())
    }

    fn shown_name(&self, field: &str) -> Option<Arc<str>> {
        let (_, spec) = self.specs.get(field)?;
        (!spec.excluded && !spec.untracked).then(|| Arc::from(spec.name))
    }
}

/// Returns a record of a write, as a task's result has it.
pub(super) fn write_record(nth: usize, form: Form, field: &str, payload: Payload) -> TaskRecord {
    let form = if form == Form::Overwrite { 'v' } else { 'd' };
    let at = key(RecordKey::NO_TASK, RecordKind::Write, &format!("{}{form}:{field}", ordinal(nth)));
    TaskRecord::new(at, payload)
}

/// Returns the changes of a field with these numbers, which count from the last change. The others were superseded.
fn assigned_changes<'r>(
    numbers: &ChangesByField,
    field: &str,
    changes: &[&'r StoredChange],
) -> Vec<&'r StoredChange> {
    let numbers = numbers.get(field).map(Vec::as_slice).unwrap_or_default();
    let at = |number: &usize| changes.get(changes.len().checked_sub(number.checked_add(1)?)?).copied();
    numbers.iter().filter_map(at).collect()
}
