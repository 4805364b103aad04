//! The changes of fields in a namespace, stored so that neither a write nor a read scans the history.
//!
//! Checkpoints that follow one another form a *branch*. For each field a branch has all changes in order, with the
//! positions of the whole values. The changes that a checkpoint sees are a slice, which two binary searches find. A
//! checkpoint whose parent is not the last checkpoint of its branch starts a new branch. Reads continue in the parent
//! branch, up to the checkpoint where the new branch starts.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::checkpoint::{ChangeKind, CheckpointId, FieldChange, StoredChange, StoredField};

/// The number of ancestors of a branch. A branch with more copies the visible changes instead, which bounds a read.
const MAX_DEPTH: u32 = 16;

pub(super) type BranchId = u64;

/// The branches of a namespace. The id of a branch is greater than the id of its parent.
#[derive(Clone, Default)]
pub(super) struct Branches {
    pub(super) branches: BTreeMap<BranchId, Branch>,
    next: BranchId,
}

#[derive(Clone)]
pub(super) struct Branch {
    /// The parent branch and the last shared checkpoint.
    pub(super) parent: Option<(BranchId, CheckpointId)>,
    depth: u32,
    /// The first checkpoint that was added to it. Pruning may have dropped it.
    first: Option<CheckpointId>,
    last: Option<CheckpointId>,
    pub(super) fields: HashMap<Cow<'static, str>, FieldHistory>,
}

/// The changes of one field in one branch, oldest first.
#[derive(Clone, Default)]
pub(super) struct FieldHistory {
    pub(super) changes: Vec<StoredChange>,
    /// The positions of whole values in `changes`.
    pub(super) value_positions: Vec<usize>,
}

impl FieldHistory {
    pub(super) fn push(&mut self, change: StoredChange) {
        if change.kind == ChangeKind::Value {
            self.value_positions.push(self.changes.len());
        }
        self.changes.push(change);
    }

    /// Removes the changes after a checkpoint.
    fn roll_back(&mut self, to: CheckpointId) {
        let remaining = self.changes.partition_point(|change| change.checkpoint <= to);
        self.changes.truncate(remaining);
        let values = self.value_positions.partition_point(|value| *value < remaining);
        self.value_positions.truncate(values);
    }

    /// Returns the changes after an ancestor that a checkpoint sees, and `true` if the first of them is a whole value.
    fn visible_at(
        &self,
        checkpoint: CheckpointId,
        ancestor: Option<CheckpointId>,
    ) -> (&[StoredChange], bool) {
        let start = ancestor.map_or(0, |id| self.changes.partition_point(|change| change.checkpoint <= id));
        let end = self.changes.partition_point(|change| change.checkpoint <= checkpoint);
        let values = self.value_positions.partition_point(|value| *value < end);
        let value = values.checked_sub(1).and_then(|last| self.value_positions.get(last));
        let value = value.filter(|value| **value >= start);
        let visible = self.changes.get(value.copied().unwrap_or(start)..end).unwrap_or_default();
        (visible, value.is_some())
    }
}

impl Branches {
    /// Returns the branch for a checkpoint that follows `parent`: the same branch if `parent` is its last checkpoint,
    /// otherwise a new one.
    pub(super) fn after(&mut self, parent: Option<(BranchId, CheckpointId)>) -> BranchId {
        let parent_branch = parent.and_then(|(branch, _)| self.branches.get(&branch));
        if let Some((id, branch)) = parent.zip(parent_branch)
            && branch.last == Some(id.1)
        {
            return id.0;
        }
        let depth = parent_branch.map_or(0, |branch| branch.depth + 1);
        let branch = match parent.filter(|_| depth > MAX_DEPTH) {
            Some((parent_id, checkpoint)) => {
                let fields =
                    self.fields(parent_id, checkpoint).into_iter().map(|StoredField { field, changes }| {
                        let mut copied = FieldHistory::default();
                        changes.into_iter().for_each(|change| copied.push(change));
                        (Cow::Owned(field), copied)
                    });
                Branch { parent: None, depth: 0, first: None, last: None, fields: fields.collect() }
            }
            None => Branch { parent, depth, first: None, last: None, fields: HashMap::new() },
        };
        let id = self.next;
        self.next += 1;
        self.branches.insert(id, branch);
        id
    }

    /// Adds the changes of a checkpoint at the end of a branch.
    pub(super) fn append(&mut self, branch: BranchId, checkpoint: CheckpointId, changes: Vec<FieldChange>) {
        let Some(branch) = self.branches.get_mut(&branch) else { return };
        branch.first.get_or_insert(checkpoint);
        branch.last = Some(checkpoint);
        for FieldChange { field, kind, payload } in changes {
            branch.fields.entry(field).or_default().push(StoredChange { checkpoint, kind, payload });
        }
    }

    /// Removes the changes after a checkpoint. `removed` has the checkpoints after it, in order: the branch and the parent of
    /// each.
    ///
    /// The cost does not depend on the other checkpoints: only the branches of removed checkpoints and their ancestors are
    /// visited.
    pub(super) fn roll_back(&mut self, to: CheckpointId, removed: &[(BranchId, Option<CheckpointId>)]) {
        // The parent of the first removed checkpoint of a branch is the branch's new last checkpoint.
        let mut new_lasts: HashMap<BranchId, Option<CheckpointId>> = HashMap::new();
        for (branch, parent) in removed {
            new_lasts.entry(*branch).or_insert(*parent);
        }
        let mut visited = HashSet::new();
        for (branch, _) in removed {
            let mut at = Some(*branch);
            while let Some(id) = at.filter(|id| visited.insert(*id))
                && let Some(branch) = self.branches.get_mut(&id)
            {
                at = branch.parent.map(|(parent, _)| parent);
                if branch.first > Some(to) {
                    self.branches.remove(&id);
                    continue;
                }
                branch.fields.retain(|_, history| {
                    history.roll_back(to);
                    !history.changes.is_empty()
                });
                if branch.last > Some(to) {
                    // Pruning may have dropped the new last checkpoint. Without one, the next checkpoint starts a branch.
                    branch.last = new_lasts.get(&id).copied().flatten().filter(|last| *last <= to);
                }
            }
        }
    }

    /// Returns every field that a checkpoint of a branch sees.
    pub(super) fn fields(&self, branch: BranchId, checkpoint: CheckpointId) -> Vec<StoredField> {
        self.fields_after(branch, checkpoint, None)
    }

    /// Returns the fields that changed on the path from an ancestor to a checkpoint of a branch, with these changes only.
    pub(super) fn fields_after(
        &self,
        branch: BranchId,
        checkpoint: CheckpointId,
        ancestor: Option<CheckpointId>,
    ) -> Vec<StoredField> {
        // For each field: the slices from this branch upwards, and `true` once a whole value ends the search.
        let mut found: HashMap<&str, (Vec<&[StoredChange]>, bool)> = HashMap::new();
        let mut at = Some((branch, checkpoint));
        // Ids ascend on a path, so the changes after the ancestor have greater ids.
        while let Some((branch, checkpoint)) = at.filter(|(_, until)| Some(*until) > ancestor)
            && let Some(branch) = self.branches.get(&branch)
        {
            for (field, history) in &branch.fields {
                let (visible, whole) = history.visible_at(checkpoint, ancestor);
                if visible.is_empty() {
                    continue;
                }
                let (slices, done) = found.entry(field).or_default();
                if !*done {
                    slices.push(visible);
                    *done = whole;
                }
            }
            at = branch.parent;
        }
        found
            .into_iter()
            .map(|(field, (mut slices, _))| {
                slices.reverse();
                StoredField { field: field.to_owned(), changes: slices.concat() }
            })
            .collect()
    }
}
