use superstep::store::Batch;

use crate::protocol::{CronFilter, CronId, CronSort, SortOrder, Timestamp};

use super::locks::Locked;
use super::pattern::{conditions, equals};
use super::{CronRecord, Records, Scan, Stored, contains, keys};

/// The right to change a cron.
#[derive(Debug)]
pub(crate) struct CronLock {
    _locked: Locked<CronId>,
}

/// The number of crons that are read first.
const FIRST: usize = 16;

fn is_due(cron: &CronRecord, now: Timestamp) -> bool {
    cron.due().is_some_and(|due| due <= now)
}

impl Records {
    /// Returns a cron.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn cron(&self, id: CronId) -> Stored<Option<CronRecord>> {
        let found: Option<CronRecord> = self.of(keys::crons()).get(id.to_string()).await?;
        Ok(found.filter(|record| self.sees(record.cron.user_id.as_deref())))
    }

    /// Waits for the right to change a cron.
    ///
    /// # Cancel safety
    /// A dropped call does not hold the right.
    pub(crate) async fn lock_cron(&self, id: CronId) -> CronLock {
        CronLock { _locked: self.crons.lock(id).await }
    }

    /// Stores a cron, in place of its older record. The caller holds its lock.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// The cron is stored as a whole or not at all.
    pub(crate) async fn store_cron(&self, old: Option<&CronRecord>, new: &CronRecord) -> Stored<()> {
        self.put_cron(self.batch(), old, new).await.map(drop)
    }

    /// Adds the writes of a cron to a batch.
    pub(super) fn put_cron(&self, batch: Batch, old: Option<&CronRecord>, new: &CronRecord) -> Batch {
        let id = new.cron.cron_id;
        let mut batch = batch.put(self.put(keys::crons(), &id.to_string(), new));
        if let Some(time) = old.and_then(CronRecord::due).filter(|time| new.due() != Some(*time)) {
            batch = batch.delete(keys::crons_by_time(), keys::oldest_first(time, id));
        }
        if let Some(time) = new.due() {
            batch = batch.put(self.put(keys::crons_by_time(), &keys::oldest_first(time, id), new));
        }
        batch
    }

    /// Deletes a cron. Returns `false` if it does not exist.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn delete_cron(&self, id: CronId) -> Stored<bool> {
        let _lock = self.lock_cron(id).await;
        let Some(old) = self.cron(id).await? else { return Ok(false) };
        let mut batch = self.batch().delete(keys::crons(), id.to_string());
        if let Some(time) = old.due() {
            batch = batch.delete(keys::crons_by_time(), keys::oldest_first(time, id));
        }
        batch.await?;
        Ok(true)
    }

    fn crons_by_time(&self, size: usize) -> Scan<CronRecord> {
        Scan::new(&self.store, keys::crons_by_time(), Vec::new(), size)
    }

    /// Returns the crons whose next run is due, in the order of their times.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn due_crons(&self, now: Timestamp) -> Stored<Vec<CronId>> {
        let (mut scan, mut due) = (self.crons_by_time(FIRST), Vec::new());
        loop {
            let batch = scan.next().await?;
            let count = batch.len();
            due.extend(batch.iter().filter(|cron| is_due(cron, now)).map(|cron| cron.cron.cron_id));
            if count == 0 || batch.last().is_some_and(|last| !is_due(last, now)) {
                return Ok(due);
            }
        }
    }

    /// Returns the time of the soonest run after a time.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn next_cron(&self, now: Timestamp) -> Stored<Option<Timestamp>> {
        let mut scan = self.crons_by_time(FIRST);
        loop {
            let batch = scan.next().await?;
            if batch.is_empty() {
                return Ok(None);
            }
            if let Some(next) = batch.iter().find(|cron| !is_due(cron, now)) {
                return Ok(next.due());
            }
        }
    }

    /// Returns all crons that match a filter, in an order.
    ///
    /// # Errors
    /// The store fails, or the filter cannot be compared.
    pub(crate) async fn crons(
        &self,
        filter: &CronFilter,
        sort: (CronSort, SortOrder),
    ) -> Stored<Vec<CronRecord>> {
        let mut conditions = conditions(&["metadata"], &filter.metadata)?;
        if let Some(id) = filter.assistant_id {
            conditions.push(equals("assistant_id", &id.to_string())?);
        }
        if let Some(id) = filter.thread_id {
            conditions.push(equals("thread_id", &id.to_string())?);
        }
        if let Some(caller) = self.restricted() {
            conditions.push(equals("user_id", caller.id())?);
        }
        let metadata = filter.metadata.clone().into();
        let mut scan = Scan::<CronRecord>::new(&self.store, keys::crons(), conditions, usize::MAX);
        let mut all = Vec::new();
        loop {
            let mut batch = scan.next().await?;
            if batch.is_empty() {
                break;
            }
            batch.retain(|record| {
                filter.enabled.is_none_or(|enabled| enabled == record.cron.enabled)
                    && contains(&record.cron.metadata.clone().into(), &metadata)
            });
            all.extend(batch);
        }
        all.sort_by(|a, b| {
            let (a, b) = (&a.cron, &b.cron);
            let order = match sort.0 {
                CronSort::CronId => a.cron_id.cmp(&b.cron_id),
                CronSort::AssistantId => a.assistant_id.cmp(&b.assistant_id),
                CronSort::ThreadId => a.thread_id.cmp(&b.thread_id),
                CronSort::CreatedAt => a.created_at.cmp(&b.created_at),
                CronSort::UpdatedAt => a.updated_at.cmp(&b.updated_at),
                CronSort::NextRunDate => a.next_run_date.cmp(&b.next_run_date),
                CronSort::EndTime => a.end_time.cmp(&b.end_time),
            };
            let order = if sort.1 == SortOrder::Descending { order.reverse() } else { order };
            order.then(a.cron_id.cmp(&b.cron_id))
        });
        Ok(all)
    }
}
