//! Distributes the changes of a field to the listed checkpoints that see them first.

use superstep_store::checkpoint::{ChangeKind, CheckpointId, StoredChange, StoredField};

use crate::error::Error;

use super::super::changes::{ChangeRow, Rows, missing, of_field};
use super::Parts;
use super::fetch::ChangeRows;
use super::plan::{BranchPlan, Plan, Request};

/// Adds the changes of a field to the parts of the listed checkpoints.
pub(super) fn distribute(
    plan: &Plan<'_>,
    id: i64,
    field: &str,
    rows: &ChangeRows,
    parts: &mut [Parts],
) -> Result<(), Error> {
    let mut put = |position: usize, changes: Vec<StoredChange>| {
        if let Some(parts) = parts.get_mut(position).filter(|_| !changes.is_empty()) {
            parts.fields.push(StoredField::new(field, changes));
        }
    };
    let rows = |request: &Request| -> &[ChangeRow] {
        rows.get(&(request.branch, id)).map_or(&[], |rows| requested(rows, request))
    };
    for branch in &plan.branches {
        let oldest = oldest(plan, branch, rows).map_err(|error| of_field(error, field))?;
        put(branch.oldest.1, oldest);
        let Some(request) = branch.of_rest.and_then(|nth| plan.request(nth)) else { continue };
        let ends: Vec<_> = branch.rest.iter().map(|(id, _)| *id).collect();
        let mut found = vec![Vec::new(); ends.len()];
        scan(rows(request), Some(branch.oldest.0), &ends, &mut found)
            .map_err(|error| of_field(error, field))?;
        branch.rest.iter().zip(found).for_each(|((_, position), changes)| put(*position, changes));
    }
    Ok(())
}

/// Returns the rows of a request among all rows of its branch and field.
fn requested<'r>(rows: &'r [ChangeRow], request: &Request) -> &'r [ChangeRow] {
    let up_to = |id| rows.partition_point(|row| row.first() <= Some(id));
    let visible = rows.get(..up_to(request.until)).unwrap_or_default();
    let start = if request.since_value {
        visible.iter().rposition(ChangeRow::starts_with_value)
    } else {
        // The row that contains the change at `after` begins before it.
        request.after.and_then(|after| up_to(after).checked_sub(1))
    };
    visible.get(start.unwrap_or_default()..).unwrap_or_default()
}

/// Returns the changes of the oldest listed checkpoint of a branch.
fn oldest<'r>(
    plan: &Plan<'_>,
    branch: &BranchPlan<'_>,
    rows: impl Fn(&Request) -> &'r [ChangeRow],
) -> Result<Vec<StoredChange>, Error> {
    let requests = || branch.of_oldest.clone().filter_map(|nth| plan.request(nth));
    if branch.base.is_some() {
        let mut found = [Vec::new()];
        for request in requests().rev() {
            scan(rows(request), request.after, &[request.until], &mut found)?;
        }
        let [found] = found;
        return Ok(found);
    }
    let mut complete = Rows::default();
    for request in requests() {
        for row in rows(request).iter().rev() {
            complete.push(request.branch, request.until, row.clone())?;
            if row.starts_with_value() {
                return complete.finish();
            }
        }
    }
    complete.finish()
}

/// Adds each change after a checkpoint to the first of `ends` that sees it.
fn scan(
    rows: &[ChangeRow],
    after: Option<CheckpointId>,
    ends: &[CheckpointId],
    found: &mut [Vec<StoredChange>],
) -> Result<(), Error> {
    let mut expected = None;
    for row in rows {
        let first = row.first();
        // Each row has the number of changes before it, which reveals a missing row.
        let expected_before = match expected {
            _ if row.starts_with_value() => 0,
            Some(end) => end,
            None if first <= after => row.before,
            None => 0,
        };
        if row.before != expected_before {
            return Err(missing(first));
        }
        expected = Some(row.end());
        for change in &row.changes {
            let checkpoint = change.checkpoint;
            if Some(checkpoint) <= after {
                continue;
            }
            let Some(changes) = found.get_mut(ends.partition_point(|end| *end < checkpoint)) else { break };
            if change.kind == ChangeKind::Value {
                changes.clear();
            }
            changes.push(change.clone());
        }
    }
    Ok(())
}
