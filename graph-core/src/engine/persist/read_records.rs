use std::sync::Arc;

use crate::checkpoint::{
    ChangeKind, Checkpoint, RecordKey, RecordKind, StoredChange, StoredField, TaskRecord,
};
use crate::engine::task::Finished;
use crate::error::ErrorKind;
use crate::graph::Compiled;
use crate::node::stored_update::{StoredUpdate, UnreadableUpdate};
use crate::node::{ErasedParentCommand, Leave};
use crate::payload::Payload;
use crate::plan::Task;
use crate::state::{Form, Stored};

use super::corrupt::{corrupt, outdated};
use super::keys::parse_write_key;
use super::opened::{Known, NamedTasks};
use super::program::Program;
use super::read_state::migrate;
use super::records::{ReadWrites, decode_writes};
use super::said::{StoredSaid, Unsaid};
use super::stored_finish::StoredFinish;

/// Reads the stored progress of a checkpoint's tasks for display, including tasks that a resume has added.
///
/// A node that the graph no longer has is shown by its name.
pub(crate) fn read_tasks(
    graph: &Compiled,
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    records: &[TaskRecord],
) -> Result<NamedTasks, ErrorKind> {
    let reader = Reader { graph, thread, checkpoint, records };
    let named = planned(checkpoint, records).into_iter().enumerate();
    let tasks = named.map(|(index, name)| {
        let node = graph.find(&name);
        let task = node.map(|node| Task { node, packet: None });
        let known = task.map(|task| reader.known(index, &task)).transpose()?;
        Ok((name, known.unwrap_or_default()))
    });
    tasks.collect()
}

/// Returns the nodes planned at a checkpoint, including those that resumes have added.
pub(crate) fn planned(checkpoint: &Checkpoint, records: &[TaskRecord]) -> Vec<Arc<str>> {
    let added = records.iter().filter(|record| record.key.kind == RecordKind::Goto);
    let added = added.map(|record| Arc::from(String::from_utf8_lossy(record.payload.bytes())));
    checkpoint.next.iter().cloned().chain(added).collect()
}

/// Reads the records of a checkpoint.
pub(super) struct Reader<'r> {
    pub(super) graph: &'r Compiled,
    pub(super) thread: &'r Arc<str>,
    pub(super) checkpoint: &'r Checkpoint,
    /// The records in the order in which a store returns them: by task, kind and key.
    pub(super) records: &'r [TaskRecord],
}

impl<'r> Reader<'r> {
    /// Returns the records of this kind of a task. A plan may have many tasks, so this does not scan the records.
    pub(super) fn of(&self, task: u32, kind: RecordKind) -> impl Iterator<Item = &'r TaskRecord> + use<'r> {
        let place = |record: &TaskRecord| (record.key.task, record.key.kind);
        let first = self.records.partition_point(|record| place(record) < (task, kind));
        let records = self.records.get(first..).unwrap_or_default();
        records.iter().take_while(move |record| place(record) == (task, kind))
    }

    /// Returns the answer to the interrupt with this key.
    fn answer_to(&self, interrupt: &RecordKey) -> Option<&'r TaskRecord> {
        let answer = RecordKey::new(interrupt.task, RecordKind::Answer, Arc::clone(&interrupt.key));
        let found = self.records.binary_search_by(|record| record.key.cmp(&answer)).ok()?;
        self.records.get(found)
    }

    pub(super) fn json<T: serde::de::DeserializeOwned>(&self, record: &TaskRecord) -> Result<T, ErrorKind> {
        serde_json::from_slice(record.payload.bytes())
            .map_err(|error| self.corrupt(record, error.to_string()))
    }

    fn corrupt(&self, record: &TaskRecord, reason: String) -> ErrorKind {
        let RecordKey { task, kind, .. } = &record.key;
        corrupt(self.thread, self.checkpoint, format!("the {kind:?} record of task {task}"), reason)
    }

    /// Reads the stored progress of a task.
    pub(super) fn known(&self, index: usize, task: &Task) -> Result<Known, ErrorKind> {
        let place = super::keys::place(index);
        let mut known = Known { failure: None, ..Known::default() };
        if let Some(record) = self.of(place, RecordKind::Failed).next() {
            known.failure = Some(self.json(record)?);
        }
        if let Some(record) = self.of(place, RecordKind::Finished).next() {
            let finish: StoredFinish = self.json(record)?;
            if let Some(said) = &finish.said {
                let (writes, encoded) = self.writes(std::iter::empty(), None)?;
                let leave =
                    Leave::ErasedParentCommand(Box::new(self.said(record, said, &finish.versions)?));
                known.result = Some(Finished { writes, leave, encoded: Some(Box::new(encoded)) });
                return Ok(known);
            }
            let leave = finish.leave(self.graph, task.node);
            let leave = leave.map_err(|source| outdated(self.thread, self.checkpoint, source))?;
            let writes = self.of(place, RecordKind::Write);
            let (writes, encoded) = self.writes(writes, Some(&finish.versions))?;
            known.result = Some(Finished { writes, leave, encoded: Some(Box::new(encoded)) });
            return Ok(known);
        }
        for record in self.of(place, RecordKind::Interrupt) {
            let (id, question) = (record.key.key.to_string(), self.json(record)?);
            match self.answer_to(&record.key) {
                None => known.questions.push((id, question)),
                Some(answer) => known.answers.push((id, question, self.json(answer)?)),
            }
        }
        known.questions.sort_by_key(|(_, question)| question.nth);
        let steps = self.of(place, RecordKind::Step);
        known.steps = steps.map(|record| (record.key.key.to_string(), record.payload.clone())).collect();
        for record in self.of(place, RecordKind::Sleep) {
            known.sleeps.push((record.key.key.to_string(), self.json(record)?));
        }
        Ok(known)
    }

    /// Reads a task's command to the parent graph.
    fn said(
        &self,
        record: &TaskRecord,
        said: &StoredSaid,
        versions: &[(String, u32)],
    ) -> Result<ErasedParentCommand, ErrorKind> {
        let writes = self.of(record.key.task, RecordKind::Write).filter_map(|write| {
            let (form, field) = parse_write_key(&write.key.key)?;
            Some((form, field.to_owned(), write.payload.clone()))
        });
        let update = StoredUpdate { versions: versions.to_vec(), writes: writes.collect() };
        said.read(self.graph, update).map_err(|unsaid| match unsaid {
            Unsaid::Unread(UnreadableUpdate::Migration(source)) | Unsaid::Outdated(source) => {
                outdated(self.thread, self.checkpoint, source)
            }
            Unsaid::Unread(UnreadableUpdate::Write { field, reason }) => {
                corrupt(self.thread, self.checkpoint, format!("the write to field `{field}`"), reason)
            }
            Unsaid::Other(reason) => self.corrupt(record, reason),
        })
    }

    /// Reads the commands that have ended a run. Its last checkpoint plans no task.
    pub(super) fn all_said(&self) -> Result<Vec<ErasedParentCommand>, ErrorKind> {
        let mut all = Vec::new();
        for record in self.records.iter().filter(|record| record.key.kind == RecordKind::Finished) {
            let finish: StoredFinish = self.json(record)?;
            if let Some(said) = &finish.said {
                all.push(self.said(record, said, &finish.versions)?);
            }
        }
        Ok(all)
    }

    /// Reads prepared writes, and migrates them to this program's version.
    pub(super) fn writes(
        &self,
        records: impl Iterator<Item = &'r TaskRecord>,
        found: Option<&[(String, u32)]>,
    ) -> Result<ReadWrites, ErrorKind> {
        let records: Vec<(&str, &Payload)> =
            records.map(|record| (&*record.key.key, &record.payload)).collect();
        let of_run;
        let found = match found {
            Some(found) => found,
            None => {
                of_run = Program::parse(&self.checkpoint.run.program).versions;
                &of_run
            }
        };
        let unreadable = |(what, reason)| corrupt(self.thread, self.checkpoint, what, reason);
        if found == self.graph.state.versions() {
            return decode_writes(self.graph.state, records.into_iter()).map_err(unreadable);
        }
        // Each write is migrated as a field of its own, which keeps the order of the writes.
        let mut migrated: Vec<(String, Payload)> = Vec::new();
        for (ordinal, (key, payload)) in records.into_iter().enumerate() {
            let Some((form, field)) = parse_write_key(key) else { continue };
            let kind = match form {
                Form::Delta => ChangeKind::Delta,
                Form::Overwrite => ChangeKind::Value,
                // No stored key has this form.
                Form::Update => continue,
            };
            let piece = StoredChange::new(self.checkpoint.id, kind, payload.clone());
            let fields = vec![StoredField::new(field.to_owned(), vec![piece])];
            let stored = Stored::__of_writes(fields);
            let (fields, _) = migrate(self.graph.state, self.thread, self.checkpoint, found, stored)?;
            for field in fields {
                for piece in field.changes {
                    let form = if piece.kind == ChangeKind::Delta { 'd' } else { 'v' };
                    migrated.push((format!("{ordinal:04}{form}:{}", field.field), piece.payload));
                }
            }
        }
        let records = migrated.iter().map(|(key, payload)| (key.as_str(), payload));
        decode_writes(self.graph.state, records).map_err(unreadable)
    }
}
