use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use superstep_store::Metadata;
use superstep_store::checkpoint::{
    BatchWrite, Checkpoint, CheckpointError, CheckpointId, CheckpointSource, Checkpointer, Fence,
    NewCheckpoint, RecordKey, RunRecord, StoredCheckpoint, TaskRecord, WriteBatch,
};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, same};
use crate::shorthand::{format_fields, parse_changes};

/// A writer to a namespace of a thread, which tracks the fence as a run does.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) store: Arc<dyn Checkpointer>,
    pub(crate) thread: Arc<str>,
    pub(crate) namespace: Arc<str>,
    pub(crate) origin: Arc<str>,
    pub(crate) fence: Fence,
    pub(crate) run: Arc<RunRecord>,
    pub(crate) next: Vec<Arc<str>>,
    pub(crate) step: i64,
}

impl Writer {
    /// Creates a writer for a new thread.
    pub(crate) fn new(store: &Arc<dyn Checkpointer>, thread: &str) -> Self {
        Self {
            store: store.clone(),
            thread: thread.into(),
            namespace: "".into(),
            origin: format!("origin of {thread}").into(),
            fence: Fence::default(),
            run: run("run", Metadata::new()),
            next: vec!["next".into()],
            step: -1,
        }
    }

    /// Returns a writer for an empty namespace of the same thread.
    pub(crate) fn in_namespace(&self, namespace: &str) -> Self {
        let fence = {
            let mut changed = self.fence;
            changed.head = None;
            changed
        };
        Self { namespace: namespace.into(), fence, ..self.clone() }
    }

    /// Returns a checkpoint that follows the head.
    pub(crate) fn draft(&self, writes: &str) -> NewCheckpoint {
        let checkpoint = Checkpoint::new(
            CheckpointId::after(self.fence.head),
            self.step,
            if self.step < 0 { CheckpointSource::Input } else { CheckpointSource::Loop },
            self.run.clone(),
            time(self.step),
        )
        .parent(self.fence.head)
        .next(self.next.clone());
        NewCheckpoint::new(checkpoint).changes(parse_changes(writes))
    }

    pub(crate) fn batch(&self, writes: Vec<BatchWrite>) -> WriteBatch {
        WriteBatch::new(self.thread.clone(), self.origin.clone(), self.fence)
            .namespace(self.namespace.clone())
            .epoch(self.fence.epoch)
            .writes(writes)
    }

    /// Commits a batch and updates the fence.
    pub(crate) async fn commit(&mut self, batch: WriteBatch) -> Result<(), CheckpointError> {
        let epoch = batch.epoch;
        let head = batch.writes.iter().rev().find_map(|write| match write {
            BatchWrite::Checkpoint(new) => Some((Some(new.checkpoint.id), new.checkpoint.step)),
            BatchWrite::RollBack { namespace, to, .. } if *namespace == batch.namespace => {
                Some((*to, self.step - 1))
            }
            BatchWrite::Records { .. } | BatchWrite::RollBack { .. } => None,
        });
        self.store.commit(batch).await?;
        self.fence.epoch = epoch;
        if let Some((head, step)) = head {
            self.fence.head = head;
            self.step = step.saturating_add(1);
        }
        Ok(())
    }

    /// Rolls the namespace of the writer back.
    pub(crate) async fn roll_back(&mut self, to: Option<CheckpointId>) -> Result<(), Broken> {
        let batch = self.batch(vec![BatchWrite::roll_back(self.namespace.clone(), to)]);
        self.commit(batch).await.works("a namespace can be rolled back")
    }

    /// Adds a checkpoint that follows the head.
    pub(crate) async fn add(&mut self, writes: &str) -> Result<CheckpointId, Broken> {
        self.add_draft(self.draft(writes)).await
    }

    /// Adds a checkpoint with another parent than the head.
    pub(crate) async fn fork(
        &mut self,
        parent: Option<CheckpointId>,
        writes: &str,
    ) -> Result<CheckpointId, Broken> {
        let mut new = self.draft(writes);
        new.checkpoint.parent = parent;
        new.checkpoint.source = CheckpointSource::Fork;
        self.add_draft(new).await
    }

    pub(crate) async fn add_draft(&mut self, new: NewCheckpoint) -> Result<CheckpointId, Broken> {
        let id = new.checkpoint.id;
        self.commit(self.batch(vec![checkpoint_write(new)])).await.works("a checkpoint can be added")?;
        Ok(id)
    }

    /// Changes the records of a checkpoint.
    pub(crate) async fn write_records(
        &mut self,
        checkpoint: CheckpointId,
        remove: Vec<RecordKey>,
        put: Vec<TaskRecord>,
    ) -> Result<(), Broken> {
        let batch = self.batch(vec![BatchWrite::records(checkpoint, remove, put)]);
        self.commit(batch).await.works("records of an existing checkpoint can be changed")
    }

    /// Raises the epoch, as a new run does.
    pub(crate) async fn raise_epoch(&mut self) -> Result<(), Broken> {
        let epoch = self.fence.epoch + 1;
        let batch = self.batch(Vec::new()).epoch(epoch);
        self.commit(batch).await.works("a batch without writes raises the epoch")
    }

    /// Reads a checkpoint that must exist.
    pub(crate) async fn read(&self, id: CheckpointId) -> Result<StoredCheckpoint, Broken> {
        let loaded = self.store.get(&self.thread, &self.namespace, Some(id)).await;
        let found = loaded.works("an existing checkpoint can be read")?.found;
        found.ok_or_else(|| {
            Broken::new("a committed checkpoint is found", format!("checkpoint {id}"), "nothing")
        })
    }

    /// Checks the fields of a checkpoint.
    pub(crate) async fn expect_fields(
        &self,
        id: CheckpointId,
        writes: &str,
        promise: &str,
    ) -> Result<(), Broken> {
        same(promise, writes.to_owned(), format_fields(&self.read(id).await?))
    }

    /// Closes the store and opens it again.
    pub(crate) async fn reopen(self, target: Target<'_>) -> Result<Self, Broken> {
        let Self { store, thread, namespace, origin, fence, run, next, step } = self;
        drop(store);
        Ok(Self { store: target.open().await?, thread, namespace, origin, fence, run, next, step })
    }

    /// Checks that the store has the fence of this writer.
    pub(crate) async fn expect_fence(&self, promise: &str) -> Result<(), Broken> {
        let loaded = self.store.get(&self.thread, &self.namespace, None).await;
        same(promise, self.fence, loaded.works("a namespace can be read")?.fence)
    }
}

pub(crate) fn checkpoint_write(new: NewCheckpoint) -> BatchWrite {
    BatchWrite::Checkpoint(Box::new(new))
}

pub(crate) fn run(id: &str, metadata: Metadata) -> Arc<RunRecord> {
    Arc::new(RunRecord::new(id, "{\"graph\":\"ticket\"}").metadata(metadata))
}

/// Returns the creation time of a checkpoint with this step: one minute after the previous step.
pub(crate) fn time(step: i64) -> SystemTime {
    let minutes = u64::try_from(step.clamp(-1, 1_000_000) + 1).unwrap_or_default();
    UNIX_EPOCH + Duration::from_millis(1_700_000_000_123 + minutes * 60_000)
}
