//! The subgraph calls that a roll back removes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::checkpoint::{Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, NamespaceQuery};
use crate::engine::{ParentTask, parent_task};
use crate::error::Error;

use super::erased::ErasedThread;
use super::roll_back::PAGE;

/// The checkpoint to which a thread is rolled back.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) id: CheckpointId,
    /// The checkpoint that first planned its tasks.
    pub(super) planned_at: CheckpointId,
}

/// Returns the subgraph namespaces that lose checkpoints, with the newest checkpoint that remains in each.
///
/// A thread has one writer at a time, and its run only moves to newer checkpoints. So the checkpoints of a namespace are in
/// the order of the checkpoints of their parent runs, and those to remove are the newest ones.
///
/// The calls of the tasks in `anew` are removed too. Tasks whose calls were made later in the same namespace are added.
pub(super) async fn cut_calls(
    thread: &ErasedThread,
    head: Option<Head>,
    anew: &mut BTreeSet<usize>,
) -> Result<Vec<(Arc<str>, Option<CheckpointId>)>, Error> {
    let store = &thread.graph.store;
    // The oldest removed checkpoint, by namespace. The namespace of a parent run comes before those of its calls.
    let mut removed: HashMap<Arc<str>, CheckpointId> = HashMap::new();
    let mut cuts = Vec::new();
    let mut query = NamespaceQuery::new(Arc::clone(&thread.name)).limit(PAGE);
    loop {
        let page = store.namespaces(query.clone()).await.map_err(|error| thread.graph.error(error))?;
        for found in &page.items {
            if found.namespace.is_empty() {
                continue;
            }
            let newest = found
                .head
                .clone()
                .map_err(|error| thread.graph.error(CheckpointError::Corrupt(Box::new(error))))?;
            let outer = found.namespace.rsplit_once('/').map(|(outer, _)| outer);
            let cut = match outer {
                None => Cut { head, outer: None, anew: &mut *anew },
                Some(outer) => match removed.get(outer) {
                    None => continue,
                    Some(first) => Cut { head, outer: Some(*first), anew: &mut *anew },
                },
            };
            if let Some((first, to)) = cut.find(thread, &found.namespace, newest).await? {
                removed.insert(Arc::clone(&found.namespace), first);
                cuts.push((Arc::clone(&found.namespace), to));
            }
        }
        match page.items.last() {
            Some(last) if page.more => query = query.continue_after(last),
            _ => return Ok(cuts),
        }
    }
}

/// The search for the checkpoints to remove in one namespace.
struct Cut<'a> {
    head: Option<Head>,
    /// The oldest removed checkpoint of the parent run. `None` if the parent run is that of the thread.
    outer: Option<CheckpointId>,
    anew: &'a mut BTreeSet<usize>,
}

impl Cut<'_> {
    /// Returns `true` if the checkpoint of a call by this task is removed.
    fn removes(&self, task: &ParentTask) -> bool {
        match (self.outer, self.head) {
            (Some(first), _) => task.state_at() >= first,
            (None, None) => true,
            (None, Some(head)) => {
                task.state_at() > head.id || self.is_of_head(task) && self.anew.contains(&task.task)
            }
        }
    }

    /// Returns `true` if a task of the new head has made the call.
    fn is_of_head(&self, task: &ParentTask) -> bool {
        let head = self.head.filter(|_| self.outer.is_none());
        head.is_some_and(|head| !task.between && task.checkpoint == head.planned_at)
    }

    /// Returns the oldest checkpoint to remove and the newest one that remains. `newest` is the newest of the namespace.
    async fn find(
        self,
        thread: &ErasedThread,
        namespace: &Arc<str>,
        newest: Checkpoint,
    ) -> Result<Option<(CheckpointId, Option<CheckpointId>)>, Error> {
        let query = CheckpointQuery::new(Arc::clone(&thread.name)).namespace(Arc::clone(namespace));
        let mut query = query.before(newest.id).limit(PAGE);
        let (mut page, mut more) = (vec![newest].into_iter(), true);
        let (mut found, mut passed) = (None, Vec::new());
        loop {
            let Some(checkpoint) = page.next() else {
                if !more {
                    return Ok(found);
                }
                let next = thread.graph.store.list(query.clone()).await;
                let next = next.map_err(|error| thread.graph.error(error))?;
                more = next.more && !next.items.is_empty();
                query.before = next.items.last().map(|last| last.id).or(query.before);
                page = next.items.into_iter();
                continue;
            };
            let task = parent_task(&thread.name, &checkpoint).map_err(|kind| thread.graph.refuse(kind))?;
            // Not written by this version if it has no parent task.
            let Some(task) = task else { return Ok(remaining(found, &checkpoint)) };
            if self.removes(&task) {
                // The newer ones go with it.
                self.anew.extend(passed.drain(..));
                found = Some((checkpoint.id, None));
                continue;
            }
            found = remaining(found, &checkpoint);
            if self.anew.is_empty() || !self.is_of_head(&task) {
                return Ok(found);
            }
            // An older call in this namespace may have to begin anew.
            passed.push(task.task);
        }
    }
}

/// Notes the newest checkpoint that remains.
fn remaining(
    found: Option<(CheckpointId, Option<CheckpointId>)>,
    checkpoint: &Checkpoint,
) -> Option<(CheckpointId, Option<CheckpointId>)> {
    found.map(|(first, to)| (first, to.or(Some(checkpoint.id))))
}
