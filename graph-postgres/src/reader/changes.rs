//! The changes of a field on the way to a checkpoint, across branches.

use std::sync::Arc;

use superstep_store::checkpoint::{ChangeKind, CheckpointId, StoredChange};

use crate::chunk::{self, Entry};
use crate::error::Error;

/// A row of the table `piece`: one or more changes of a field.
#[derive(Clone, Debug)]
pub(super) struct ChangeRow {
    pub(super) before: i64,
    pub(super) entries: Vec<Entry>,
    pub(super) data: Arc<[u8]>,
}

impl ChangeRow {
    pub(super) fn new(
        first: CheckpointId,
        before: i64,
        is_whole: bool,
        headers: &[u8],
        data: &[u8],
    ) -> Result<Self, Error> {
        let entries = chunk::entries(headers, data.len())
            .map_err(|reason| Error::corrupt("a row of `piece`", Some(first), reason))?;
        let row = Self { before, entries, data: data.into() };
        if row.starts_with_value() != is_whole
            || row.entries.first().map(|entry| entry.checkpoint) != Some(first)
        {
            return Err(Error::corrupt(
                "a row of `piece`",
                Some(first),
                "its first entry contradicts the row",
            ));
        }
        Ok(row)
    }

    /// Returns the checkpoint of the first entry.
    pub(super) fn first(&self) -> Option<CheckpointId> {
        self.entries.first().map(|entry| entry.checkpoint)
    }

    pub(super) fn starts_with_value(&self) -> bool {
        self.entries.first().is_some_and(|first| first.kind == ChangeKind::Value)
    }

    /// Returns the number of entries up to the end of this row, since the latest value.
    pub(super) fn end(&self) -> i64 {
        self.before.saturating_add(i64::try_from(self.entries.len()).unwrap_or(i64::MAX))
    }
}

/// Collects the rows of a field, from the newest back to the latest value.
#[derive(Debug, Default)]
pub(super) struct Rows {
    newest_first: Vec<ChangeRow>,
    /// The number of entries that the next row of this branch has to end with.
    expected: Option<i64>,
    branch: Option<i64>,
}

impl Rows {
    /// Adds the next older row of a branch. Entries after `until` are not visible.
    pub(super) fn push(&mut self, branch: i64, until: CheckpointId, mut row: ChangeRow) -> Result<(), Error> {
        if self.branch != Some(branch) {
            self.end_branch()?;
            self.branch = Some(branch);
        }
        // Each row has the number of entries before it, which reveals a missing row.
        if self.expected.is_some_and(|expected| expected != row.end()) {
            return Err(missing(row.entries.last().map(|entry| entry.checkpoint)));
        }
        self.expected = Some(row.before);
        row.entries.retain(|entry| entry.checkpoint <= until);
        self.newest_first.push(row);
        Ok(())
    }

    /// Checks that the rows of the branch reach back to a value or to the beginning of the branch.
    fn end_branch(&mut self) -> Result<(), Error> {
        match self.expected.take() {
            None | Some(0) => Ok(()),
            Some(_) => Err(missing(None)),
        }
    }

    /// Returns the changes, oldest first. Empty if the field was never written.
    pub(super) fn finish(mut self) -> Result<Vec<StoredChange>, Error> {
        self.end_branch()?;
        let count = self.newest_first.iter().map(|row| row.entries.len()).sum();
        let mut changes = Vec::with_capacity(count);
        for ChangeRow { entries, data, .. } in self.newest_first.into_iter().rev() {
            for entry in entries {
                let checkpoint = entry.checkpoint;
                let change = entry.change(&data).ok_or_else(|| {
                    Error::corrupt("a chunk", Some(checkpoint), "an entry is longer than the chunk")
                })?;
                changes.push(change);
            }
        }
        Ok(changes)
    }
}

pub(super) fn missing(checkpoint: Option<CheckpointId>) -> Error {
    Error::corrupt("a chunk", checkpoint, "some changes are missing")
}

/// Adds the field's name to a corruption.
pub(super) fn of_field(error: Error, field: &str) -> Error {
    match error {
        Error::Corrupt(corruption) => {
            let reason = format!("{}: {}", corruption.part, corruption.reason);
            Error::corrupt(format!("field `{field}`"), corruption.checkpoint, reason)
        }
        other => other,
    }
}
