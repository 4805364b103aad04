//! The tasks of the Agent2Agent protocol, in lists by the time of their last change.
//!
//! A walk over a list sees it as it was at the moment of its first page. A task that changes gets a new place, and its old one
//! is kept for [`KEPT`], with the time of the change. At each moment a task therefore has exactly one place, and a walk neither
//! misses nor repeats it. Its other places are passed over.

use std::time::Duration;

use superstep::store::{Batch, Namespace};
use tokio::sync::RwLockReadGuard;

use crate::protocol::{AssistantId, RunId, ThreadId, Timestamp};

use super::{Records, RunRecord, Scan, Stored, TaskPlace, TaskRecord, ThreadRecord, keys};

/// The time for which a task keeps an old place. A walk has to end in this time.
pub(crate) const KEPT: Duration = Duration::from_secs(3_600);

/// A change of a task, which no walk begins to see before it is stored.
pub(super) struct TaskChange<'r> {
    old: Option<TaskRecord>,
    /// `None` if the task has no run any more.
    new: Option<TaskRecord>,
    _no_moment: RwLockReadGuard<'r, ()>,
}

/// The runs of a task.
#[derive(Debug)]
pub(crate) struct TaskRuns {
    pub(crate) thread: ThreadRecord,
    /// The runs, newest first. There is at least one.
    pub(crate) runs: Vec<RunRecord>,
    /// `true` if the thread has no later run.
    pub(crate) is_newest: bool,
}

impl Records {
    /// Returns a task. `None` if it does not exist.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn task(&self, thread: ThreadId, first: RunId) -> Stored<Option<TaskRuns>> {
        let Some(record) = self.task_record(thread, first).await? else { return Ok(None) };
        let Some(thread) = self.thread(thread).await? else { return Ok(None) };
        let runs = self.of::<RunRecord>(keys::runs(thread.thread_id));
        let runs: Vec<_> = runs.items(record.runs.iter().map(|id| keys::run(*id))).await?;
        let runs: Vec<_> = runs.into_iter().flatten().map(|item| item.value).collect();
        let Some(latest) = runs.first() else { return Ok(None) };
        let newest = self.runs(thread.thread_id, None, 0, 1).await?;
        let is_newest = newest.first().is_some_and(|newest| newest.run.run_id == latest.run.run_id);
        Ok(Some(TaskRuns { thread, runs, is_newest }))
    }

    async fn task_record(&self, thread: ThreadId, first: RunId) -> Stored<Option<TaskRecord>> {
        self.of(keys::tasks(thread)).get(first.to_string()).await
    }

    /// Begins a walk over lists of tasks: returns a time such that all changes up to it are stored, and later changes have
    /// later times.
    pub(crate) async fn moment(&self) -> Timestamp {
        let _no_change = self.tasks.write().await;
        Timestamp::now()
    }

    /// Reads the places of the tasks of an assistant, or of one of its threads, those of the last changes first. The first
    /// ones are those after the last one that was read, or those of the moment. The first batch has up to `size` places.
    pub(crate) fn task_places(
        &self,
        assistant: AssistantId,
        thread: Option<ThreadId>,
        moment: Timestamp,
        last: Option<(Timestamp, RunId)>,
        size: usize,
    ) -> Scan<TaskPlace> {
        let namespace = match (thread, self.restricted()) {
            (Some(thread), _) => keys::tasks_of_thread(assistant, thread),
            (None, Some(caller)) => keys::tasks_of_owner(assistant, caller.id()),
            (None, None) => keys::tasks_by_update(assistant),
        };
        let key = match last {
            Some((since, first)) => keys::newest_first(since, first),
            // It sorts before the keys of this time.
            None => keys::newest_first(moment, ""),
        };
        Scan::new(&self.store, namespace, Vec::new(), size).after(&key)
    }

    /// Begins the change of the task of a run. The caller holds the lock of the thread until the change is stored.
    pub(super) async fn change_task(
        &self,
        run: &RunRecord,
        thread: &ThreadRecord,
        exists: bool,
    ) -> Stored<Option<TaskChange<'_>>> {
        let Some(first) = run.task() else { return Ok(None) };
        let (id, thread_id) = (run.run.run_id, run.run.thread_id);
        let old = self.task_record(thread_id, first).await?;
        let no_moment = self.tasks.read().await;
        // Later than a moment that was returned in this microsecond.
        let now = Timestamp::now().after(Duration::from_micros(1));
        let mut new = old.clone().unwrap_or_else(|| TaskRecord {
            thread_id,
            first,
            assistant_id: run.run.assistant_id,
            user_id: thread.user_id.clone(),
            runs: Vec::new(),
            changed_at: now,
        });
        if !exists {
            new.runs.retain(|run| *run != id);
        } else {
            new.changed_at = now.max(new.changed_at);
            if !new.runs.contains(&id) {
                new.runs.insert(0, id);
            }
        }
        let new = Some(new).filter(|new| !new.runs.is_empty());
        Ok(Some(TaskChange { old, new, _no_moment: no_moment }))
    }

    /// Adds the change of a task to a batch.
    pub(super) fn put_task(&self, mut batch: Batch, change: Option<&TaskChange<'_>>) -> Batch {
        let Some(TaskChange { old, new, .. }) = change else { return batch };
        if let Some(old) = old.as_ref().filter(|_| new.is_none()) {
            return delete_task(batch, old);
        }
        let Some(new) = new else { return batch };
        batch = batch.put(self.put(keys::tasks(new.thread_id), &new.first.to_string(), new));
        if let Some(old) = old.as_ref().filter(|old| old.changed_at != new.changed_at) {
            let place = TaskPlace { until: Some(new.changed_at), ..place(old) };
            for (namespace, key) in places(old) {
                batch = batch.put(self.put(namespace, &key, &place).ttl(KEPT));
            }
        }
        for (namespace, key) in places(new) {
            batch = batch.put(self.put(namespace, &key, &place(new)));
        }
        batch
    }

    /// Adds the deletion of the tasks of a thread to a batch. The caller holds the lock of the thread.
    pub(super) async fn delete_tasks(&self, mut batch: Batch, thread: ThreadId) -> Stored<Batch> {
        let mut scan = Scan::<TaskRecord>::new(&self.store, keys::tasks(thread), Vec::new(), usize::MAX);
        loop {
            let tasks = scan.next().await?;
            if tasks.is_empty() {
                return Ok(batch);
            }
            batch = tasks.iter().fold(batch, delete_task);
        }
    }
}

/// Old places are left: they expire, and lead to no task.
fn delete_task(mut batch: Batch, task: &TaskRecord) -> Batch {
    for (namespace, key) in places(task) {
        batch = batch.delete(namespace, key);
    }
    batch.delete(keys::tasks(task.thread_id), task.first.to_string())
}

fn place(task: &TaskRecord) -> TaskPlace {
    TaskPlace { thread_id: task.thread_id, first: task.first, since: task.changed_at, until: None }
}

/// The places of a task in lists.
fn places(task: &TaskRecord) -> Vec<(Namespace, String)> {
    let (assistant, key) = (task.assistant_id, keys::newest_first(task.changed_at, task.first));
    let owned = task.user_id.as_deref().map(|owner| keys::tasks_of_owner(assistant, owner));
    let lists = [keys::tasks_by_update(assistant), keys::tasks_of_thread(assistant, task.thread_id)];
    lists.into_iter().chain(owned).map(|namespace| (namespace, key.clone())).collect()
}
