use std::collections::{BTreeSet, HashMap};

use super::branch::BranchId;
use super::namespace::{Entry, Namespace};
use crate::checkpoint::{CheckpointId, HistoryEntry};

impl Namespace {
    /// Returns the entries of a page of history, in the same order.
    pub(super) fn history(&self, page: &[&Entry]) -> Vec<HistoryEntry> {
        let mut listed: HashMap<BranchId, BTreeSet<CheckpointId>> = HashMap::new();
        for entry in page {
            listed.entry(entry.branch).or_default().insert(entry.checkpoint.id);
        }
        page.iter().map(|entry| self.history_entry(entry, &listed)).collect()
    }

    fn history_entry(
        &self,
        entry: &Entry,
        listed: &HashMap<BranchId, BTreeSet<CheckpointId>>,
    ) -> HistoryEntry {
        let id = entry.checkpoint.id;
        let own = listed.get(&entry.branch).and_then(|ids| ids.range(..id).next_back());
        let base = own.copied().or_else(|| self.listed_ancestor(entry.branch, listed));
        let fields = self.branches.fields_after(entry.branch, id, base);
        HistoryEntry { checkpoint: entry.checkpoint.clone(), records: entry.task_records(), base, fields }
    }

    /// Returns the newest listed checkpoint before the beginning of a branch.
    fn listed_ancestor(
        &self,
        branch: BranchId,
        listed: &HashMap<BranchId, BTreeSet<CheckpointId>>,
    ) -> Option<CheckpointId> {
        let mut branch = self.branches.branches.get(&branch)?;
        while let Some((parent, fork)) = branch.parent {
            if let Some(id) = listed.get(&parent).and_then(|ids| ids.range(..=fork).next_back()) {
                return Some(*id);
            }
            branch = self.branches.branches.get(&parent)?;
        }
        None
    }
}
