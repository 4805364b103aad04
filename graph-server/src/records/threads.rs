use std::collections::HashSet;

use superstep::store::{Batch, StoreError};

use crate::protocol::{SortOrder, ThreadFilter, ThreadId, ThreadSort, Timestamp};

use super::pattern::conditions;
use super::{Created, Records, Scan, Stored, ThreadRecord, contains, keys};

impl Records {
    /// Returns a thread.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn thread(&self, id: ThreadId) -> Stored<Option<ThreadRecord>> {
        Ok(self.any_thread(id).await?.filter(|thread| self.sees(thread.user_id.as_deref())))
    }

    /// Returns `true` if a thread exists and the caller does not see it.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn is_hidden(&self, id: ThreadId) -> Stored<bool> {
        let Some(caller) = self.restricted() else { return Ok(false) };
        Ok(self.any_thread(id).await?.is_some_and(|thread| !caller.sees(thread.user_id.as_deref())))
    }

    async fn any_thread(&self, id: ThreadId) -> Stored<Option<ThreadRecord>> {
        self.of(keys::threads()).get(id.to_string()).await
    }

    /// Stores a new thread. It belongs to the caller, unless it has an owner.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// The thread is stored as a whole or not at all.
    pub(crate) async fn create_thread(&self, mut thread: ThreadRecord) -> Stored<Created<ThreadRecord>> {
        let _locked = self.threads.lock(thread.thread_id).await;
        match self.any_thread(thread.thread_id).await? {
            Some(existing) if self.sees(existing.user_id.as_deref()) => Ok(Created::Existing(existing)),
            Some(_) => Ok(Created::Taken),
            None => {
                thread.user_id = thread.user_id.or_else(|| self.owner());
                self.put_thread(self.batch(), None, &thread).await?;
                Ok(Created::New(thread))
            }
        }
    }

    /// Changes a thread. Returns `None` if it does not exist. Its time to live starts again.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// The change is stored as a whole or not at all.
    pub(crate) async fn change_thread(
        &self,
        id: ThreadId,
        change: impl FnOnce(&mut ThreadRecord),
    ) -> Stored<Option<ThreadRecord>> {
        let _locked = self.threads.lock(id).await;
        let Some(old) = self.thread(id).await? else { return Ok(None) };
        let new = changed(&old, change);
        self.put_thread(self.batch(), Some(&old), &new).await?;
        Ok(Some(new))
    }

    /// Ends the time to live of a thread until its next change. That is no change of the thread.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn end_ttl(&self, id: ThreadId) -> Stored<()> {
        let _locked = self.threads.lock(id).await;
        let Some(old) = self.thread(id).await? else { return Ok(()) };
        let new = ThreadRecord { expires_at: None, ..old.clone() };
        self.put_thread(self.batch(), Some(&old), &new).await.map(drop)
    }

    /// Deletes a thread and its runs. Returns `false` if it does not exist.
    ///
    /// # Errors
    /// The store fails.
    ///
    /// # Cancel safety
    /// The thread is deleted as a whole or not at all.
    pub(crate) async fn delete_thread(&self, id: ThreadId) -> Stored<bool> {
        let _locked = self.threads.lock(id).await;
        let Some(thread) = self.thread(id).await? else { return Ok(false) };
        let mut batch = self.batch().delete(keys::threads(), id.to_string());
        for (namespace, key) in places(&thread) {
            batch = batch.delete(namespace, key);
        }
        let batch = self.delete_tasks(batch, id).await?;
        self.delete_runs(batch, id).await?.await?;
        Ok(true)
    }

    /// Adds the writes of a thread to a batch.
    pub(super) fn put_thread(&self, batch: Batch, old: Option<&ThreadRecord>, new: &ThreadRecord) -> Batch {
        let mut batch = batch.put(self.put(keys::threads(), &new.thread_id.to_string(), new));
        let at = places(new);
        for (namespace, key) in old.into_iter().flat_map(places).filter(|place| !at.contains(place)) {
            batch = batch.delete(namespace, key);
        }
        for (namespace, key) in at {
            batch = batch.put(self.put(namespace, &key, new));
        }
        batch
    }

    /// Returns the threads that match a filter, except for its `values`, in an order. The first batch has up to `size`
    /// threads.
    ///
    /// By the times of creation and of the last change, newest first, and by id, a search reads as far as the caller does.
    /// Every other order reads and sorts all matching threads.
    ///
    /// # Errors
    /// The store fails, or the filter cannot be compared.
    pub(crate) async fn threads(
        &self,
        filter: &ThreadFilter,
        sort: (ThreadSort, SortOrder),
        size: usize,
    ) -> Stored<ThreadScan> {
        if let Some(ids) = &filter.ids {
            let distinct: HashSet<_> = ids.iter().copied().collect();
            let keys = distinct.iter().map(ToString::to_string);
            let found = self.of::<ThreadRecord>(keys::threads()).items(keys).await?;
            let mut threads: Vec<ThreadRecord> = found.into_iter().flatten().map(|item| item.value).collect();
            threads.retain(|thread| self.sees(thread.user_id.as_deref()));
            return Ok(ThreadScan::sorted(threads, filter, sort));
        }
        let mut conditions = conditions(&["metadata"], &filter.metadata)?;
        if let Some(status) = filter.status {
            conditions.push(super::pattern::equals("status", status.name())?);
        }
        if let Some(caller) = self.restricted() {
            conditions.push(super::pattern::equals("user_id", caller.id())?);
        }
        let namespace = match sort {
            (ThreadSort::UpdatedAt, SortOrder::Descending) => Some(keys::threads_by_update()),
            (ThreadSort::CreatedAt, SortOrder::Descending) => Some(keys::threads_by_creation()),
            (ThreadSort::ThreadId, SortOrder::Ascending) => Some(keys::threads()),
            _ => None,
        };
        if let Some(namespace) = namespace {
            let scan = Scan::new(&self.store, namespace, conditions, size);
            return Ok(ThreadScan::Listed {
                scan,
                metadata: filter.metadata.clone().into(),
                seen: HashSet::new(),
            });
        }
        let mut scan = Scan::new(&self.store, keys::threads(), conditions, usize::MAX);
        let mut all = Vec::new();
        loop {
            let batch = scan.next().await?;
            if batch.is_empty() {
                return Ok(ThreadScan::sorted(all, filter, sort));
            }
            all.extend(batch);
        }
    }

    /// Returns up to `limit` threads whose time to live has ended, soonest first, without those that are kept.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn expired_threads(
        &self,
        now: Timestamp,
        limit: usize,
        is_kept: impl Fn(&ThreadRecord) -> bool,
    ) -> Stored<Vec<ThreadRecord>> {
        let mut scan = Scan::<ThreadRecord>::new(&self.store, keys::expirations(), Vec::new(), limit);
        let mut expired = Vec::new();
        loop {
            let threads = scan.next().await?;
            if threads.is_empty() {
                return Ok(expired);
            }
            for thread in threads {
                let has_expired = thread.expires_at.is_some_and(|end| end <= now);
                if !has_expired || expired.len() == limit {
                    return Ok(expired);
                }
                if !is_kept(&thread) {
                    expired.push(thread);
                }
            }
        }
    }
}

/// Changes a copy of a thread.
pub(super) fn changed(old: &ThreadRecord, change: impl FnOnce(&mut ThreadRecord)) -> ThreadRecord {
    let mut new = old.clone();
    change(&mut new);
    new.updated_at = Timestamp::now().max(old.updated_at);
    new.expires_at = new.ttl.map(|ttl| ttl.end(new.updated_at));
    new
}

/// The places of a thread in lists.
fn places(thread: &ThreadRecord) -> Vec<(superstep::store::Namespace, String)> {
    let id = thread.thread_id;
    let mut places = vec![
        (keys::threads_by_update(), keys::newest_first(thread.updated_at, id)),
        (keys::threads_by_creation(), keys::newest_first(thread.created_at, id)),
    ];
    places.extend(thread.expires_at.map(|end| (keys::expirations(), keys::oldest_first(end, id))));
    places
}

/// The threads that a search has found.
#[derive(Debug)]
pub(crate) enum ThreadScan {
    /// Read from a list, as far as needed.
    Listed {
        /// The rest of the list.
        scan: Scan<ThreadRecord>,
        /// The metadata to contain.
        metadata: serde_json::Value,
        /// The threads that were returned. A thread that is changed meanwhile moves to the beginning of the list, and
        /// another one is then read twice.
        seen: HashSet<ThreadId>,
    },
    /// Read as a whole.
    Sorted(Vec<ThreadRecord>),
}

impl ThreadScan {
    fn sorted(mut threads: Vec<ThreadRecord>, filter: &ThreadFilter, sort: (ThreadSort, SortOrder)) -> Self {
        let metadata = filter.metadata.clone().into();
        threads.retain(|thread| {
            filter.status.is_none_or(|status| status == thread.status)
                && contains(&thread.metadata.clone().into(), &metadata)
        });
        threads.sort_by(|a, b| {
            let order = match sort.0 {
                ThreadSort::ThreadId => a.thread_id.cmp(&b.thread_id),
                ThreadSort::Status => a.status.name().cmp(b.status.name()),
                ThreadSort::CreatedAt => a.created_at.cmp(&b.created_at),
                ThreadSort::UpdatedAt => a.updated_at.cmp(&b.updated_at),
                ThreadSort::StateUpdatedAt => a.state_updated_at.cmp(&b.state_updated_at),
            };
            let order = if sort.1 == SortOrder::Descending { order.reverse() } else { order };
            order.then(a.thread_id.cmp(&b.thread_id))
        });
        Self::Sorted(threads)
    }

    /// Returns the next threads. There are none at the end.
    ///
    /// # Errors
    /// The store fails, or a thread cannot be read.
    ///
    /// # Cancel safety
    /// The call only reads.
    pub(crate) async fn next(&mut self) -> Result<Vec<ThreadRecord>, StoreError> {
        match self {
            Self::Sorted(threads) => Ok(std::mem::take(threads)),
            Self::Listed { scan, metadata, seen } => loop {
                let mut batch = scan.next().await?;
                let at_end = batch.is_empty();
                batch.retain(|thread| {
                    contains(&thread.metadata.clone().into(), metadata) && seen.insert(thread.thread_id)
                });
                if at_end || !batch.is_empty() {
                    return Ok(batch);
                }
            },
        }
    }
}
