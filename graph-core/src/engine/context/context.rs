// This file is longer than most because every method of a context has its page of documentation here.

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde::Serialize;

use crate::StreamMode;
use crate::cache::Cache;
use crate::engine::at::{At, Place};
use crate::engine::spans::RunSpan;
use crate::error::NodeFailure;
use crate::interrupt::Question;
use crate::messages::MessageChunk;
use crate::options::{Metadata, Stop};
use crate::reducers::Stamp;
use crate::store::{IntoStore, LongTermStore, StoreError};
use crate::stream::{Custom, NodeEvent, Sink};

use super::durable::{Script, StepLog, TaskMemories, TaskMemory, TaskScratch};
use super::parent_run::ParentRun;
use super::run_metadata::RunMetadata;

/// The run as one attempt of a node sees it: questions, durable steps, sleeps, streaming and stores.
///
/// A node gets it by taking a parameter of type `&Context`, or [`&ContextWith<D>`](ContextWith) to reach the
/// application context as well.
pub struct Context {
    pub(crate) shared: Arc<RunShared>,
    pub(crate) at: Place,
    /// The attempt's interrupts, durable steps and sleeps; created on first use.
    scratch: OnceLock<Box<TaskScratch>>,
}

/// The data that all tasks of a run share.
pub struct RunShared {
    pub(crate) names: Arc<[Arc<str>]>,
    pub(crate) metadata: RunMetadata,
    /// The name of the run's thread; `None` for a run in memory.
    pub(crate) thread: Option<Arc<str>>,
    /// The listener for custom events and tokens, if any.
    pub(crate) sink: Option<Arc<dyn Sink>>,
    /// The data that the tasks of the current superstep keep between attempts.
    pub(crate) memories: TaskMemories,
    /// Stores durable steps; `None` for a run in memory.
    pub(crate) steps: Option<Arc<dyn StepLog>>,
    /// The prepared answers of a detached context.
    pub(crate) script: Option<Script>,
    /// The graph's long-term store.
    pub(crate) store: Option<LongTermStore>,
    /// The cache for results of the graph's nodes.
    pub(crate) cache: Option<Arc<dyn Cache>>,
    /// Longer sleeps suspend their task.
    pub(crate) longest_sleep: Option<Duration>,
    /// The handle that stops the run. A stepper may replace it between steps.
    pub(crate) stop: Mutex<Option<Stop>>,
    /// The data inherited from a parent run and passed on to subgraph runs.
    pub(crate) parent_run: ParentRun,
    /// The run's tracing span; empty if there is no subscriber.
    pub(crate) spans: RunSpan,
}

impl Context {
    /// Creates a context outside any run, for calling a node directly. It is in superstep 1 with no steps remaining,
    /// and has no listener.
    ///
    /// A question stays pending forever unless an answer was prepared with [`answering`](Self::answering), or the
    /// node is called through [`until_interrupt`](Self::until_interrupt).
    pub fn detached(node: &str) -> Self {
        let shared = RunShared {
            names: Arc::from([Arc::from(node)]),
            metadata: RunMetadata::Own(Metadata::new()),
            thread: None,
            sink: None,
            memories: TaskMemories::with_scope("detached"),
            steps: None,
            script: Some(Script::default()),
            store: None,
            cache: None,
            longest_sleep: None,
            stop: Mutex::default(),
            parent_run: ParentRun::default(),
            spans: RunSpan::none(),
        };
        Self::new(
            Arc::new(shared),
            At { node: 0, task: 0, step: 1, remaining: 0, attempt: 1, is_cached: false },
        )
    }

    fn new(shared: Arc<RunShared>, at: At) -> Self {
        Self { shared, at: at.into(), scratch: OnceLock::new() }
    }

    pub(crate) fn scratch(&self) -> &TaskScratch {
        self.scratch.get_or_init(|| {
            Box::new(TaskScratch::new(self.shared.memories.task_id(self.at.step, self.at.task())))
        })
    }

    /// Turns this into the context of an error handler.
    pub(crate) fn handling(&mut self, failure: Arc<NodeFailure>) {
        let task = self.shared.memories.task_id(self.at.step, self.at.task());
        self.scratch = OnceLock::from(Box::new(TaskScratch::handling(&task, failure)));
    }

    /// Returns the failure that an error handler handles; `None` in a node.
    ///
    /// A handler that is a function takes a parameter of type `&NodeFailure` instead. This method is for handlers
    /// that are structs.
    pub fn failure(&self) -> Option<&NodeFailure> {
        self.used_scratch().and_then(TaskScratch::failure)
    }

    /// Returns the attempt's scratch state, if the attempt has used it.
    #[inline]
    pub(crate) fn used_scratch(&self) -> Option<&TaskScratch> {
        self.scratch.get().map(|scratch| &**scratch)
    }

    /// Clears the scratch state for another attempt.
    #[inline]
    pub(crate) fn clear_scratch(&mut self) {
        #[cold]
        #[inline(never)]
        fn clear(scratch: &mut OnceLock<Box<TaskScratch>>) {
            *scratch = OnceLock::new();
        }
        if self.scratch.get().is_some() {
            clear(&mut self.scratch);
        }
    }

    /// Accesses the data that the task keeps between attempts.
    pub(crate) fn memory<T>(&self, look: impl FnOnce(&mut TaskMemory) -> T) -> T {
        self.shared.memories.of(self.at.step, self.at.task(), look)
    }

    /// Returns the task's index in its superstep.
    pub(crate) fn task(&self) -> usize {
        self.at.task()
    }

    /// Keeps the subgraph call of this task id for the next attempt.
    pub(crate) fn park(&self, task: String, parked: Box<dyn std::any::Any + Send>) {
        self.memory(|memory| memory.parked.insert(task, parked));
    }

    /// Returns the node's name in the graph.
    #[inline]
    pub fn node(&self) -> &str {
        self.shared.names.get(self.at.node()).map_or("START", |name| name)
    }

    /// Returns the number of the current superstep. The first superstep after the input is 1.
    pub fn superstep(&self) -> u64 {
        self.at.step
    }

    /// Returns the number of supersteps that the recursion limit still allows after the current one.
    pub fn remaining_steps(&self) -> u64 {
        self.at.remaining
    }

    /// Returns the number of this attempt, starting at 1.
    ///
    /// A failed task runs again by its node's [retry policy](crate::policy::Policy::retry), by a further
    /// [`step`](crate::run::Stepper::step), or when its thread is resumed. The count continues in all three cases. A
    /// suspended attempt is not counted.
    pub fn attempt(&self) -> u32 {
        self.at.attempt()
    }

    /// Reports progress to a policy with an [idle timeout](crate::policy::Policy::idle_timeout).
    ///
    /// The call is nearly free. Without such a policy it has no effect.
    #[inline]
    pub fn heartbeat(&self) {
        if let Some(scratch) = self.used_scratch() {
            scratch.beat();
        }
        self.shared.parent_run.beat();
    }

    /// Returns the name of the run's thread; `None` for a run in memory.
    #[inline]
    pub fn thread(&self) -> Option<&str> {
        self.shared.thread.as_deref()
    }

    /// Returns the prefix of derived ids: the thread's name, or the identity of a subgraph call.
    #[inline]
    pub(crate) fn stamp_thread(&self) -> Option<&str> {
        self.shared.parent_run.call.as_deref().or(self.thread())
    }

    /// Returns `true` if the first phase of the reducers follows after the task's update was cached.
    #[inline]
    pub(crate) fn prepares_later(&self) -> bool {
        self.at.is_cached
    }

    /// Returns the stamp of an update that is prepared at once; `None` if the first phase of the reducers follows
    /// after the update was cached.
    #[inline]
    pub(crate) fn preparing(&self) -> Option<Stamp<'_>> {
        if self.prepares_later() { None } else { Some(self.stamp()) }
    }

    /// Returns the task's stamp, from which the first phase of the reducers derives ids.
    #[inline]
    pub(crate) fn stamp(&self) -> Stamp<'_> {
        Stamp { thread: self.stamp_thread(), ..Stamp::new(self.node(), self.at.step, self.at.task()) }
    }

    /// Returns the run's metadata: its own keys and values.
    pub fn metadata(&self) -> &Metadata {
        &self.shared.metadata
    }

    /// Returns the [long-term store](crate::store) of the [graph](crate::Graph::with_store).
    ///
    /// # Errors
    /// [`NoStore`](crate::store::StoreError::NoStore) if the graph has no long-term store.
    pub fn store(&self) -> Result<&LongTermStore, StoreError> {
        self.shared.store.as_ref().ok_or_else(|| StoreError::no_store(self.node()))
    }

    /// Sets the long-term store of a detached context. The context of a run keeps its own store.
    ///
    /// ```
    /// # use superstep::{Context, Result, store::MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let cx = Context::detached("remember").with_store(MemoryStore::new());
    /// cx.store()?.of::<u32>("counts").put("runs", &1).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_store(mut self, store: impl IntoStore) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared)
            && shared.script.is_some()
        {
            shared.store = Some(store.into_store());
        }
        self
    }

    /// Returns `true` if a listener receives the custom events of this run.
    pub fn is_observed(&self) -> bool {
        self.listened(StreamMode::Custom).is_some()
    }

    /// Returns the listener for events of this kind.
    fn listened(&self, mode: StreamMode) -> Option<&dyn Sink> {
        self.shared.sink.as_deref().filter(|sink| sink.wants(mode))
    }

    /// Sends a value to the listeners of the run's stream, unchanged. A listener gets it back by its type.
    ///
    /// Waits while the listener is far behind. Without a listener the call has no effect. To avoid creating the
    /// value, check [`is_observed`](Self::is_observed) first.
    ///
    /// # Cancel safety
    /// If the future is dropped, the value has been sent once or not at all.
    pub async fn emit<T: Serialize + Send + Sync + 'static>(&self, value: T) {
        self.heartbeat();
        if let Some(sink) = self.listened(StreamMode::Custom) {
            let sent = NodeEvent::Custom(Custom::new(value));
            sink.send(self.at.step, self.at.task(), Arc::from(self.node()), sent).await;
        }
    }

    /// Sends the listeners the end of a durable step.
    pub(crate) async fn step_finished(&self, key: &str, kept: bool) {
        if let Some(sink) = self.listened(StreamMode::Tasks) {
            let sent = NodeEvent::Step(Arc::from(key), kept);
            sink.send(self.at.step, self.at.task(), Arc::from(self.node()), sent).await;
        }
    }

    /// Returns `true` if a listener receives the messages of this run token by token.
    ///
    /// A node that calls a model need not stream the reply otherwise.
    pub fn wants_tokens(&self) -> bool {
        self.listened(StreamMode::Messages).is_some()
    }

    /// Sends one chunk of a message to the listeners of the run's messages, as an
    /// [`EventKind::Message`](crate::EventKind::Message).
    ///
    /// Waits while the listener is far behind. Without a listener the call has no effect. Two things to note:
    ///
    /// - The chunk is sent unchanged, even if the messages are an excluded field of the state.
    /// - The chunk is sent again if the node runs again. Give the chunks of a reply its [id](MessageChunk::id), so that
    ///   a listener knows to which reply a chunk belongs.
    ///
    /// ```
    /// # use superstep::{Context, END, EventKind, GraphState, START, StateGraph, StreamMode};
    /// # use superstep::messages::{Message, MessageAssembler, MessageChunk, MessagesState, MessagesStateUpdate};
    /// async fn reply(_: &MessagesState, cx: &Context) -> MessagesStateUpdate {
    ///     let mut reply = MessageAssembler::default();
    ///     for word in ["Good ", "morning."] {
    ///         let chunk = MessageChunk::text(word).id("reply_1");
    ///         reply.push(&chunk);
    ///         cx.token(chunk).await;
    ///     }
    ///     MessagesState::update().messages(Message::from(reply.finish()))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// let graph = StateGraph::<MessagesState>::new().edge(START, reply).edge(reply, END).compile()?;
    /// let run = graph.run(MessagesState::input().messages("hello")).events([StreamMode::Messages]);
    /// let mut received = Vec::new();
    /// let outcome = run.stream().for_each(|event| {
    ///     if let EventKind::Message { chunk, .. } = &event.kind {
    ///         received.push(chunk.text.clone());
    ///     }
    /// });
    /// assert_eq!(outcome.await?.state().messages[1].text(), "Good morning.");
    /// assert_eq!(received, ["Good ", "morning."]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    /// If the future is dropped, the chunk has been sent once or not at all.
    pub async fn token(&self, chunk: impl Into<MessageChunk>) {
        self.heartbeat();
        if let Some(sink) = self.listened(StreamMode::Messages) {
            let sent = NodeEvent::Message(Box::new(chunk.into()));
            sink.send(self.at.step, self.at.task(), Arc::from(self.node()), sent).await;
        }
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("node", &self.node()).field("superstep", &self.at.step).finish()
    }
}

/// The [`Context`] of a run together with the application context, a value of type `D`. Dereferences to [`Context`].
pub struct ContextWith<D> {
    pub(crate) cx: Context,
    pub(crate) context: Arc<D>,
}

impl<D> ContextWith<D> {
    pub(crate) fn new(shared: Arc<RunShared>, context: Arc<D>) -> Self {
        Self {
            cx: Context::new(
                shared,
                At { node: usize::MAX, task: 0, step: 0, remaining: 0, attempt: 1, is_cached: false },
            ),
            context,
        }
    }

    /// Creates a context outside any run, for calling a node directly; see [`Context::detached`].
    ///
    /// ```
    /// # use superstep::{ContextWith, GraphState};
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { price: Option<u32> }
    /// async fn price(_: &Order, shop: &ContextWith<u32>) -> OrderUpdate {
    ///     Order::update().price(*shop.context())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// let order = Order::started(Order::input())?;
    /// let update = price(&order, &ContextWith::detached("price", 4)).await;
    /// assert_eq!(order.updated(update)?.price, Some(4));
    /// # Ok(())
    /// # }
    /// ```
    pub fn detached(node: &str, context: impl Into<Arc<D>>) -> Self {
        Self { cx: Context::detached(node), context: context.into() }
    }

    /// Prepares an answer; see [`Context::answering`].
    pub fn answering<Q: Question>(self, answer: Q::Answer) -> Self {
        Self { cx: self.cx.answering::<Q>(answer), context: self.context }
    }

    /// Sets the long-term store of a detached context; see [`Context::with_store`].
    #[must_use]
    pub fn with_store(self, store: impl IntoStore) -> Self {
        Self { cx: self.cx.with_store(store), context: self.context }
    }

    /// Returns the context of the same run for another task.
    pub(crate) fn for_task(&self, at: At) -> Self {
        Self { cx: Context::new(Arc::clone(&self.cx.shared), at), context: Arc::clone(&self.context) }
    }

    /// Returns the application context of the run.
    pub fn context(&self) -> &D {
        &self.context
    }

    pub(crate) fn shared_context(&self) -> Arc<D> {
        Arc::clone(&self.context)
    }
}

impl<D> Deref for ContextWith<D> {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.cx
    }
}

impl<D> std::fmt::Debug for ContextWith<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.cx.fmt(f)
    }
}
