use std::collections::BTreeSet;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::{
    BatchWrite, CheckpointId, CheckpointQuery, CheckpointSource, Fence, Loaded, RecordKind, StatusKind,
    StoredCheckpoint, StoredStatus, WriteBatch,
};
use crate::engine::{caught, planned_at};
use crate::error::Error;
use crate::options::clock;
use crate::state::GraphState;

use super::Thread;
use super::cut_calls::{Head, PAGE, cut_calls};
use super::erased::{ErasedThread, Expected};
use super::load::read;
use super::start_run::require_checkpoint;
use super::undo::{Undone, is_own, undo};

/// A roll back of a thread to one of its checkpoints. Made by [`Thread::roll_back_to`].
///
/// Awaiting it writes, and returns the id of the checkpoint that is then the head.
#[must_use = "a roll back does nothing until it is awaited"]
pub struct RollBack {
    thread: ErasedThread,
    to: Option<CheckpointId>,
    expected: Expected,
}

impl<S: GraphState, D: Send + Sync + 'static> Thread<S, D> {
    /// Removes all checkpoints after this one, which becomes the thread's head again. `None` removes all checkpoints.
    ///
    /// - All checkpoints that were made later are removed, on all branches, with the checkpoints of the subgraph calls that
    ///   they have made. The states that subgraphs keep are as they were, unless pruning has removed them.
    /// - Answers, updates and nodes that later resumptions have added to the checkpoint are taken back. Its questions are
    ///   open again, and tasks that had taken such an answer run again. Results of other finished tasks stay, and so do
    ///   the results of durable [steps](crate::Context::step).
    /// - A subgraph call of the checkpoint that had received an answer or an update since begins anew.
    /// - A run that is active meanwhile fails with [`Conflict`](crate::ErrorKind::Conflict).
    ///
    /// If there is nothing to remove or to take back, and no run is active, nothing is written. Rolling back cannot be
    /// undone: to keep the later checkpoints, branch with [`at`](Self::at), or [`copy`](Self::copy) the thread first.
    ///
    /// ```
    /// # use serde::{Deserialize, Serialize};
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use superstep::{Context, END, GraphState, Outcome, START, StateGraph, interrupt::Question};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Approve;
    /// # impl Question for Approve { type Answer = bool; }
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { #[state(input)] price: u32, bought: bool }
    /// # async fn buy(_: &Order, cx: &Context) -> OrderUpdate {
    /// #     Order::update().bought(cx.interrupt(Approve).await)
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Order>::new().edge(START, buy).edge(buy, END).compile()?;
    /// # let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("17");
    /// # thread.run(Order::input(300)).await?;
    /// let asked = thread.state().await?.expect("it waits").id;
    /// let question = thread.interrupts().await?.only::<Approve>()?;
    /// thread.resume(question.answer(true)).await?;
    ///
    /// // The approval is taken back, and asked again.
    /// assert_eq!(thread.roll_back_to(asked).await?, Some(asked));
    /// let question = thread.interrupts().await?.only::<Approve>()?;
    /// assert!(!thread.resume(question.answer(false)).await?.into_state().bought);
    ///
    /// thread.roll_back_to(None).await?;
    /// assert!(thread.state().await?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Awaiting it fails with:
    ///
    /// - [`NoCheckpoint`](crate::ErrorKind::NoCheckpoint) if the checkpoint does not exist.
    /// - [`Conflict`](crate::ErrorKind::Conflict) if the active run or another writer commits to the thread at the same time, or
    ///   the epoch is not the [expected](RollBack::if_epoch) one. The thread is not rolled back; the call can be repeated.
    /// - [`Checkpoint`](crate::ErrorKind::Checkpoint) if the checkpointer fails, or cannot read the newest checkpoint of a
    ///   subgraph call.
    ///
    /// # Cancel safety
    /// A dropped call has rolled back the whole thread, or has only stopped the active run.
    ///
    /// # Durability
    /// The roll back is durable when awaiting it returns.
    pub fn roll_back_to(&self, checkpoint: impl Into<Option<CheckpointId>>) -> RollBack {
        RollBack { thread: self.erased(), to: checkpoint.into(), expected: Expected::default() }
    }
}

impl RollBack {
    /// Rolls back only if the thread has this [epoch](super::Snapshot::epoch), and fails with
    /// [`Conflict`](crate::ErrorKind::Conflict) otherwise; as [for runs](crate::run::Run::if_epoch).
    pub fn if_epoch(mut self, epoch: u64) -> Self {
        self.expected.epoch = Some(epoch);
        self
    }
}

impl IntoFuture for RollBack {
    type Output = Result<Option<CheckpointId>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let graph = Arc::clone(&self.thread.graph.graph.0);
            caught(&graph.name, roll_back(self)).await
        })
    }
}

impl fmt::Debug for RollBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RollBack")
            .field("thread", &self.thread.name)
            .field("to", &self.to)
            .finish_non_exhaustive()
    }
}

async fn roll_back(RollBack { thread, to, expected }: RollBack) -> Result<Option<CheckpointId>, Error> {
    let mut loaded = read(&thread, to).await?;
    require_checkpoint(&thread, &loaded, to)?;
    expected.check(&thread, loaded.fence)?;
    let Some(origin) = loaded.origin.clone() else {
        // The thread does not exist.
        return Ok(to);
    };
    let may_run = matches!(loaded.status.kind, StatusKind::Running | StatusKind::Unknown);
    if may_run {
        // A run may be adding calls and records without changing the head. No run does after this commit.
        let fence = loaded.fence;
        let claim = WriteBatch::new(Arc::clone(&thread.name), Arc::clone(&origin), fence);
        commit(&thread, claim.epoch(fence.epoch.saturating_add(1))).await?;
        loaded = read(&thread, to).await?;
        require_checkpoint(&thread, &loaded, to)?;
    }
    let (fence, head) = (loaded.fence, if to.is_some() { loaded.found.take() } else { None });
    let Plan { undone, cuts } = plan(&thread, &loaded, head.as_ref()).await?;
    if fence.head == to && undone.is_nothing() && cuts.is_empty() && !may_run {
        return Ok(to);
    }
    let status = match head {
        Some(head) => undone.status(&thread, head),
        None => StoredStatus::new(StatusKind::Finished),
    };
    let mut writes = Vec::new();
    if fence.head != to {
        writes.push(BatchWrite::roll_back("", to));
    }
    writes.extend(cuts.into_iter().map(|(namespace, to)| BatchWrite::roll_back(namespace, to)));
    if let Some(to) = to.filter(|_| !undone.is_nothing()) {
        writes.push(BatchWrite::records(to, undone.remove, undone.put));
    }
    // To the millisecond, as stores keep it.
    let status = status.changed_at(clock::from_millis(clock::to_millis(SystemTime::now())));
    let batch = WriteBatch::new(Arc::clone(&thread.name), origin, fence);
    commit(&thread, batch.epoch(fence.epoch.saturating_add(1)).status(status).writes(writes)).await?;
    Ok(to)
}

async fn commit(thread: &ErasedThread, batch: WriteBatch) -> Result<(), Error> {
    thread.graph.store.commit(batch).await.map_err(|error| thread.graph.error(error))
}

/// The changes of a roll back below the root of the thread, and at its new head.
struct Plan {
    undone: Undone,
    /// The subgraph namespaces that lose checkpoints, with the newest that remains.
    cuts: Vec<(Arc<str>, Option<CheckpointId>)>,
}

async fn plan(
    thread: &ErasedThread,
    loaded: &Loaded,
    head: Option<&StoredCheckpoint>,
) -> Result<Plan, Error> {
    let refuse = |kind| thread.graph.refuse(kind);
    let Some(head) = head else {
        let cuts = cut_calls(thread, None, &mut BTreeSet::new()).await?;
        return Ok(Plan { undone: Undone::default(), cuts });
    };
    let planned_at = planned_at(&thread.name, &head.checkpoint).map_err(refuse)?;
    let mut anew = answered_later(thread, loaded.fence, head, planned_at).await?;
    loop {
        let undone = undo(&thread.name, head, planned_at, &mut anew).map_err(refuse)?;
        let count = anew.len();
        let at = Head { id: head.checkpoint.id, planned_at };
        let cuts = cut_calls(thread, Some(at), &mut anew).await?;
        // A later call of another task in the same namespace begins anew as well.
        if anew.len() == count {
            return Ok(Plan { undone, cuts });
        }
    }
}

/// Returns the tasks whose subgraph calls received answers at later checkpoints that kept the tasks of `head`.
async fn answered_later(
    thread: &ErasedThread,
    fence: Fence,
    head: &StoredCheckpoint,
    planned_at: CheckpointId,
) -> Result<BTreeSet<usize>, Error> {
    let mut anew = BTreeSet::new();
    if head.checkpoint.next.is_empty() || fence.head == Some(head.checkpoint.id) {
        return Ok(anew);
    }
    let store = &thread.graph.store;
    let mut query =
        CheckpointQuery::new(Arc::clone(&thread.name)).after(head.checkpoint.id).oldest_first(true);
    query.source = Some(CheckpointSource::Update);
    query.limit = Some(PAGE);
    loop {
        let page = store.list(query.clone()).await.map_err(|error| thread.graph.error(error))?;
        for later in &page.items {
            let kept = self::planned_at(&thread.name, later).map_err(|kind| thread.graph.refuse(kind))?;
            if kept != planned_at {
                continue;
            }
            let loaded = store.get(&thread.name, "", Some(later.id)).await;
            let found = loaded.map_err(|error| thread.graph.error(error))?.found;
            let records = found.iter().flat_map(|found| &found.records);
            let answers = records.filter(|record| record.key.kind == RecordKind::Answer);
            let of_calls = answers.filter(|record| !is_own(&record.key, planned_at));
            anew.extend(of_calls.filter_map(|record| usize::try_from(record.key.task).ok()));
        }
        match page.items.last() {
            Some(last) if page.more => query.after = Some(last.id),
            _ => return Ok(anew),
        }
    }
}
