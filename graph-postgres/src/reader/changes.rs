//! The changes of a field on the way to a checkpoint, across branches.

use superstep_store::checkpoint::{ChangeKind, CheckpointId, StoredChange};

use crate::chunk;
use crate::error::Error;

/// A row of the table `piece`: one or more changes of a field.
#[derive(Clone, Debug)]
pub(super) struct ChangeRow {
    pub(super) before: i64,
    /// Oldest first.
    pub(super) changes: Vec<StoredChange>,
}

impl ChangeRow {
    pub(super) fn new(
        first: CheckpointId,
        before: i64,
        is_whole: bool,
        headers: &[u8],
        data: &[u8],
    ) -> Result<Self, Error> {
        let changes = chunk::changes(headers, &data.into())
            .map_err(|reason| Error::corrupt("a row of `piece`", Some(first), reason))?;
        let row = Self { before, changes };
        if row.starts_with_value() != is_whole || row.first() != Some(first) {
            return Err(Error::corrupt(
                "a row of `piece`",
                Some(first),
                "its first entry contradicts the row",
            ));
        }
        Ok(row)
    }

    /// Returns the checkpoint of the first change.
    pub(super) fn first(&self) -> Option<CheckpointId> {
        self.changes.first().map(|change| change.checkpoint)
    }

    pub(super) fn starts_with_value(&self) -> bool {
        self.changes.first().is_some_and(|first| first.kind == ChangeKind::Value)
    }

    /// Returns the number of changes up to the end of this row, since the latest value.
    pub(super) fn end(&self) -> i64 {
        self.before.saturating_add(i64::try_from(self.changes.len()).unwrap_or(i64::MAX))
    }
}

/// Collects the rows of a field, from the newest back to the latest value.
#[derive(Debug, Default)]
pub(super) struct Rows {
    newest_first: Vec<ChangeRow>,
    /// The number of changes that the next row of this branch has to end with.
    expected: Option<i64>,
    branch: Option<i64>,
}

impl Rows {
    /// Adds the next older row of a branch. Changes after `until` are not visible.
    pub(super) fn push(&mut self, branch: i64, until: CheckpointId, mut row: ChangeRow) -> Result<(), Error> {
        if self.branch != Some(branch) {
            self.end_branch()?;
            self.branch = Some(branch);
        }
        // Each row has the number of changes before it, which reveals a missing row.
        if self.expected.is_some_and(|expected| expected != row.end()) {
            return Err(missing(row.changes.last().map(|change| change.checkpoint)));
        }
        self.expected = Some(row.before);
        row.changes.retain(|change| change.checkpoint <= until);
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
        let count = self.newest_first.iter().map(|row| row.changes.len()).sum();
        let mut changes = Vec::with_capacity(count);
        changes.extend(self.newest_first.into_iter().rev().flat_map(|row| row.changes));
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
