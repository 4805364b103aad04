use std::sync::Arc;

use crate::checkpoint::CheckpointId;
use crate::error::Error;
use crate::graph::Picture;
use crate::interrupt::Pause;
use crate::run::{NeedsContext, Run};
use crate::state::{GraphState, IntoInput, IntoUpdate};

use super::load::{load, pending};
use super::open_task;
use super::run::{IntoAnswers, OnThread, Resuming, WithInput};
use super::{At, History, IntoAsNode, PersistentGraph, Snapshot, UpdateThread};

/// A thread: one conversation, ticket or order, with everything that has happened on it. Cheap to clone.
///
/// ```
/// use superstep::checkpoint::MemoryCheckpointer;
/// use superstep::{END, GraphState, START, StateGraph};
///
/// #[derive(GraphState, Clone)]
/// struct Chat {
///     #[state(input, reducer = append)]
///     lines: Vec<String>,
/// }
///
/// async fn echo(chat: &Chat) -> ChatUpdate {
///     Chat::update().lines([format!("you said {:?}", chat.lines.last())])
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// let graph = StateGraph::<Chat>::new().edge(START, echo).edge(echo, END).compile()?;
/// let graph = graph.with_checkpointer(MemoryCheckpointer::default());
///
/// let thread = graph.thread("ann");
/// thread.run(Chat::input().lines(["hello".to_owned()])).await?;
/// let chat = thread.run(Chat::input().lines(["bye".to_owned()])).await?.into_state();
/// assert_eq!(chat.lines.len(), 4);
///
/// let steps: Vec<i64> = thread.history().await?.iter().map(|snapshot| snapshot.step).collect();
/// assert_eq!(steps, [4, 3, 2, 1, 0, -1]);
/// # Ok(())
/// # }
/// ```
pub struct Thread<S: GraphState, D = ()> {
    pub(super) graph: PersistentGraph<S, D>,
    pub(super) name: Arc<str>,
}

impl<S: GraphState, D> Clone for Thread<S, D> {
    fn clone(&self) -> Self {
        Self { graph: self.graph.clone(), name: Arc::clone(&self.name) }
    }
}

impl<S: GraphState, D> std::fmt::Debug for Thread<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Thread").field("name", &self.name).field("graph", &self.graph).finish()
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Thread<S, D> {
    /// The thread's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A run with new input; awaiting it runs it. Options are set before.
    ///
    /// On a thread that has been run before, the input goes on from the state that is there: its fields are written
    /// through their reducers.
    ///
    /// # Errors
    /// Everything that a run can fail with; [`Pending`](crate::ErrorKind::PendingTasks) when something is left to run on the
    /// thread, and [`Conflict`](crate::ErrorKind::Conflict) when somebody else writes to it meanwhile.
    ///
    /// # Durability
    /// When it has returned, everything that it says is durable; see [`Durability`](crate::Durability) for the meantime.
    pub fn run(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext, OnThread<S, D, WithInput<S>>> {
        self.run_from(None, WithInput::new(input.into_input()))
    }

    /// Goes on where the thread is: with answers to open questions, after a failure or a crash (`()`), past a breakpoint.
    ///
    /// What has finished of the superstep is not run again.
    ///
    /// # Errors
    /// Everything that a run can fail with; [`NoThread`](crate::ErrorKind::NoThread) where nothing has been run yet, and
    /// [`NotOpen`](crate::ErrorKind::InterruptNotOpen) for an answer to a question that is not open.
    pub fn resume(&self, answers: impl IntoAnswers) -> Run<S, D, NeedsContext, OnThread<S, D, Resuming<S>>> {
        self.run_from(None, Resuming::new(answers.into_answers()))
    }

    pub(super) fn run_from<K>(
        &self,
        at: Option<CheckpointId>,
        how: K,
    ) -> Run<S, D, NeedsContext, OnThread<S, D, K>> {
        Run::of(self.graph.0.graph.clone(), OnThread::new(self.clone(), at, how))
    }

    /// A picture of the graph with where the thread is: see [`Picture::at`]. It reaches into the calls of subgraphs that are
    /// stored on the thread; of several calls of one node the marks are put together.
    ///
    /// # Errors
    /// As [`state`](Self::state).
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn picture(&self) -> Result<Picture<S, D>, Error> {
        let picture = self.graph.graph().picture();
        let Some(snapshot) = self.state().await? else { return Ok(picture) };
        let inside = open_task::within(&*self.graph.0.store, self.graph.graph(), &snapshot).await?;
        Ok(picture.at(&snapshot).inside(&inside))
    }

    /// The thread as it is; `None` before its first run.
    ///
    /// # Errors
    /// [`Store`](crate::ErrorKind::Checkpoint) and [`Migration`](crate::ErrorKind::Migration), for what cannot be read.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn state(&self) -> Result<Option<Snapshot<S>>, Error> {
        load(self, None).await
    }

    /// What the thread waits for: open questions, and the breakpoints that it has stopped at.
    ///
    /// ```
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use superstep::{Context, END, GraphState, Outcome, START, StateGraph, interrupt::Question};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Approve { price: u32 }
    /// # impl Question for Approve { type Answer = bool; }
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { #[state(input)] price: u32, bought: bool }
    /// async fn buy(order: &Order, cx: &Context) -> OrderUpdate {
    ///     Order::update().bought(cx.interrupt(Approve { price: order.price }).await)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Order>::new().edge(START, buy).edge(buy, END).compile()?;
    /// # let graph = graph.with_checkpointer(MemoryCheckpointer::default());
    /// let thread = graph.thread("17");
    /// assert!(matches!(thread.run(Order::input(300)).await?, Outcome::Interrupted(_)));
    ///
    /// // Days later, perhaps in another process:
    /// let question = thread.interrupts().await?.only::<Approve>()?;
    /// assert_eq!(question.price, 300);
    /// assert!(thread.resume(question.answer(true)).await?.into_state().bought);
    ///
    /// // A second click answers nothing.
    /// assert!(thread.resume(question.answer(true)).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`state`](Self::state).
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn interrupts(&self) -> Result<Pause<()>, Error> {
        pending(self).await
    }

    /// The thread's checkpoints, newest first.
    pub fn history(&self) -> History<S, D> {
        History::new(self.clone())
    }

    /// The thread at one of its checkpoints.
    pub fn at(&self, checkpoint: CheckpointId) -> At<S, D> {
        At { thread: self.clone(), checkpoint }
    }

    /// Writes to the thread as if a node had: through reducers and rules; what follows that node is planned then.
    ///
    /// Without a place (`None`) it is made in that of the node that ran last, if there is just one; on a thread that has not
    /// been run yet, in that of START.
    ///
    /// A thread can begin with an update. It has to give every required field then (an input without a default, which is no
    /// `Option` and has no reducer); the others hold their defaults. Its checkpoint is step 0.
    ///
    /// # Errors
    /// Awaiting it fails with what a node's write can be refused with; [`MissingFields`](crate::ErrorKind::MissingFields) names
    /// the fields that are missing of a first state, [`AsWhom`](crate::ErrorKind::AmbiguousNode) and
    /// [`NotAsNode`](crate::ErrorKind::InvalidAsNode) what is wrong with the place, and
    /// [`Conflict`](crate::ErrorKind::Conflict) says that somebody else has written to the thread meanwhile.
    pub fn update(
        &self,
        update: impl IntoUpdate<S>,
        place: impl IntoAsNode,
    ) -> UpdateThread<S, D, NeedsContext> {
        UpdateThread::new(self.clone(), None, vec![vec![(update.into_update(), place.into_place())]])
    }

    /// The same for several updates: each inner list is one superstep.
    pub fn bulk_update<U: IntoUpdate<S>, P: IntoAsNode>(
        &self,
        supersteps: impl IntoIterator<Item = impl IntoIterator<Item = (U, P)>>,
    ) -> UpdateThread<S, D, NeedsContext> {
        UpdateThread::bulk(self.clone(), None, supersteps)
    }

    /// Copies the thread, with all its checkpoints, under a new name.
    ///
    /// # Errors
    /// [`Store`](crate::ErrorKind::Checkpoint): there is no such thread, or one of that name is there already.
    ///
    /// # Cancel safety
    /// A dropped call has copied all or nothing.
    pub async fn copy(&self, name: impl AsRef<str>) -> Result<Self, Error> {
        let name: Arc<str> = name.as_ref().into();
        let copied = self.graph.0.store.copy(&self.name, &name).await;
        copied.map_err(|error| self.graph.error(error))?;
        Ok(Self { graph: self.graph.clone(), name })
    }

    /// Deletes the thread with everything in it; `false` if there was nothing.
    ///
    /// # Errors
    /// [`Store`](crate::ErrorKind::Checkpoint).
    ///
    /// # Cancel safety
    /// A dropped call has deleted all or nothing.
    pub async fn delete(&self) -> Result<bool, Error> {
        self.graph.0.store.delete(&self.name).await.map_err(|error| self.graph.error(error))
    }
}
