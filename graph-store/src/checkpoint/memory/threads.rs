use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::namespace::Namespace;
use super::thread::Thread;
use crate::checkpoint::{
    ChangePosition, CheckpointError, DuePosition, RunRecord, StatusKind, StoredStatus, WriteBatch,
    metadata_digest,
};

/// The threads by name, with indexes over their status and their metadata.
#[derive(Default)]
pub(super) struct Threads {
    /// In boxes, because a map has room for several entries from the first one on.
    by_name: BTreeMap<Arc<str>, Box<Thread>>,
    by_status: BTreeMap<StatusKind, Box<Listed>>,
    /// The threads by the digest of each key and value of their metadata.
    by_metadata: HashMap<u64, Listed>,
}

/// Threads in the orders of lists.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) names: BTreeSet<Arc<str>>,
    pub(super) changes: BTreeSet<ChangePosition>,
    /// The threads with a wake-up time, and those of unknown status.
    pub(super) waking: BTreeSet<DuePosition>,
}

/// The properties of a thread that decide its places in the indexes.
struct Places {
    status: StoredStatus,
    run: Option<Arc<RunRecord>>,
}

impl Threads {
    pub(super) fn by_name(&self) -> &BTreeMap<Arc<str>, Box<Thread>> {
        &self.by_name
    }

    pub(super) fn by_status(&self) -> &BTreeMap<StatusKind, Box<Listed>> {
        &self.by_status
    }

    pub(super) fn by_metadata(&self, digest: u64) -> Option<&Listed> {
        self.by_metadata.get(&digest)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Thread> {
        self.by_name.get(name).map(|thread| &**thread)
    }

    /// Returns a thread for changes that leave its status and its heads as they are.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Thread> {
        self.by_name.get_mut(name).map(|thread| &mut **thread)
    }

    /// Commits a batch to its thread, which is created if it does not exist.
    pub(super) fn commit(&mut self, batch: WriteBatch) -> Result<(), CheckpointError> {
        let name = Arc::clone(&batch.thread);
        if let Some(thread) = self.by_name.get_mut(&name) {
            let before = Places::of(thread);
            thread.commit(batch)?;
            let after = Places::of(thread);
            if !before.are(&after) {
                self.remove_from_index(&name, &before);
                self.add_to_index(&name, &after);
            }
            return Ok(());
        }
        let mut thread = Thread::new(Arc::clone(&batch.origin));
        thread.commit(batch)?;
        self.insert(name, thread);
        Ok(())
    }

    pub(super) fn insert(&mut self, name: Arc<str>, thread: Thread) {
        self.add_to_index(&name, &Places::of(&thread));
        self.by_name.insert(name, Box::new(thread));
    }

    pub(super) fn remove(&mut self, name: &str) -> bool {
        let Some((name, thread)) = self.by_name.remove_entry(name) else { return false };
        self.remove_from_index(&name, &Places::of(&thread));
        true
    }

    fn add_to_index(&mut self, name: &Arc<str>, places: &Places) {
        self.by_status.entry(places.status.kind).or_default().add(name, places.status);
        for digest in places.digests() {
            self.by_metadata.entry(digest).or_default().add(name, places.status);
        }
    }

    fn remove_from_index(&mut self, name: &Arc<str>, places: &Places) {
        if let Some(listed) = self.by_status.get_mut(&places.status.kind) {
            listed.remove(name, places.status);
        }
        for digest in places.digests() {
            if let Some(listed) = self.by_metadata.get_mut(&digest) {
                listed.remove(name, places.status);
                if listed.names.is_empty() {
                    self.by_metadata.remove(&digest);
                }
            }
        }
    }
}

impl Places {
    fn of(thread: &Thread) -> Self {
        let head = thread.namespace("").and_then(Namespace::head);
        let run = head.map(|head| &head.run).filter(|run| !run.metadata.is_empty());
        Self { status: thread.status, run: run.cloned() }
    }

    fn are(&self, other: &Self) -> bool {
        let is_same_run = match (&self.run, &other.run) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one.metadata == other.metadata,
            (one, other) => one.is_none() && other.is_none(),
        };
        is_same_run && self.status == other.status
    }

    fn digests(&self) -> impl Iterator<Item = u64> {
        let metadata = self.run.iter().flat_map(|run| &run.metadata);
        metadata.map(|(key, value)| metadata_digest(key, value))
    }
}

impl Listed {
    fn add(&mut self, name: &Arc<str>, status: StoredStatus) {
        self.names.insert(Arc::clone(name));
        self.changes.insert(ChangePosition::new(status.changed_at, Arc::clone(name)));
        self.waking.extend(position(name, status));
    }

    fn remove(&mut self, name: &Arc<str>, status: StoredStatus) {
        self.names.remove(name);
        self.changes.remove(&ChangePosition::new(status.changed_at, Arc::clone(name)));
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
