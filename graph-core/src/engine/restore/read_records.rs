use std::sync::Arc;

use crate::checkpoint::{ChangeKind, Checkpoint, RecordKind, StoredChange, StoredField, TaskRecord};
use crate::engine::context::Answered;
use crate::engine::graph::Compiled;
use crate::engine::stored::{
    Program, ReadWrites, StoredCommand, StoredFinish, StoredQuestion, StoredTask, UnreadableCommand, corrupt,
    decode_writes, ordinal, outdated, parse_write_key,
};
use crate::engine::task::Finished;
use crate::error::ErrorKind;
use crate::payload::Payload;
use crate::plan::Task;
use crate::state::{Form, Stored};
use crate::step::{ErasedParentCommand, Leave, StoredUpdate, UnreadableUpdate};

use super::restored_checkpoint::{NamedTasks, TaskProgress};
use super::restored_state::migrate;
use super::task_records::TaskRecords;

/// Reads the stored progress of a checkpoint's tasks for display, including tasks that a resume has added.
///
/// A node that the graph no longer has is shown by its name.
pub(crate) fn read_tasks(
    graph: &Compiled,
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    records: &[TaskRecord],
) -> Result<NamedTasks, ErrorKind> {
    let reader = RecordReader { graph, thread, checkpoint, records };
    let named = planned(checkpoint, records).into_iter().enumerate();
    let tasks = named.map(|(index, name)| {
        let node = graph.find(&name);
        let task = node.map(|node| Task { node, packet: None });
        let task_progress = task.map(|task| reader.task_progress(index, &name, &task)).transpose()?;
        Ok((name, task_progress.unwrap_or_default()))
    });
    tasks.collect()
}

/// Returns the nodes planned at a checkpoint, including those that resumes have added.
pub(crate) fn planned(checkpoint: &Checkpoint, records: &[TaskRecord]) -> Vec<Arc<str>> {
    let added = StoredTask::shown(records).map(|added| Arc::from(added.node));
    checkpoint.next.iter().cloned().chain(added).collect()
}

/// Reads the records of a checkpoint.
pub(crate) struct RecordReader<'r> {
    pub(crate) graph: &'r Compiled,
    pub(crate) thread: &'r Arc<str>,
    pub(crate) checkpoint: &'r Checkpoint,
    /// The records in the order in which a store returns them.
    pub(crate) records: &'r [TaskRecord],
}

impl<'r> RecordReader<'r> {
    /// Returns the records, for reads that need no graph.
    fn task_records(&self) -> TaskRecords<'r> {
        TaskRecords { thread: self.thread, checkpoint: self.checkpoint, records: self.records }
    }

    /// Returns the records of this kind of a task.
    pub(crate) fn of(&self, task: u32, kind: RecordKind) -> impl Iterator<Item = &'r TaskRecord> + use<'r> {
        self.task_records().of(task, kind)
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self, record: &TaskRecord) -> Result<T, ErrorKind> {
        self.task_records().json(record)
    }

    /// Reads the stored progress of a task of the node with this name.
    pub(crate) fn task_progress(
        &self,
        index: usize,
        node: &str,
        task: &Task,
    ) -> Result<TaskProgress, ErrorKind> {
        let (place, records) = (crate::engine::stored::place(index), self.task_records());
        let mut task_progress = TaskProgress { failure: records.failure(index)?, ..TaskProgress::default() };
        if let Some(record) = self.of(place, RecordKind::Finished).next() {
            let finish: StoredFinish = self.json(record)?;
            if let Some(command) = &finish.command {
                let (writes, encoded) = self.writes(std::iter::empty(), None)?;
                let leave =
                    Leave::ErasedParentCommand(Box::new(self.command(record, command, &finish.versions)?));
                task_progress.result = Some(Finished { writes, leave, encoded: Some(Box::new(encoded)) });
                return Ok(task_progress);
            }
            let leave = finish.leave(self.graph, task.node);
            let leave = leave.map_err(|source| outdated(self.thread, self.checkpoint, source))?;
            let writes = self.of(place, RecordKind::Write);
            let (writes, encoded) = self.writes(writes, Some(&finish.versions))?;
            task_progress.result = Some(Finished { writes, leave, encoded: Some(Box::new(encoded)) });
            return Ok(task_progress);
        }
        let mut interrupts = records.interrupts(index)?;
        for (asked, answer) in interrupts.answered.drain(..) {
            let (id, question): (_, StoredQuestion) = (asked.key.key.to_string(), self.json(asked)?);
            let versions = (question.version(), question.answer_version());
            let (question, answer) = (question.question, self.json(answer)?);
            task_progress.answers.push((id, Answered { question, answer, versions }));
        }
        task_progress.questions = interrupts.open(node, index);
        let steps = self.of(place, RecordKind::Step);
        task_progress.steps =
            steps.map(|record| (record.key.key.to_string(), record.payload.clone())).collect();
        for record in self.of(place, RecordKind::Sleep) {
            task_progress.sleeps.push((record.key.key.to_string(), self.json(record)?));
        }
        Ok(task_progress)
    }

    /// Reads a task's command to the parent graph.
    fn command(
        &self,
        record: &TaskRecord,
        command: &StoredCommand,
        versions: &[(String, u32)],
    ) -> Result<ErasedParentCommand, ErrorKind> {
        let writes = self.of(record.key.task, RecordKind::Write).filter_map(|write| {
            let (form, field) = parse_write_key(&write.key.key)?;
            Some((form, field.to_owned(), write.payload.clone()))
        });
        let update = StoredUpdate { versions: versions.to_vec(), writes: writes.collect() };
        command.read(self.graph, update).map_err(|unreadable| match unreadable {
            UnreadableCommand::Unread(UnreadableUpdate::Migration(source))
            | UnreadableCommand::Outdated(source) => outdated(self.thread, self.checkpoint, source),
            UnreadableCommand::Unread(UnreadableUpdate::Write { field, reason }) => {
                corrupt(self.thread, self.checkpoint, format!("the write to field `{field}`"), reason)
            }
            UnreadableCommand::Other(reason) => self.task_records().corrupt(record, reason),
        })
    }

    /// Reads the commands that have ended a run. Its last checkpoint plans no task.
    pub(crate) fn all_commands(&self) -> Result<Vec<ErasedParentCommand>, ErrorKind> {
        let mut all = Vec::new();
        for record in self.records.iter().filter(|record| record.key.kind == RecordKind::Finished) {
            let finish: StoredFinish = self.json(record)?;
            if let Some(command) = &finish.command {
                all.push(self.command(record, command, &finish.versions)?);
            }
        }
        Ok(all)
    }

    /// Reads prepared writes, and migrates them to this program's version.
    pub(crate) fn writes(
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
                of_run = Program::of_run(self.thread, self.checkpoint)?.versions;
                &of_run
            }
        };
        let unreadable = |(what, reason)| corrupt(self.thread, self.checkpoint, what, reason);
        if found == self.graph.state.versions() {
            return decode_writes(self.graph.state, records.into_iter()).map_err(unreadable);
        }
        // Each write is migrated as a field of its own, which keeps the order of the writes.
        let mut migrated: Vec<(String, Payload)> = Vec::new();
        for (nth, (key, payload)) in records.into_iter().enumerate() {
            let Some((form, field)) = parse_write_key(key) else { continue };
            let kind = match form {
                Form::Delta => ChangeKind::Delta,
                Form::Overwrite => ChangeKind::Value,
                // No stored key has this form.
                Form::Update => continue,
            };
            let change = StoredChange::new(self.checkpoint.id, kind, payload.clone());
            let fields = vec![StoredField::new(field.to_owned(), vec![change])];
            let stored = Stored::__of_writes(fields);
            let (fields, _) = migrate(self.graph.state, self.thread, self.checkpoint, found, stored)?;
            for field in fields {
                for change in field.changes {
                    let form = if change.kind == ChangeKind::Delta { 'd' } else { 'v' };
                    migrated.push((format!("{}{form}:{}", ordinal(nth), field.field), change.payload));
                }
            }
        }
        let records = migrated.iter().map(|(key, payload)| (key.as_str(), payload));
        decode_writes(self.graph.state, records).map_err(unreadable)
    }
}
