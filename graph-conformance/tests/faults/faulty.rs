use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use serde_json::Value;
use superstep_store::checkpoint::{
    BatchWrite, Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer,
    CorruptCheckpoint, Fence, HistoryEntry, Loaded, MemoryCheckpointer, NamespaceQuery, NamespaceRecord,
    Page, Prune, Pruned, RecordKey, RecordKind, StoredCheckpoint, ThreadQuery, ThreadRecord, WriteBatch,
};

use crate::fault::Fault;

/// The store in memory with a fault.
#[derive(Clone)]
pub(crate) struct Faulty {
    pub(crate) fault: Fault,
    inner: MemoryCheckpointer,
    pub(crate) aliases: Arc<Mutex<HashMap<String, Arc<str>>>>,
    late: Arc<Mutex<Option<WriteBatch>>>,
    /// The thread whose head cannot be read.
    pub(crate) damaged_thread: Arc<Mutex<Option<Arc<str>>>>,
}

impl Faulty {
    pub(crate) fn new(fault: Fault) -> Self {
        Self {
            fault,
            inner: MemoryCheckpointer::new(),
            aliases: Arc::default(),
            late: Arc::default(),
            damaged_thread: Arc::default(),
        }
    }

    async fn ids(&self, thread: &str, namespace: &str) -> Vec<CheckpointId> {
        let query = CheckpointQuery::new(thread).namespace(namespace);
        self.inner.list(query).await.unwrap().items.iter().map(|checkpoint| checkpoint.id).collect()
    }
}

/// Yields to other tasks `times` times.
async fn pause(times: usize) {
    let mut left = times;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Checkpointer for Faulty {
    fn commit(&self, mut batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        self.tamper(&mut batch);
        Box::pin(async move {
            let first = batch.clone();
            match self.fault {
                Fault::ChecksBeforeItWrites => {
                    let seen = self.inner.get(&batch.thread, &batch.namespace, None).await?.fence;
                    pause(1).await;
                    if seen == batch.fence {
                        batch.fence = self.inner.get(&batch.thread, &batch.namespace, None).await?.fence;
                    }
                }
                Fault::IgnoresStatus => batch.status = None,
                Fault::ForgetsWakeUpTimes => {
                    batch.status = batch.status.map(|status| status.wakes_at(None));
                }
                Fault::WritesTheStatusFirst => {
                    let loaded = self.inner.get(&batch.thread, &batch.namespace, None).await?;
                    if let Some(origin) = loaded.origin {
                        let first = WriteBatch::new(batch.thread.clone(), origin, loaded.fence);
                        let first = first.namespace(batch.namespace.clone()).status(batch.status);
                        self.inner.commit(first).await?;
                    }
                }
                Fault::ReordersCommits => {
                    let slow = |write: &&BatchWrite| matches!(write, BatchWrite::Checkpoint(_));
                    pause(batch.writes.iter().filter(slow).count()).await
                }
                Fault::AcknowledgesTooEarly => {
                    let late = self.late.lock().unwrap().replace(batch);
                    return match late {
                        Some(late) => self.inner.commit(late).await,
                        None => Ok(()),
                    };
                }
                _ => {}
            }
            if self.fault == Fault::ComparesIdsAsSigned {
                let signed = |id: CheckpointId| i128::from_be_bytes(id.to_bytes());
                for write in &batch.writes {
                    if let BatchWrite::Checkpoint(new) = write
                        && batch.fence.head.is_some_and(|head| signed(head) >= signed(new.checkpoint.id))
                    {
                        return Err(CheckpointError::invalid(batch.thread, "order"));
                    }
                }
            }
            if matches!(self.fault, Fault::WritesOneByOne | Fault::StopsHalfway) && !batch.writes.is_empty() {
                return self.one_by_one(batch).await;
            }
            let result = self.inner.commit(batch).await;
            if let Err(CheckpointError::Invalid { .. } | CheckpointError::NotStorable { .. }) = &result {
                match self.fault {
                    Fault::AcknowledgesRefusedWrites => return Ok(()),
                    Fault::ClaimsTheEpochOfRefusedWrites => {
                        self.inner.commit(first.writes(Vec::new())).await?;
                        return result;
                    }
                    _ => {}
                }
            }
            let Err(CheckpointError::Conflict(conflict)) = &result else { return result };
            let (expected, found) = (conflict.expected, conflict.found);
            let again = match self.fault {
                Fault::LetsTheLastWriterWin => true,
                Fault::IgnoresEpochs => expected.head == found.head,
                Fault::IgnoresHeads => expected.epoch == found.epoch,
                Fault::SwallowsConflicts => return Ok(()),
                _ => false,
            };
            if again {
                let epoch = first.epoch.max(found.epoch);
                let mut second = first;
                second.fence = found;
                second.epoch = epoch;
                return self.inner.commit(second).await;
            }
            result
        })
    }

    fn get(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> CheckpointFuture<'_, Loaded> {
        let (thread, namespace) = (self.name(thread), self.name(namespace));
        Box::pin(async move {
            let mut asked = checkpoint;
            if self.fault == Fault::FindsSimilarIds {
                let near = |id: &CheckpointId| asked.is_none_or(|asked| *id <= asked);
                asked = self.ids(&thread, &namespace).await.into_iter().find(near);
            }
            let mut loaded = self.inner.get(&thread, &namespace, asked).await?;
            let ids = match self.fault {
                Fault::ForgetsOldFields
                | Fault::DropsChangesWithCheckpoints
                | Fault::ReadsTheWholeHistory => self.ids(&thread, &namespace).await,
                _ => Vec::new(),
            };
            let Some(found) = &mut loaded.found else { return Ok(loaded) };
            match self.fault {
                Fault::ReturnsTheFenceOfTheReadCheckpoint => loaded.fence.head = Some(found.checkpoint.id),
                Fault::OrdersRecordsByKey => found.records.sort_by(|a, b| a.key.key.cmp(&b.key.key)),
                Fault::ForgetsOldFields => {
                    let oldest = ids.get(100).copied();
                    found
                        .fields
                        .retain(|field| field.changes.iter().any(|change| Some(change.checkpoint) > oldest));
                }
                Fault::DropsChangesWithCheckpoints => {
                    for field in &mut found.fields {
                        field.changes.retain(|change| ids.contains(&change.checkpoint));
                    }
                }
                Fault::SkipsTheNewestDelta => {
                    for field in found.fields.iter_mut().filter(|field| field.changes.len() % 64 == 0) {
                        field.changes.pop();
                    }
                }
                Fault::DropsOpenInterrupts => {
                    for record in &mut found.records {
                        if record.key.kind == RecordKind::Failed {
                            record.key.kind = RecordKind::Interrupt;
                        }
                    }
                }
                Fault::DropsRetainedCheckpoints => {
                    let lost = |record: &RecordKey| {
                        record.task == RecordKey::NO_TASK && record.kind == RecordKind::Step
                    };
                    for record in found.records.iter_mut().filter(|record| lost(&record.key)) {
                        record.key.kind = RecordKind::Retained;
                    }
                }
                Fault::ReadsTheWholeHistory => {
                    let until = Instant::now() + Duration::from_micros(3) * ids.len() as u32;
                    while Instant::now() < until {}
                }
                _ => {}
            }
            Ok(loaded)
        })
    }

    fn list(&self, mut query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        query.thread = self.name(&query.thread);
        query.namespace = self.name(&query.namespace);
        Box::pin(async move {
            match self.fault {
                Fault::FindsAnyRequest => {
                    if let Some(key) = &query.request {
                        query.request = Some(key.trim().into());
                    }
                    self.inner.list(query).await
                }
                Fault::ForgetsRequestsOfCopies if query.request.is_some() && &*query.thread == "copy" => {
                    Ok(Page::new(Vec::new(), false))
                }
                Fault::ComparesLoosely => {
                    let metadata = std::mem::take(&mut query.metadata);
                    let mut page = self.inner.list(query).await?;
                    let loose = |value: &Value| value.as_f64().map_or(value.to_string(), |n| n.to_string());
                    page.items.retain(|item| {
                        let has = |(key, value): (&String, &Value)| {
                            item.run.metadata.get(key).map(loose).unwrap_or("null".into()) == loose(value)
                        };
                        metadata.iter().all(has)
                    });
                    Ok(page)
                }
                Fault::FiltersAfterTheLimit => {
                    let run = query.run.take();
                    let mut page = self.inner.list(query).await?;
                    page.items.retain(|item| run.as_ref().is_none_or(|run| *run == item.run.id));
                    Ok(page)
                }
                Fault::NeverReturnsMore => {
                    let mut page = self.inner.list(query).await?;
                    page.more = false;
                    Ok(page)
                }
                Fault::ListsNewestFirstOnly => {
                    query.oldest_first = false;
                    self.inner.list(query).await
                }
                Fault::RequiresAnExistingBefore => {
                    if let Some(before) = query.before
                        && !self.ids(&query.thread, &query.namespace).await.contains(&before)
                    {
                        query.before = None;
                    }
                    self.inner.list(query).await
                }
                _ => self.inner.list(query).await,
            }
        })
    }

    fn history(&self, mut query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        query.thread = self.name(&query.thread);
        query.namespace = self.name(&query.namespace);
        Box::pin(async move {
            let mut page = self.inner.history(query.clone()).await?;
            match self.fault {
                Fault::ReturnsIncompleteHistories => {
                    page.items.iter_mut().for_each(|entry| entry.base = None);
                }
                Fault::ReturnsQuadraticHistories => {
                    let more = page.more;
                    let stored = page.expand().into_iter();
                    let entry = |stored: StoredCheckpoint| {
                        HistoryEntry::new(stored.checkpoint, stored.fields, stored.records)
                    };
                    page = Page::new(stored.map(entry).collect(), more);
                }
                _ => {}
            }
            Ok(page)
        })
    }

    fn namespaces(&self, mut query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        query.thread = self.name(&query.thread);
        Box::pin(async move {
            let damaged = self.damaged_thread.lock().unwrap().clone();
            let damaged = damaged.filter(|thread| *thread == query.thread);
            let mut page = self.inner.namespaces(query).await?;
            if let Some(thread) = damaged {
                for item in &mut page.items {
                    let name = item.namespace.clone();
                    item.head =
                        Err(CorruptCheckpoint::new(thread.clone(), name, None, "the head", "it is damaged"));
                }
            }
            if self.fault == Fault::ForgetsHeadsOfNamespaces {
                for item in &mut page.items {
                    if let Ok(head) = &mut item.head {
                        head.parent = None;
                    }
                }
            }
            Ok(page)
        })
    }

    fn threads(&self, mut query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        Box::pin(async move {
            match self.fault {
                Fault::CountsEveryThreadAsUnfinished => query.unfinished = false,
                Fault::ListsThreadsOfAnyKind => query.status.clear(),
                Fault::ListsNewestThreadsByName => query.newest_first = false,
                Fault::IgnoresMetadataOfThreads => query.metadata.clear(),
                Fault::ListsDueThreadsByName => {
                    let mut page = self.inner.threads(query).await?;
                    page.items.sort_by(|a, b| a.thread.cmp(&b.thread));
                    return Ok(page);
                }
                Fault::ReadsEveryThread => {
                    let all = self.inner.threads(ThreadQuery::new()).await?.items.len();
                    let until = Instant::now() + Duration::from_micros(10) * all as u32;
                    while Instant::now() < until {}
                }
                Fault::TreatsPrefixesAsPatterns => {
                    if let Some(prefix) = &query.prefix {
                        query.prefix = prefix.split(['%', '_']).next().map(Into::into);
                    }
                }
                _ => {}
            }
            self.threads_with_damage(query).await
        })
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        let thread = self.name(thread);
        Box::pin(async move {
            match self.fault {
                Fault::DeletesAnyEpoch => self.inner.delete(&thread, None).await,
                Fault::DeletesNothing => Ok(self.inner.get(&thread, "", None).await?.origin.is_some()),
                _ => self.inner.delete(&thread, epoch).await,
            }
        })
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        let (from, to) = (self.name(from), self.name(to));
        Box::pin(async move {
            match self.fault {
                Fault::CopiesAnyEpoch => return self.inner.copy(&from, &to, None).await,
                Fault::CopiesByReference => {
                    self.aliases.lock().unwrap().insert(to.to_string(), from);
                    return Ok(());
                }
                Fault::CopiesOverOthers if from != to => {
                    self.inner.delete(&to, None).await?;
                }
                _ => {}
            }
            self.inner.copy(&from, &to, epoch).await
        })
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        Box::pin(async move {
            match self.fault {
                Fault::PrunesNothing => Ok(Pruned::default()),
                Fault::DropsOnOneCondition => {
                    let by_count = prune.clone().older_than(None);
                    let by_age = prune.keep_last(None);
                    let dropped = self.inner.prune(by_count).await?.checkpoints;
                    Ok(Pruned::new(dropped + self.inner.prune(by_age).await?.checkpoints))
                }
                _ => self.inner.prune(prune).await,
            }
        })
    }
}

impl Faulty {
    /// Lists threads. The damaged thread has an error as its head.
    async fn threads_with_damage(&self, query: ThreadQuery) -> Result<Page<ThreadRecord>, CheckpointError> {
        let Some(thread) = self.damaged_thread.lock().unwrap().clone() else {
            return self.inner.threads(query).await;
        };
        let corrupt = CorruptCheckpoint::new(thread.clone(), "", None, "the head", "it is damaged");
        if self.fault == Fault::FailsTheListForOneDamagedThread {
            return Err(CheckpointError::Corrupt(Box::new(corrupt)));
        }
        let mut page = self.inner.threads(query).await?;
        for record in page.items.iter_mut().filter(|record| record.thread == thread) {
            record.head = Err(corrupt.clone());
        }
        Ok(page)
    }

    /// Commits each write separately, and a checkpoint before its records.
    async fn one_by_one(&self, batch: WriteBatch) -> Result<(), CheckpointError> {
        let mut fence = batch.fence;
        let WriteBatch { thread, namespace, origin, epoch, writes, .. } = batch;
        for mut write in writes {
            let mut rest = Vec::new();
            let mut head = fence.head;
            if let BatchWrite::Checkpoint(new) = &mut write {
                rest = std::mem::take(&mut new.records);
                head = Some(new.checkpoint.id);
            }
            let one = |fence, write| {
                let (thread, namespace, origin) = (thread.clone(), namespace.clone(), origin.clone());
                WriteBatch::new(thread, origin, fence).namespace(namespace).epoch(epoch).writes(vec![write])
            };
            self.inner.commit(one(fence, write)).await?;
            fence = Fence::new(epoch, head);
            if self.fault == Fault::StopsHalfway {
                pause(1).await;
            }
            if let (Some(checkpoint), false) = (head, rest.is_empty()) {
                let records = BatchWrite::records(checkpoint, Vec::new(), rest);
                self.inner.commit(one(fence, records)).await?;
            }
        }
        Ok(())
    }
}
