use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::thread::Thread;
use crate::checkpoint::{CheckpointError, DuePosition, StatusKind, StoredStatus, WriteBatch};

/// The threads by name, with an index over their status.
#[derive(Default)]
pub(super) struct Threads {
    by_name: BTreeMap<Arc<str>, Thread>,
    /// The names of the unfinished threads.
    unfinished: BTreeSet<Arc<str>>,
    /// The threads with a wake-up time, and those of unknown status.
    waking: BTreeSet<DuePosition>,
}

impl Threads {
    pub(super) fn by_name(&self) -> &BTreeMap<Arc<str>, Thread> {
        &self.by_name
    }

    pub(super) fn unfinished(&self) -> &BTreeSet<Arc<str>> {
        &self.unfinished
    }

    pub(super) fn waking(&self) -> &BTreeSet<DuePosition> {
        &self.waking
    }

    pub(super) fn get(&self, name: &str) -> Option<&Thread> {
        self.by_name.get(name)
    }

    /// Returns a thread for changes that leave its status as it is.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Thread> {
        self.by_name.get_mut(name)
    }

    /// Commits a batch to its thread, which is created if it does not exist.
    pub(super) fn commit(&mut self, batch: WriteBatch) -> Result<(), CheckpointError> {
        let (name, status) = (Arc::clone(&batch.thread), batch.status);
        if let Some(thread) = self.by_name.get_mut(&name) {
            let before = thread.status;
            thread.commit(batch)?;
            if let Some(after) = status.filter(|after| *after != before) {
                self.remove_from_index(&name, before);
                self.add_to_index(&name, after);
            }
            return Ok(());
        }
        let mut thread = Thread::new(Arc::clone(&batch.origin));
        thread.commit(batch)?;
        self.insert(name, thread);
        Ok(())
    }

    pub(super) fn insert(&mut self, name: Arc<str>, thread: Thread) {
        self.add_to_index(&name, thread.status);
        self.by_name.insert(name, thread);
    }

    pub(super) fn remove(&mut self, name: &str) -> bool {
        let Some((name, thread)) = self.by_name.remove_entry(name) else { return false };
        self.remove_from_index(&name, thread.status);
        true
    }

    fn add_to_index(&mut self, name: &Arc<str>, status: StoredStatus) {
        if status.is_unfinished() {
            self.unfinished.insert(Arc::clone(name));
        }
        self.waking.extend(position(name, status));
    }

    fn remove_from_index(&mut self, name: &Arc<str>, status: StoredStatus) {
        self.unfinished.remove(name);
        if let Some(position) = position(name, status) {
            self.waking.remove(&position);
        }
    }
}

/// Returns the position of a thread in a list of due threads, or `None` if it is never due.
fn position(name: &Arc<str>, status: StoredStatus) -> Option<DuePosition> {
    let wakes_at = status.wakes_at.filter(|_| status.kind != StatusKind::Unknown);
    let is_listed = wakes_at.is_some() || status.kind == StatusKind::Unknown;
    is_listed.then(|| DuePosition { wakes_at, thread: Arc::clone(name) })
}
