//! The subgraph calls that a roll back removes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::checkpoint::{
    Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, CheckpointSource, NamespaceQuery,
};
use crate::engine::{ParentTask, ThreadTask, parent_task};
use crate::error::Error;

use super::erased::ErasedThread;

/// The number of checkpoints that are read at once.
pub(super) const PAGE: usize = 64;

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
/// the order of the checkpoints of the thread, and those to remove are the newest ones.
///
/// The calls of the tasks in `anew` are removed too. Tasks are added whose calls were made later in the same namespace, and
/// those whose calls were updated by hand.
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
            let is_nested = outer.is_some();
            let outer_removed = outer.and_then(|outer| removed.get(outer)).copied();
            let cut = Cut { head, is_nested, outer_removed, anew: &mut *anew };
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
    /// `true` for the calls of a call.
    is_nested: bool,
    /// The oldest removed checkpoint of the parent call.
    outer_removed: Option<CheckpointId>,
    anew: &'a mut BTreeSet<usize>,
}

impl Cut<'_> {
    /// Returns `true` if the checkpoint of a call by this task is removed.
    fn removes(&self, task: &ParentTask) -> bool {
        let Some(head) = self.head else { return true };
        let with_parent = self.outer_removed.is_some_and(|first| task.state_at() >= first);
        with_parent
            || self.thread_task(task).is_some_and(|of_thread| of_thread.at > head.id)
            || self.task_of_head(task).is_some_and(|task| self.anew.contains(&task))
    }

    /// Returns the task of the thread in which the call runs. The checkpoint of its parent call may have been pruned.
    ///
    /// An older version has not stored it for the calls of calls.
    fn thread_task(&self, task: &ParentTask) -> Option<ThreadTask> {
        match self.is_nested {
            true => task.of_thread,
            false => Some(ThreadTask { at: task.state_at(), task: task.task }),
        }
    }

    /// Returns the task of the new head that has made the call, directly or in a call of its own.
    fn task_of_head(&self, task: &ParentTask) -> Option<usize> {
        let (head, of_thread) = self.head.zip(self.thread_task(task))?;
        let is_of_head = match self.is_nested {
            // No other branch has a checkpoint between the one that planned the tasks and the head that has kept them.
            true => (head.planned_at..=head.id).contains(&of_thread.at),
            false => !task.between_calls && task.checkpoint == head.planned_at,
        };
        is_of_head.then_some(of_thread.task)
    }

    /// Returns `true` if the checkpoint was made by hand after the new head was the head.
    fn is_later_update(&self, checkpoint: &Checkpoint, task: &ParentTask) -> bool {
        let at = self.thread_task(task).map(|of_thread| of_thread.at);
        checkpoint.source == CheckpointSource::Update
            && !task.between_calls
            && at == self.head.map(|head| head.id)
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
            let of_head = self.task_of_head(&task);
            if self.is_later_update(&checkpoint, &task) {
                self.anew.extend(of_head);
            }
            if self.removes(&task) {
                // The newer ones go with it.
                self.anew.extend(passed.drain(..));
                found = Some((checkpoint.id, None));
                continue;
            }
            found = remaining(found, &checkpoint);
            let Some(of_head) = of_head else { return Ok(found) };
            // An older checkpoint of these calls may have to be removed, with the newer ones.
            passed.push(of_head);
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
