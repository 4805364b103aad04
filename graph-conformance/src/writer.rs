use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use superstep_store::Metadata;
use superstep_store::checkpoint::{
    BatchWrite, Checkpoint, CheckpointError, CheckpointId, CheckpointSource, Checkpointer, Fence,
    NewCheckpoint, RecordKey, RunRecord, StoredCheckpoint, TaskRecord, WriteBatch,
};

use crate::Broken;
use crate::case::Here;
use crate::expect::{Expect, same};
use crate::notation::{line, pieces};

/// Somebody who writes to a namespace of a thread, and knows where it stands, as a run does.
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
    /// Of a thread that is not there yet.
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

    /// The same one at a namespace in which nothing is yet.
    pub(crate) fn within(&self, namespace: &str) -> Self {
        let fence = Fence { head: None, ..self.fence };
        Self { namespace: namespace.into(), fence, ..self.clone() }
    }

    /// The next checkpoint, behind the head, which it follows.
    pub(crate) fn draft(&self, writes: &str) -> NewCheckpoint {
        let checkpoint = Checkpoint {
            id: CheckpointId::after(self.fence.head),
            parent: self.fence.head,
            step: self.step,
            source: if self.step < 0 { CheckpointSource::Input } else { CheckpointSource::Loop },
            run: self.run.clone(),
            created_at: time(self.step),
            next: self.next.clone(),
            progress: None,
        };
        NewCheckpoint { checkpoint, changes: pieces(writes), records: Vec::new() }
    }

    pub(crate) fn batch(&self, writes: Vec<BatchWrite>) -> WriteBatch {
        WriteBatch {
            thread: self.thread.clone(),
            namespace: self.namespace.clone(),
            origin: self.origin.clone(),
            fence: self.fence,
            epoch: self.fence.epoch,
            writes,
        }
    }

    /// Commits a batch of its own, and knows from then on where things stand.
    pub(crate) async fn commit(&mut self, batch: WriteBatch) -> Result<(), CheckpointError> {
        let epoch = batch.epoch;
        let added = batch.writes.iter().rev().find_map(|write| match write {
            BatchWrite::Checkpoint(new) => Some(&new.checkpoint),
            BatchWrite::Records { .. } => None,
        });
        let added = added.map(|checkpoint| (checkpoint.id, checkpoint.step));
        self.store.commit(batch).await?;
        self.fence.epoch = epoch;
        if let Some((id, step)) = added {
            self.fence.head = Some(id);
            self.step = step.saturating_add(1);
        }
        Ok(())
    }

    /// Adds a checkpoint behind the head.
    pub(crate) async fn add(&mut self, writes: &str) -> Result<CheckpointId, Broken> {
        self.add_as(self.draft(writes)).await
    }

    /// Adds a checkpoint that follows another one than the head.
    pub(crate) async fn fork(
        &mut self,
        parent: Option<CheckpointId>,
        writes: &str,
    ) -> Result<CheckpointId, Broken> {
        let mut new = self.draft(writes);
        new.checkpoint.parent = parent;
        new.checkpoint.source = CheckpointSource::Fork;
        self.add_as(new).await
    }

    pub(crate) async fn add_as(&mut self, new: NewCheckpoint) -> Result<CheckpointId, Broken> {
        let id = new.checkpoint.id;
        self.commit(self.batch(vec![adds(new)])).await.works("a checkpoint can be added behind the head")?;
        Ok(id)
    }

    /// Changes what is known of the tasks of a checkpoint.
    pub(crate) async fn tell(
        &mut self,
        checkpoint: CheckpointId,
        remove: Vec<RecordKey>,
        put: Vec<TaskRecord>,
    ) -> Result<(), Broken> {
        let batch = self.batch(vec![BatchWrite::Records { checkpoint, remove, put }]);
        self.commit(batch).await.works("records of a checkpoint that is there can be changed")
    }

    /// Raises the epoch, as a run that begins.
    pub(crate) async fn raise(&mut self) -> Result<(), Broken> {
        let epoch = self.fence.epoch + 1;
        let batch = WriteBatch { epoch, ..self.batch(Vec::new()) };
        self.commit(batch).await.works("a batch without writes raises the epoch")
    }

    /// A checkpoint that must be there.
    pub(crate) async fn read(&self, id: CheckpointId) -> Result<StoredCheckpoint, Broken> {
        let loaded = self.store.get(&self.thread, &self.namespace, Some(id)).await;
        let found = loaded.works("a checkpoint that is there can be read")?.found;
        found.ok_or_else(|| Broken::new("what was committed is there", format!("checkpoint {id}"), "nothing"))
    }

    /// That a checkpoint has these pieces.
    pub(crate) async fn reads(&self, id: CheckpointId, writes: &str, promise: &str) -> Result<(), Broken> {
        same(promise, writes.to_owned(), line(&self.read(id).await?))
    }

    /// Closes the store and opens it again.
    pub(crate) async fn reopen(self, here: Here<'_>) -> Result<Self, Broken> {
        let Self { store, thread, namespace, origin, fence, run, next, step } = self;
        drop(store);
        Ok(Self { store: here.open().await?, thread, namespace, origin, fence, run, next, step })
    }

    /// That nothing has moved since.
    pub(crate) async fn stands(&self, promise: &str) -> Result<(), Broken> {
        let loaded = self.store.get(&self.thread, &self.namespace, None).await;
        same(promise, self.fence, loaded.works("a namespace can be read")?.fence)
    }
}

pub(crate) fn adds(new: NewCheckpoint) -> BatchWrite {
    BatchWrite::Checkpoint(Box::new(new))
}

pub(crate) fn run(id: &str, metadata: Metadata) -> Arc<RunRecord> {
    Arc::new(RunRecord { id: id.into(), program: "{\"graph\":\"ticket\"}".into(), metadata })
}

/// When a checkpoint of this step was made: a minute after the one before it, and some milliseconds.
pub(crate) fn time(step: i64) -> SystemTime {
    let minutes = u64::try_from(step.clamp(-1, 1_000_000) + 1).unwrap_or_default();
    UNIX_EPOCH + Duration::from_millis(1_700_000_000_123 + minutes * 60_000)
}
