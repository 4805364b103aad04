use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::{CheckpointId, Fence};
use crate::interrupt::OpenInterrupt;
use crate::options::Metadata;
use crate::run::{NeedsContext, Run};
use crate::state::GraphState;

use super::run::{IntoAnswers, OnThread, Resuming};
use super::status::ReadStatus;
use super::{Thread, ThreadStatus};

/// A thread in a list; see [`PersistentGraph::list`](super::PersistentGraph::list).
#[derive(Debug)]
#[non_exhaustive]
pub struct ListedThread<S: GraphState, D = ()> {
    /// The thread. To continue it, use [`resume`](Self::resume) of the list's entry.
    pub thread: Thread<S, D>,
    /// The thread's head; `None` if the store cannot read it.
    pub checkpoint: Option<CheckpointId>,
    /// The run that made the head; `None` if the store cannot read it.
    pub run_id: Option<Arc<str>>,
    /// The nodes of the planned tasks, one name for each task. Some of them may have finished. Empty if the store cannot
    /// read the head.
    pub next: Vec<Arc<str>>,
    /// The status of the thread, with the things that it waits for.
    pub status: ThreadStatus,
    /// The earliest time at which a sleeping task wakes or a retry is due.
    pub wakes_at: Option<SystemTime>,
    /// The time of the last change of the status; `None` if an older version of this crate has written it.
    pub changed_at: Option<SystemTime>,
    /// The metadata of the run, resumption or update that made the head. Empty if the store cannot read the head.
    pub metadata: Metadata,
    pub(super) open_interrupts: Vec<OpenInterrupt>,
    /// The epoch and head of the thread when it was listed.
    pub(super) seen: Option<Fence>,
}

impl<S: GraphState, D: Send + Sync + 'static> ListedThread<S, D> {
    pub(super) fn new(thread: Thread<S, D>, read: ReadStatus) -> Self {
        let ReadStatus {
            checkpoint,
            run_id,
            next,
            status,
            wakes_at,
            changed_at,
            metadata,
            open_interrupts,
            seen,
        } = read;
        Self {
            thread,
            checkpoint,
            run_id,
            next,
            status,
            wakes_at,
            changed_at,
            metadata,
            open_interrupts,
            seen,
        }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> ListedThread<S, D> {
    /// Creates a run that continues the thread, if the thread has not changed since it was listed.
    ///
    /// Otherwise it is like [`Thread::resume`]. A worker that works through a list must not take over a run that has begun
    /// since: a person may have answered a question, for example.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use superstep::{Context, END, ErrorKind, GraphState, START, StateGraph};
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { reminded: bool }
    /// # async fn remind(_: &Order, cx: &Context) -> OrderUpdate {
    /// #     cx.sleep(Duration::from_millis(5)).await;
    /// #     Order::update().reminded(true)
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Order>::new().edge(START, remind).edge(remind, END).compile()?;
    /// # let graph = graph.with_checkpointer(MemoryCheckpointer::new());
    /// # let thread = graph.thread("17");
    /// # let outcome = thread.run(Order::input()).suspend_sleeps_longer_than(Duration::ZERO).await?;
    /// # let wakes_at = outcome.pause().and_then(|pause| pause.wakes_at()).expect("it sleeps");
    /// for due in graph.due(wakes_at).await? {
    ///     # thread.resume(()).await?;
    ///     match due.resume(()).await {
    ///         // Another run was faster, and continues the thread.
    ///         Err(error) if matches!(error.kind(), ErrorKind::Conflict(_)) => {}
    ///         # Ok(_) => panic!("the thread has changed"),
    ///         resumed => drop(resumed?),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The resumption has the [`metadata`](Self::metadata) of the entry, so that the thread stays in lists that select by it.
    /// [`Run::metadata`] replaces or adds a key.
    ///
    /// # Errors
    /// As [`Thread::resume`], and [`Conflict`](crate::ErrorKind::Conflict) if another run or update has written a checkpoint
    /// or has begun since the thread was listed. The other run is not disturbed then.
    ///
    /// # Cancel safety
    /// As [`Thread::resume`].
    ///
    /// # Durability
    /// As [`Thread::resume`].
    pub fn resume(&self, answers: impl IntoAnswers) -> Run<S, D, NeedsContext, OnThread<S, Resuming<S>>> {
        let run = self.thread.run_from(None, Resuming::new(answers.into_answers()));
        run.set(|plan| {
            plan.target.expected.fence = self.seen;
            plan.settings.metadata.clone_from(&self.metadata);
        })
    }
}

impl<S: GraphState, D> ListedThread<S, D> {
    /// Returns the open interrupts of the thread, whatever its status.
    ///
    /// They are those of [`ThreadStatus::WaitingForAnswer`]. A failed thread has them too, if other tasks of the superstep
    /// have asked. Empty if this program cannot read the thread.
    pub fn interrupts(&self) -> &[OpenInterrupt] {
        &self.open_interrupts
    }
}
