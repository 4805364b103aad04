use superstep::store::Batch;

use crate::protocol::{Object, RunError, RunId, RunStatus, ThreadId, Timestamp};

use super::pattern::equals;
use super::threads::changed;
use super::{CronRecord, Records, RunRecord, Scan, Stored, ThreadRecord, WebhookRecord, keys};

impl Records {
    /// Returns a run.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn run(&self, thread: ThreadId, id: RunId) -> Stored<Option<RunRecord>> {
        if self.restricted().is_some() && self.thread(thread).await?.is_none() {
            return Ok(None);
        }
        self.of(keys::runs(thread)).get(keys::run(id)).await
    }

    /// Returns the error of a run that has failed.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn error_of(&self, record: &RunRecord) -> Stored<Option<RunError>> {
        match &record.error {
            Some(error) => Ok(Some(error.clone())),
            // The record is older than the field. The last run of a thread has the error of the thread.
            None if record.run.status == RunStatus::Error => {
                Ok(self.thread(record.run.thread_id).await?.and_then(|thread| thread.error))
            }
            None => Ok(None),
        }
    }

    /// Returns runs of a thread, newest first.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn runs(
        &self,
        thread: ThreadId,
        status: Option<RunStatus>,
        offset: usize,
        limit: usize,
    ) -> Stored<Vec<RunRecord>> {
        if self.restricted().is_some() && self.thread(thread).await?.is_none() {
            return Ok(Vec::new());
        }
        let conditions = status.map(|status| equals("status", status.name())).transpose()?;
        let mut scan = Scan::new(&self.store, keys::runs(thread), Vec::from_iter(conditions), offset + limit);
        let mut runs = Vec::new();
        while runs.len() < offset + limit {
            let batch = scan.next().await?;
            if batch.is_empty() {
                break;
            }
            runs.extend(batch);
        }
        Ok(runs.into_iter().skip(offset).take(limit).collect())
    }

    /// Returns the runs of all threads that have not ended, oldest first.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn open_runs(&self) -> Stored<Vec<RunRecord>> {
        let mut scan = Scan::new(&self.store, keys::open_runs(), Vec::new(), usize::MAX);
        let mut runs = Vec::new();
        loop {
            let batch = scan.next().await?;
            if batch.is_empty() {
                return Ok(runs);
            }
            runs.extend(batch);
        }
    }

    /// Stores a new run and changes its thread with it, and the cron that starts it: the older and the newer record. Returns `None` if the thread does not exist: nothing is stored then. With `creates`, it is created in the same write.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// All are stored or none is.
    pub(crate) async fn create_run(
        &self,
        run: &RunRecord,
        cron: Option<&(CronRecord, CronRecord)>,
        creates: bool,
        change: impl FnOnce(&mut ThreadRecord),
    ) -> Stored<Option<ThreadRecord>> {
        let id = run.run.thread_id;
        let _locked = self.threads.lock(id).await;
        let old = self.thread(id).await?;
        let base = match &old {
            Some(old) => old.clone(),
            None if creates && !self.is_hidden(id).await? => {
                ThreadRecord { user_id: self.owner(), ..ThreadRecord::new(id, Object::new(), None) }
            }
            None => return Ok(None),
        };
        let new = changed(&base, change);
        let mut batch = self.put_thread(self.batch(), old.as_ref(), &new);
        if let Some((old, new)) = cron {
            batch = self.put_cron(batch, Some(old), new);
        }
        let task = self.change_task(run, &new, true).await?;
        self.put_run(self.put_task(batch, task.as_ref()), run).await?;
        Ok(Some(new))
    }

    /// Changes a run and its thread together. Returns `None` if one of them does not exist.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// Both changes are stored or neither is.
    pub(crate) async fn change_run(
        &self,
        thread: ThreadId,
        id: RunId,
        change: impl FnOnce(&mut RunRecord, &mut ThreadRecord),
    ) -> Stored<Option<(RunRecord, ThreadRecord)>> {
        self.end_run(thread, id, change, |_| None).await
    }

    /// Changes a run and its thread as [`change_run`](Self::change_run), and stores the result to send with them.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// All is stored or nothing is.
    pub(crate) async fn end_run(
        &self,
        thread: ThreadId,
        id: RunId,
        change: impl FnOnce(&mut RunRecord, &mut ThreadRecord),
        webhook: impl FnOnce(&RunRecord) -> Option<WebhookRecord>,
    ) -> Stored<Option<(RunRecord, ThreadRecord)>> {
        let _locked = self.threads.lock(thread).await;
        let (run, thread) = (self.run(thread, id).await?, self.thread(thread).await?);
        let (Some(mut run), Some(old)) = (run, thread) else { return Ok(None) };
        let new = changed(&old, |thread| change(&mut run, thread));
        run.run.updated_at = Timestamp::now().max(run.run.updated_at);
        let batch = self.put_thread(self.batch(), Some(&old), &new);
        let batch = self.put_webhook(batch, webhook(&run).as_ref());
        let task = self.change_task(&run, &new, true).await?;
        self.put_run(self.put_task(batch, task.as_ref()), &run).await?;
        Ok(Some((run, new)))
    }

    /// Deletes a run and changes its thread with it. Returns `false` if one of them does not exist.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// Both are stored or neither is.
    pub(crate) async fn delete_run(
        &self,
        thread: ThreadId,
        id: RunId,
        change: impl FnOnce(&mut ThreadRecord),
    ) -> Stored<bool> {
        let _locked = self.threads.lock(thread).await;
        let (run, record) = (self.run(thread, id).await?, self.thread(thread).await?);
        let (Some(run), Some(old)) = (run, record) else { return Ok(false) };
        let new = changed(&old, change);
        let task = self.change_task(&run, &new, false).await?;
        let batch = self.put_task(self.put_thread(self.batch(), Some(&old), &new), task.as_ref());
        batch.delete(keys::runs(thread), keys::run(id)).delete(keys::open_runs(), id.to_string()).await?;
        Ok(true)
    }

    fn put_run(&self, batch: Batch, run: &RunRecord) -> Batch {
        let id = run.run.run_id;
        let batch = batch.put(self.put(keys::runs(run.run.thread_id), &keys::run(id), run));
        if run.run.status.is_open() {
            batch.put(self.put(keys::open_runs(), &id.to_string(), run))
        } else {
            batch.delete(keys::open_runs(), id.to_string())
        }
    }

    /// Adds the deletion of all runs of a thread to a batch. The caller holds the lock of the thread.
    pub(super) async fn delete_runs(&self, mut batch: Batch, thread: ThreadId) -> Stored<Batch> {
        let mut scan = Scan::<RunRecord>::new(&self.store, keys::runs(thread), Vec::new(), usize::MAX);
        loop {
            let runs = scan.next().await?;
            if runs.is_empty() {
                return Ok(batch);
            }
            for run in runs {
                let id = run.run.run_id;
                batch =
                    batch.delete(keys::runs(thread), keys::run(id)).delete(keys::open_runs(), id.to_string());
            }
        }
    }
}
