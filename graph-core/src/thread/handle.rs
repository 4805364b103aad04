use std::sync::Arc;

use crate::checkpoint::CheckpointId;
use crate::engine::caught;
use crate::error::Error;
use crate::graph::{Graph, Picture};
use crate::interrupt::Pause;
use crate::run::{NeedsContext, Run};
use crate::state::{GraphState, IntoInput, IntoUpdate};

use super::erased::{ErasedThread, Persistent};
use super::load::{load, load_raw, open_interrupts};
use super::run::{IntoAnswers, OnThread, Resuming, WithInput};
use super::{IntoAsNode, Snapshot, UpdateThread, picture};

/// A named, persistent execution of a graph: one conversation, ticket or order, with its history.
///
/// Made by [`PersistentGraph::thread`](super::PersistentGraph::thread). A thread comes into being with its first run or
/// update. Cloning is cheap.
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
    pub(crate) graph: Graph<S, D>,
    pub(crate) persistent: Arc<Persistent>,
    pub(crate) name: Arc<str>,
}

impl<S: GraphState, D> Clone for Thread<S, D> {
    fn clone(&self) -> Self {
        let (persistent, name) = (Arc::clone(&self.persistent), Arc::clone(&self.name));
        Self { graph: self.graph.clone(), persistent, name }
    }
}

impl<S: GraphState, D> std::fmt::Debug for Thread<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Thread").field("name", &self.name).field("graph", &self.graph).finish()
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Thread<S, D> {
    /// Returns the thread's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates a run with new input. Set its options, then await it.
    ///
    /// If the thread already has a state, the run continues from it. The input's fields are written through their reducers.
    ///
    /// # Errors
    /// Awaiting the run fails with the errors of its nodes and its supersteps, and with:
    ///
    /// - [`PendingTasks`](crate::ErrorKind::PendingTasks) if the thread has pending tasks.
    /// - [`Conflict`](crate::ErrorKind::Conflict) if another writer commits to the thread during the run.
    /// - [`Checkpoint`](crate::ErrorKind::Checkpoint) if the checkpointer fails.
    ///
    /// # Cancel safety
    /// Dropping the run leaves the thread at its last stored checkpoint, as a crash does. Finished tasks that were already
    /// handed to the checkpointer are kept. [`resume`](Self::resume) continues.
    ///
    /// # Durability
    /// The outcome of the run, its error and each of its checkpoint events are durable when they are returned. The
    /// [`Durability`](crate::Durability) mode determines which supersteps a crash can lose before that.
    pub fn run(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext, OnThread<S, WithInput<S>>> {
        self.run_from(None, WithInput::new(input.into_input()))
    }

    /// Creates a run that continues the thread from its head.
    ///
    /// Pass the answers to open questions, or `()` to continue after a failure, a crash or a breakpoint. Tasks of the
    /// superstep that have finished do not run again. If nothing is left to run, the run returns the stored state.
    ///
    /// # Errors
    /// Awaiting the run fails with the errors of its nodes and its supersteps, and with:
    ///
    /// - [`NoThread`](crate::ErrorKind::NoThread) if the thread has no checkpoint.
    /// - [`InterruptNotOpen`](crate::ErrorKind::InterruptNotOpen) if an answer names a question that is not open or has
    ///   changed.
    /// - [`InvalidAnswer`](crate::ErrorKind::InvalidAnswer) if the JSON of an answer does not fit the question's
    ///   [`answer_schema`](crate::interrupt::OpenInterrupt::answer_schema), or an answer cannot be stored. No answer of
    ///   the call is stored then.
    /// - [`Migration`](crate::ErrorKind::Migration) if another version of the program has written the checkpoint, and this
    ///   one cannot read it.
    /// - [`Conflict`](crate::ErrorKind::Conflict) if another writer commits to the thread during the run.
    /// - [`Checkpoint`](crate::ErrorKind::Checkpoint) if the checkpointer fails.
    ///
    /// # Cancel safety
    /// As [`run`](Self::run). The answers are stored in the first write of the run. If they were not written, the questions
    /// stay open.
    ///
    /// # Durability
    /// As [`run`](Self::run).
    pub fn resume(&self, answers: impl IntoAnswers) -> Run<S, D, NeedsContext, OnThread<S, Resuming<S>>> {
        self.run_from(None, Resuming::new(answers.into_answers()))
    }

    /// Returns the thread without its types.
    pub(crate) fn erased(&self) -> ErasedThread {
        ErasedThread { graph: Arc::clone(&self.persistent), name: Arc::clone(&self.name) }
    }

    pub(crate) fn run_from<K>(
        &self,
        at: Option<CheckpointId>,
        how: K,
    ) -> Run<S, D, NeedsContext, OnThread<S, K>> {
        Run::of(self.graph.erased(), OnThread::new(self.erased(), at, how))
    }

    /// Returns a picture of the graph that marks the thread's position; see [`Picture::at`].
    ///
    /// The picture includes the subgraph calls that are stored on the thread. If a node has several calls, their marks are
    /// combined.
    ///
    /// # Errors
    /// As [`state`](Self::state).
    ///
    /// # Cancel safety
    /// Cancel safe: the call only reads.
    pub async fn picture(&self) -> Result<Picture<S, D>, Error> {
        let graph = &self.graph;
        let drawn = async {
            let picture = graph.picture();
            let Some(snapshot) = load_raw(self.erased(), None).await? else { return Ok(picture) };
            let inside = picture::marks_inside(&*self.persistent.store, &graph.0, &snapshot).await?;
            Ok(picture.at(&snapshot.typed().map_err(|kind| self.persistent.refuse(kind))?).inside(&inside))
        };
        caught(graph.name(), drawn).await
    }

    /// Returns a snapshot of the thread's head, or `None` before its first run or update.
    ///
    /// # Errors
    /// [`Checkpoint`](crate::ErrorKind::Checkpoint), [`Migration`](crate::ErrorKind::Migration) and
    /// [`NodeRemoved`](crate::ErrorKind::NodeRemoved), if the checkpoint cannot be read by this program.
    ///
    /// # Cancel safety
    /// Cancel safe: the call only reads.
    pub async fn state(&self) -> Result<Option<Snapshot<S>>, Error> {
        load(self.erased(), None).await
    }

    /// Returns the open interrupts of the thread, and the breakpoints at which it has stopped.
    ///
    /// The result is empty if the thread waits for nothing or does not exist.
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
    /// // A repeated answer is refused.
    /// assert!(thread.resume(question.answer(true)).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`state`](Self::state).
    ///
    /// # Cancel safety
    /// Cancel safe: the call only reads.
    pub async fn interrupts(&self) -> Result<Pause<()>, Error> {
        open_interrupts(self.erased()).await
    }

    // Not next to `UpdateThread`: rustc's messages about a bound name the module of an impl outside the module of its type.
    /// Writes an update to the thread as if the node `place` had returned it.
    ///
    /// The update passes through reducers and validation rules. The nodes that follow `place` are planned. With `None`, the
    /// update takes the place of the node that ran last, if that node is unique and plans the pending tasks again. On a new
    /// thread, `None` means START. With [`keep_plan()`](super::keep_plan) the planned tasks stay as they are.
    ///
    /// A thread can begin with an update. The update then has to give every required field: an input field without a
    /// default and without a reducer, whose type is not an `Option`. All other fields have their start values. The
    /// checkpoint of such an update is step 0.
    ///
    /// # Errors
    /// Awaiting the update fails with [`Validation`](crate::ErrorKind::Validation), [`Reducer`](crate::ErrorKind::Reducer)
    /// or [`NotStorable`](crate::ErrorKind::NotStorable), like a node's write, and with:
    ///
    /// - [`MissingFields`](crate::ErrorKind::MissingFields) if the first update of a thread lacks required fields.
    /// - [`AmbiguousNode`](crate::ErrorKind::AmbiguousNode) if `place` is `None` and the node that ran last is not unique.
    /// - [`NotPlannedAgain`](crate::ErrorKind::NotPlannedAgain) if `place` is `None` and the update would not plan the
    ///   pending tasks again: at a join, next to a finished task, or where a route function now chooses another way.
    /// - [`InvalidAsNode`](crate::ErrorKind::InvalidAsNode) if the node or the route is not possible.
    /// - [`Conflict`](crate::ErrorKind::Conflict) if another writer has committed to the thread.
    /// - [`Checkpoint`](crate::ErrorKind::Checkpoint) if the checkpointer fails.
    ///
    /// # Cancel safety
    /// A dropped update has been written completely or not at all.
    ///
    /// # Durability
    /// The update is durable when awaiting it returns.
    pub fn update(
        &self,
        update: impl IntoUpdate<S>,
        place: impl IntoAsNode,
    ) -> UpdateThread<S, D, NeedsContext> {
        UpdateThread::new(self.erased(), None, vec![vec![(update.into_update(), place.into_place())]])
    }

    /// Writes several updates, like [`update`](Self::update). Each inner list is one superstep.
    ///
    /// All of them are written together, or none.
    ///
    /// # Errors
    /// As [`update`](Self::update), and with:
    ///
    /// - [`EmptyUpdate`](crate::ErrorKind::EmptyUpdate) if there are no supersteps, or one of them has no updates.
    /// - [`InvalidAsNode`](crate::ErrorKind::InvalidAsNode) if END is next to another node in one superstep.
    pub fn bulk_update<U: IntoUpdate<S>, P: IntoAsNode>(
        &self,
        supersteps: impl IntoIterator<Item = impl IntoIterator<Item = (U, P)>>,
    ) -> UpdateThread<S, D, NeedsContext> {
        UpdateThread::bulk(self.erased(), None, supersteps)
    }
}
