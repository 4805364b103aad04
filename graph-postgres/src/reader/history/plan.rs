//! The rows that a page needs: for each branch those of its oldest listed checkpoint, and those of the others.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use superstep_store::checkpoint::CheckpointId;

use crate::error::Error;

use super::super::list::Listed;

/// Listed checkpoints with their positions in the page, oldest first, by branch.
pub(super) type Members = BTreeMap<i64, Vec<(CheckpointId, usize)>>;

/// The parent of each branch, and the checkpoint where the branch begins.
pub(super) type Parents = HashMap<i64, Option<(i64, CheckpointId)>>;

pub(super) fn members(listed: &[Listed]) -> Members {
    let mut members = Members::new();
    for (position, found) in listed.iter().enumerate() {
        members.entry(found.branch).or_default().push((found.checkpoint.id, position));
    }
    members.values_mut().for_each(|branch| branch.sort_unstable());
    members
}

/// The part of a branch that a checkpoint sees.
#[derive(Clone, Copy, Debug)]
struct Ancestor {
    branch: i64,
    until: CheckpointId,
}

/// Rows of changes to read from a branch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) branch: i64,
    /// Only changes after this checkpoint.
    pub(super) after: Option<CheckpointId>,
    pub(super) until: CheckpointId,
    /// Only changes since the last value.
    pub(super) since_value: bool,
}

/// The listed checkpoints of a branch and the requests for their rows.
#[derive(Debug)]
pub(super) struct BranchPlan<'m> {
    /// The checkpoint to which the changes of the oldest one are relative.
    pub(super) base: Option<CheckpointId>,
    pub(super) oldest: (CheckpointId, usize),
    pub(super) rest: &'m [(CheckpointId, usize)],
    /// The requests for the oldest checkpoint, along its branches upwards.
    pub(super) of_oldest: Range<usize>,
    /// The request for the rest.
    pub(super) of_rest: Option<usize>,
}

/// All requests of a page.
#[derive(Debug, Default)]
pub(super) struct Plan<'m> {
    requests: Vec<Request>,
    pub(super) branches: Vec<BranchPlan<'m>>,
}

impl<'m> Plan<'m> {
    pub(super) fn new(members: &'m Members, parents: &Parents) -> Result<Self, Error> {
        let mut plan = Self::default();
        for (branch, listed) in members {
            let Some((oldest, rest)) = listed.split_first() else { continue };
            let path = path(parents, *branch, oldest.0)?;
            let base = nearest_listed(members, &path);
            let start = plan.requests.len();
            let parts = path.iter().take(base.map_or(path.len(), |(position, _)| position + 1));
            plan.requests.extend(parts.enumerate().map(|(position, part)| Request {
                branch: part.branch,
                after: base.filter(|(ancestor, _)| *ancestor == position).map(|(_, base)| base),
                until: part.until,
                since_value: base.is_none(),
            }));
            let of_oldest = start..plan.requests.len();
            let of_rest = rest.last().map(|(last, _)| {
                let request =
                    Request { branch: *branch, after: Some(oldest.0), until: *last, since_value: false };
                plan.requests.push(request);
                plan.requests.len() - 1
            });
            let base = base.map(|(_, base)| base);
            plan.branches.push(BranchPlan { base, oldest: *oldest, rest, of_oldest, of_rest });
        }
        Ok(plan)
    }

    pub(super) fn request(&self, nth: usize) -> Option<&Request> {
        self.requests.get(nth)
    }

    /// Returns the base of each listed checkpoint: the one before it on its branch.
    pub(super) fn bases(&self) -> impl Iterator<Item = (usize, Option<CheckpointId>)> {
        self.branches.iter().flat_map(|branch| {
            let listed = || std::iter::once(&branch.oldest).chain(branch.rest);
            let bases = std::iter::once(branch.base).chain(listed().map(|(id, _)| Some(*id)));
            listed().map(|(_, position)| *position).zip(bases)
        })
    }
}

/// Returns the branches that lead to a checkpoint, its own first.
fn path(parents: &Parents, branch: i64, until: CheckpointId) -> Result<Vec<Ancestor>, Error> {
    let mut path = vec![Ancestor { branch, until }];
    let mut branch = branch;
    loop {
        let parent = parents
            .get(&branch)
            .ok_or_else(|| Error::corrupt("the checkpoint's branch", Some(until), "it is missing"))?;
        let Some((parent, fork)) = *parent else { return Ok(path) };
        path.push(Ancestor { branch: parent, until: fork });
        branch = parent;
    }
}

/// Returns the newest listed checkpoint on the way to a checkpoint, with the position of its branch in `path`.
fn nearest_listed(members: &Members, path: &[Ancestor]) -> Option<(usize, CheckpointId)> {
    path.iter().enumerate().skip(1).find_map(|(position, part)| {
        let members = members.get(&part.branch)?;
        let before = members.partition_point(|(id, _)| *id <= part.until);
        members.get(before.checked_sub(1)?).map(|(id, _)| (position, *id))
    })
}
