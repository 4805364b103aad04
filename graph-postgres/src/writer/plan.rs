//! The writes of a batch, as the database makes them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use superstep_store::checkpoint::{
    BatchWrite, Checkpoint, CheckpointId, NewCheckpoint, RecordKey, RunRecord, TaskRecord, WriteBatch,
};
use superstep_store::payload::Payload;

use crate::chunk::Chunk;

/// The writes of a batch in sections, and the conditions that the database has to check.
#[derive(Debug, Default)]
pub(super) struct Plan<'b> {
    pub(super) sections: Vec<Section<'b>>,
    /// Checkpoints of the namespace that have to exist before the batch.
    pub(super) needed: Vec<CheckpointId>,
    /// The reason why the batch is invalid whatever the database has.
    pub(super) invalid: Option<String>,
    /// The different runs of the checkpoints.
    pub(super) runs: Vec<&'b Arc<RunRecord>>,
}

/// A roll back, checkpoints that follow one another, their changes, and records. They are made in this order.
#[derive(Debug, Default)]
pub(super) struct Section<'b> {
    pub(super) roll_back: Option<(&'b str, Option<CheckpointId>)>,
    /// The checkpoints, with the indexes of their runs.
    pub(super) checkpoints: Vec<(&'b Checkpoint, usize)>,
    /// The rows of changes. Those of a field are in order.
    pub(super) changes: Vec<(&'b str, Chunk<'b>)>,
    /// The records to put, and with `None` those to remove. Each record occurs once.
    pub(super) records: Vec<(CheckpointId, &'b RecordKey, Option<&'b Payload>)>,
    last_rows: HashMap<&'b str, usize>,
    last_records: HashMap<(CheckpointId, &'b RecordKey), usize>,
}

impl<'b> Plan<'b> {
    pub(super) fn new(batch: &'b WriteBatch) -> Self {
        let mut plan = Self::default();
        let mut known = Known::new(batch);
        let found = if batch.epoch < batch.fence.epoch {
            Err(format!("the epoch would go back from {} to {}", batch.fence.epoch, batch.epoch))
        } else {
            batch.writes.iter().try_for_each(|write| plan.add(&mut known, write))
        };
        if let Err(reason) = found {
            return Self { invalid: Some(reason), ..Self::default() };
        }
        plan.needed = known.needed.into_iter().collect();
        plan
    }

    fn add(&mut self, known: &mut Known<'b>, write: &'b BatchWrite) -> Result<(), String> {
        match write {
            BatchWrite::Checkpoint(new) => {
                known.add(&new.checkpoint)?;
                self.add_checkpoint(new);
            }
            BatchWrite::RollBack { namespace, to, .. } => {
                known.roll_back(namespace, *to)?;
                self.sections.push(Section { roll_back: Some((namespace, *to)), ..Section::default() });
            }
            BatchWrite::Records { checkpoint, remove, put, .. } => {
                known.require(*checkpoint, || Reason::Records.of(*checkpoint))?;
                if let Some(section) = self.section() {
                    section.add_records(*checkpoint, remove, put);
                }
            }
        }
        Ok(())
    }

    /// Returns the last section, which always exists.
    fn section(&mut self) -> Option<&mut Section<'b>> {
        if self.sections.is_empty() {
            self.sections.push(Section::default());
        }
        self.sections.last_mut()
    }

    fn add_checkpoint(&mut self, new: &'b NewCheckpoint) {
        let NewCheckpoint { checkpoint, changes, records, .. } = new;
        let run = match self
            .runs
            .iter()
            .position(|run| Arc::ptr_eq(run, &checkpoint.run) || **run == checkpoint.run)
        {
            Some(run) => run,
            None => {
                self.runs.push(&checkpoint.run);
                self.runs.len() - 1
            }
        };
        let last =
            self.sections.last().and_then(|section| section.checkpoints.last()).map(|(last, _)| last.id);
        // Another branch may start from changes of this one, so its checkpoints are made after them.
        if last.is_some() && last != checkpoint.parent {
            self.sections.push(Section::default());
        }
        let Some(section) = self.section() else { return };
        section.checkpoints.push((checkpoint, run));
        for change in changes {
            section.add_change(checkpoint.id, change);
        }
        section.add_records(checkpoint.id, &[], records);
    }
}

impl<'b> Section<'b> {
    fn add_change(&mut self, checkpoint: CheckpointId, change: &'b superstep_store::checkpoint::FieldChange) {
        let field: &str = &change.field;
        let last = self.last_rows.get(field).and_then(|row| self.changes.get_mut(*row));
        if let Some((_, row)) = last {
            if row.takes(checkpoint, change.kind, &change.payload) {
                row.push(checkpoint, change.kind, &change.payload);
                return;
            }
            // A value hides all earlier changes of the same checkpoint.
            if row.is_only_by(checkpoint) {
                *row = Chunk::default();
                row.push(checkpoint, change.kind, &change.payload);
                return;
            }
            row.remove(checkpoint);
        }
        let mut row = Chunk::default();
        row.push(checkpoint, change.kind, &change.payload);
        self.last_rows.insert(field, self.changes.len());
        self.changes.push((field, row));
    }

    fn add_records(&mut self, checkpoint: CheckpointId, remove: &'b [RecordKey], put: &'b [TaskRecord]) {
        let removed = remove.iter().map(|key| (key, None));
        let put = put.iter().map(|record| (&record.key, Some(&record.payload)));
        for (key, payload) in removed.chain(put) {
            // The last write of a record wins.
            if let Some(index) = self.last_records.get(&(checkpoint, key))
                && let Some(record) = self.records.get_mut(*index)
            {
                record.2 = payload;
                continue;
            }
            self.last_records.insert((checkpoint, key), self.records.len());
            self.records.push((checkpoint, key, payload));
        }
    }
}

/// A reference of a write to a checkpoint.
#[derive(Clone, Copy)]
enum Reason {
    Records,
    RollsBack,
    Follows(CheckpointId),
}

impl Reason {
    fn of(self, missing: CheckpointId) -> String {
        match self {
            Self::Records => format!("records belong to checkpoint {missing}, which does not exist"),
            Self::RollsBack => format!("a roll back ends at checkpoint {missing}, which does not exist"),
            Self::Follows(id) => format!("checkpoint {id} follows {missing}, which does not exist"),
        }
    }
}

/// The checkpoints of the namespace, as far as the batch and its fence tell.
struct Known<'b> {
    namespace: &'b str,
    greatest: Option<CheckpointId>,
    /// Those that earlier writes of the batch have added, in order.
    added: Vec<CheckpointId>,
    /// The greatest id in the database, which exists.
    head: Option<CheckpointId>,
    /// The greatest id in the database that remains after the roll backs of the batch.
    remaining: Option<CheckpointId>,
    /// The other namespaces that the batch has rolled back, with their new heads.
    others: HashMap<&'b str, Option<CheckpointId>>,
    needed: BTreeSet<CheckpointId>,
}

impl<'b> Known<'b> {
    fn new(batch: &'b WriteBatch) -> Self {
        let head = batch.fence.head;
        Self {
            namespace: &batch.namespace,
            greatest: head,
            added: Vec::new(),
            head,
            remaining: head,
            others: HashMap::new(),
            needed: BTreeSet::new(),
        }
    }

    fn add(&mut self, checkpoint: &Checkpoint) -> Result<(), String> {
        let id = checkpoint.id;
        if let Some(greatest) = self.greatest.filter(|greatest| *greatest >= id) {
            return Err(format!("checkpoint {id} does not sort after {greatest}"));
        }
        if let Some(parent) = checkpoint.parent {
            self.require(parent, || Reason::Follows(id).of(parent))?;
        }
        self.greatest = Some(id);
        self.added.push(id);
        Ok(())
    }

    fn roll_back(&mut self, namespace: &'b str, to: Option<CheckpointId>) -> Result<(), String> {
        if namespace != self.namespace {
            let before = self.others.insert(namespace, to);
            // The database checks the first target. Later ones have to remain after it.
            return match (to, before) {
                (Some(to), Some(before)) if before < Some(to) => Err(Reason::RollsBack.of(to)),
                _ => Ok(()),
            };
        }
        if let Some(to) = to {
            self.require(to, || Reason::RollsBack.of(to))?;
        }
        self.greatest = to;
        self.remaining = self.remaining.min(to);
        self.added.retain(|added| Some(*added) <= to);
        Ok(())
    }

    fn require(&mut self, id: CheckpointId, reason: impl FnOnce() -> String) -> Result<(), String> {
        if self.added.binary_search(&id).is_ok() {
            return Ok(());
        }
        if self.remaining < Some(id) {
            return Err(reason());
        }
        if self.head != Some(id) {
            self.needed.insert(id);
        }
        Ok(())
    }
}

/// Returns the reason why a batch is invalid if a checkpoint does not exist.
pub(super) fn missing(batch: &WriteBatch, id: CheckpointId) -> String {
    let refers = batch.writes.iter().find_map(|write| match write {
        BatchWrite::Checkpoint(new) if new.checkpoint.parent == Some(id) => {
            Some(Reason::Follows(new.checkpoint.id))
        }
        BatchWrite::Records { checkpoint, .. } if *checkpoint == id => Some(Reason::Records),
        BatchWrite::RollBack { to, .. } if *to == Some(id) => Some(Reason::RollsBack),
        _ => None,
    });
    refers.unwrap_or(Reason::Records).of(id)
}
