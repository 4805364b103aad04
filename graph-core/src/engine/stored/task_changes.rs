//! The author of each field change of a checkpoint.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::checkpoint::{FieldChange, RecordKey};
use crate::engine::task::Finished;
use crate::erased::StateType;

/// A field change of the next checkpoint, with its author.
#[derive(Clone, Debug)]
pub(crate) struct AuthoredChange {
    pub(crate) field: usize,
    pub(crate) author: Author,
    pub(crate) change: FieldChange,
}

/// Returns the changes without their authors.
// Into a list of its own: one that is collected in place is shrunk afterwards, which costs more.
pub(crate) fn without_authors(authored: Vec<AuthoredChange>) -> Vec<FieldChange> {
    let mut changes = Vec::with_capacity(authored.len());
    changes.extend(authored.into_iter().map(|authored| authored.change));
    changes
}

/// The author of a field change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// No task of the superstep: the field was cleared, written between two supersteps, or not stored before.
    NoTask,
    /// The task with this index.
    Task(usize),
    /// Every task that wrote the field. The change is the value of the field after the superstep.
    Writers,
}

/// The field changes of a superstep that belong to tasks without a stored result, as a checkpoint stores them: by task
/// and field, the numbers of the changes.
///
/// Changes of a field are numbered from its last one, because a store drops those before the last whole value. A result
/// that arrived before the last one of its superstep has records of its own, so a superstep has few entries.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TaskChanges(BTreeMap<usize, ChangesByField>);

/// The numbers of one task's changes, in the order in which they were applied.
pub(crate) type ChangesByField = BTreeMap<String, Vec<usize>>;

impl TaskChanges {
    /// Assigns changes to the tasks that have no records in `recorded`. Returns `None` if nothing has to be stored: every
    /// task has records, or all changes belong to the only task.
    pub(crate) fn of(
        state: &StateType,
        changes: &[AuthoredChange],
        results: &[Option<Finished>],
        recorded: &[Vec<RecordKey>],
    ) -> Option<Self> {
        let alone = results.len() == 1;
        if alone && changes.iter().all(|change| change.author != Author::NoTask) {
            return None;
        }
        let has_no_records = |task: &usize| recorded.get(*task).is_none_or(Vec::is_empty);
        let finished = (0..results.len()).filter(|task| results.get(*task).is_some_and(Option::is_some));
        let mut tasks: BTreeMap<usize, ChangesByField> =
            finished.filter(has_no_records).map(|task| (task, ChangesByField::new())).collect();
        if tasks.is_empty() {
            return None;
        }
        let wrote = |task: usize, field: usize| {
            let encoded = results.get(task).and_then(|result| result.as_ref()?.encoded.as_deref());
            alone || encoded.is_some_and(|encoded| encoded.writes.iter().any(|write| write.field == field))
        };
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for AuthoredChange { field, author, .. } in changes.iter().rev() {
            let count = counts.entry(*field).or_default();
            let name = state.field_name(*field);
            let mut assign = |by_field: &mut ChangesByField| match by_field.get_mut(name) {
                Some(numbers) => numbers.insert(0, *count),
                None => drop(by_field.insert(name.to_owned(), vec![*count])),
            };
            match author {
                Author::NoTask => {}
                Author::Task(task) => tasks.get_mut(task).into_iter().for_each(&mut assign),
                Author::Writers => {
                    tasks.iter_mut().filter(|(task, _)| wrote(**task, *field)).for_each(|(_, by)| assign(by));
                }
            }
            *count += 1;
        }
        Some(Self(tasks))
    }

    /// Returns the changes of a task; `None` if they are not assigned.
    pub(crate) fn of_task(&self, task: usize) -> Option<&ChangesByField> {
        self.0.get(&task)
    }
}
