use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde::Serialize;

use crate::StreamMode;
use crate::cache::Cache;
use crate::error::NodeFailure;
use crate::interrupt::Question;
use crate::messages::MessageChunk;
use crate::reducers::Stamp;
use crate::run::Stop;
use crate::store::{IntoStore, LongTermStore, StoreError};
use crate::stream::{Custom, Sent, Sink};

use super::Metadata;
use super::desk::{Desk, Memo, Memos, Script, StepLog};
use super::nest::Nest;
use super::spans::RunSpan;

/// A run, as one attempt of a node sees it.
pub struct Context {
    pub(super) shared: Arc<RunShared>,
    pub(super) at: At,
    /// What the attempt asks and does on the way; made when it is first needed.
    desk: OnceLock<Box<Desk>>,
}

/// What all tasks of a run have in common.
pub(crate) struct RunShared {
    pub(crate) names: Arc<[Arc<str>]>,
    pub(crate) metadata: Metadata,
    /// The thread that it runs on.
    pub(crate) thread: Option<Arc<str>>,
    /// Where custom events and pieces of messages go; nowhere when nobody listens to either.
    pub(crate) sink: Option<Arc<dyn Sink>>,
    /// What is known of the superstep's tasks from before.
    pub(crate) memos: Memos,
    /// Where durable steps are written; nowhere in a run without a store.
    pub(crate) steps: Option<Arc<dyn StepLog>>,
    /// The answers for a context outside of any run.
    pub(crate) script: Option<Script>,
    /// The graph's long-term store.
    pub(crate) store: Option<LongTermStore>,
    /// Where results of its nodes are kept.
    pub(crate) cache: Option<Arc<dyn Cache>>,
    /// Sleeps that last longer are not waited for.
    pub(crate) longest_sleep: Option<Duration>,
    /// What stops the run from outside; a stepper may be given another on the way.
    pub(crate) stop: Mutex<Option<Stop>>,
    /// What it has from a run around it, and what those within it have from it.
    pub(crate) nest: Nest,
    /// What a subscriber is told of the run; nothing if nobody listens.
    pub(crate) spans: RunSpan,
}

/// Which task this is.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) node: usize,
    pub(super) task: usize,
    pub(super) step: u64,
    pub(super) remaining: u64,
    pub(super) attempt: u32,
}

impl Context {
    /// A context outside of any run, for one attempt of a node by itself: in superstep 1 of 1, observed by nobody.
    ///
    /// For a node that asks there are [`answering`](Self::answering) and [`until_interrupt`](Self::until_interrupt): nobody answers
    /// otherwise, and it waits for ever.
    pub fn detached(node: &str) -> Self {
        let shared = RunShared {
            names: Arc::from([Arc::from(node)]),
            metadata: Metadata::new(),
            thread: None,
            sink: None,
            memos: Memos::within("detached"),
            steps: None,
            script: Some(Script::default()),
            store: None,
            cache: None,
            longest_sleep: None,
            stop: Mutex::default(),
            nest: Nest::default(),
            spans: RunSpan::none(),
        };
        Self::new(Arc::new(shared), At { node: 0, task: 0, step: 1, remaining: 0, attempt: 1 })
    }

    fn new(shared: Arc<RunShared>, at: At) -> Self {
        Self { shared, at, desk: OnceLock::new() }
    }

    pub(super) fn desk(&self) -> &Desk {
        self.desk.get_or_init(|| Box::new(Desk::new(self.shared.memos.task_id(self.at.step, self.at.task))))
    }

    /// Makes it the context of an error handler.
    pub(super) fn handling(&mut self, failure: Arc<NodeFailure>) {
        let task = self.shared.memos.task_id(self.at.step, self.at.task);
        self.desk = OnceLock::from(Box::new(Desk::handling(&task, failure)));
    }

    /// What an error handler is asked about; nothing in a node. A function has it as a parameter, `&NodeFailure`: this is for
    /// handlers that are structs.
    pub fn failure(&self) -> Option<&NodeFailure> {
        self.used_desk().and_then(Desk::failure)
    }

    /// The desk, if the attempt has come to need one.
    #[inline]
    pub(super) fn used_desk(&self) -> Option<&Desk> {
        self.desk.get().map(|desk| &**desk)
    }

    /// Clears the desk for another attempt.
    #[inline]
    pub(super) fn clear_desk(&mut self) {
        #[cold]
        #[inline(never)]
        fn clear(desk: &mut OnceLock<Box<Desk>>) {
            *desk = OnceLock::new();
        }
        if self.desk.get().is_some() {
            clear(&mut self.desk);
        }
    }

    /// Looks into, or changes, what is known of this task.
    pub(super) fn memo<T>(&self, look: impl FnOnce(&mut Memo) -> T) -> T {
        self.shared.memos.of(self.at.step, self.at.task, look)
    }

    /// The task's place in its superstep.
    pub(super) fn task(&self) -> usize {
        self.at.task
    }

    /// Keeps what is left of the attempt for the next one.
    pub(super) fn lay_aside(&self, aside: Box<dyn std::any::Any + Send>) {
        self.shared.memos.lay_aside(self.at.step, self.at.task, aside);
    }

    /// The node's name in the graph.
    #[inline]
    pub fn node(&self) -> &str {
        self.shared.names.get(self.at.node).map_or("START", |name| name)
    }

    /// Which superstep this is; the first after the input is 1.
    pub fn superstep(&self) -> u64 {
        self.at.step
    }

    /// How many supersteps the run may still have after this one.
    pub fn remaining_steps(&self) -> u64 {
        self.at.remaining
    }

    /// The how-manieth attempt this is, from 1.
    ///
    /// A task that failed is run again by its node's [policy](crate::policy::Policy::retry), and when its superstep is: by a
    /// further [`step`](crate::run::Stepper::step), or a resumption of its thread. The count goes on in all of these.
    pub fn attempt(&self) -> u32 {
        self.at.attempt
    }

    /// Says that the node is getting on, to a policy with an [idle timeout](crate::policy::Policy::idle_timeout). Costs next
    /// to nothing; without such a policy nothing happens.
    #[inline]
    pub fn heartbeat(&self) {
        if let Some(desk) = self.used_desk() {
            desk.beat();
        }
        self.shared.nest.beat();
    }

    /// The thread that the run is on, if it is on one.
    #[inline]
    pub fn thread(&self) -> Option<&str> {
        self.shared.thread.as_deref()
    }

    /// What ids are derived from besides the write: the thread, and of a call within a run which one it is.
    #[inline]
    pub(super) fn stamp_thread(&self) -> Option<&str> {
        self.shared.nest.call.as_deref().or(self.thread())
    }

    /// What the reducers' first phase is told of this task.
    #[inline]
    pub(super) fn stamp(&self) -> Stamp<'_> {
        Stamp { thread: self.stamp_thread(), ..Stamp::new(self.node(), self.at.step, self.at.task) }
    }

    /// The run's own keys and values.
    pub fn metadata(&self) -> &Metadata {
        &self.shared.metadata
    }

    /// The long-term store that the graph was [given](crate::Graph::with_store); see [`store`](crate::store).
    ///
    /// # Errors
    /// [`NoStore`](crate::store::StoreError::NoStore) if it was given none.
    pub fn store(&self) -> Result<&LongTermStore, StoreError> {
        self.shared.store.as_ref().ok_or_else(|| StoreError::NoStore { node: self.node().to_owned() })
    }

    /// Gives a context outside of any run a long-term store; the context of a run keeps the one that it has.
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

    /// Whether somebody listens to the custom events of this run.
    pub fn is_observed(&self) -> bool {
        self.heard(StreamMode::Custom).is_some()
    }

    /// Whoever listens to events of this kind.
    fn heard(&self, mode: StreamMode) -> Option<&dyn Sink> {
        self.shared.sink.as_deref().filter(|sink| sink.wants(mode))
    }

    /// Sends a value to whoever listens to the run's stream, as it is: the listener gets it back by its type.
    ///
    /// Waits while the listener is far behind. Nothing happens when nobody listens; to save making the value, ask
    /// [`is_observed`](Self::is_observed) first.
    ///
    /// # Cancel safety
    /// A dropped call has sent the value or has not.
    pub async fn emit<T: Serialize + Send + Sync + 'static>(&self, value: T) {
        self.heartbeat();
        if let Some(sink) = self.heard(StreamMode::Custom) {
            let sent = Sent::Custom(Custom::new(value));
            sink.send(self.at.step, self.at.task, Arc::from(self.node()), sent).await;
        }
    }

    /// Tells whoever listens that a step has its result.
    pub(super) async fn step_finished(&self, key: &str, kept: bool) {
        if let Some(sink) = self.heard(StreamMode::Tasks) {
            let sent = Sent::Step(Arc::from(key), kept);
            sink.send(self.at.step, self.at.task, Arc::from(self.node()), sent).await;
        }
    }

    /// Whether somebody listens to the messages of this run while they are written: a node that asks a model may have the
    /// reply at once if nobody does.
    pub fn wants_tokens(&self) -> bool {
        self.heard(StreamMode::Messages).is_some()
    }

    /// Sends a piece of a message to whoever listens to the messages of the run: see
    /// [`EventKind::Message`](crate::EventKind::Message).
    ///
    /// Waits while the listener is far behind. Nothing happens when nobody listens. The piece is sent as it is, also when the
    /// messages of the state are excluded; and again when the node runs again, so pieces of one reply should have its
    /// [id](MessageChunk::id).
    ///
    /// ```
    /// # use superstep::{Context, END, EventKind, GraphState, START, StateGraph, StreamMode};
    /// # use superstep::messages::{Assembly, Message, MessageChunk, MessagesState, MessagesStateUpdate};
    /// async fn reply(_: &MessagesState, cx: &Context) -> MessagesStateUpdate {
    ///     let mut reply = Assembly::default();
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
    /// let mut heard = Vec::new();
    /// let outcome = run.stream().for_each(|event| {
    ///     if let EventKind::Message { chunk, .. } = &event.kind {
    ///         heard.push(chunk.text.clone());
    ///     }
    /// });
    /// assert_eq!(outcome.await?.state().messages[1].text(), "Good morning.");
    /// assert_eq!(heard, ["Good ", "morning."]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    /// A dropped call has sent the piece or has not.
    pub async fn token(&self, chunk: impl Into<MessageChunk>) {
        self.heartbeat();
        if let Some(sink) = self.heard(StreamMode::Messages) {
            let sent = Sent::Message(chunk.into());
            sink.send(self.at.step, self.at.task, Arc::from(self.node()), sent).await;
        }
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("node", &self.node()).field("superstep", &self.at.step).finish()
    }
}

/// A run with the graph's context of type `D`; derefs to [`Context`].
pub struct ContextWith<D> {
    pub(super) cx: Context,
    pub(super) context: Arc<D>,
}

impl<D> ContextWith<D> {
    pub(super) fn new(shared: Arc<RunShared>, context: Arc<D>) -> Self {
        Self {
            cx: Context::new(shared, At { node: usize::MAX, task: 0, step: 0, remaining: 0, attempt: 1 }),
            context,
        }
    }

    /// A context outside of any run, for calling a node by itself; see [`Context::detached`].
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

    /// See [`Context::answering`].
    pub fn answering<Q: Question>(self, answer: Q::Answer) -> Self {
        Self { cx: self.cx.answering::<Q>(answer), context: self.context }
    }

    /// See [`Context::with_store`].
    #[must_use]
    pub fn with_store(self, store: impl IntoStore) -> Self {
        Self { cx: self.cx.with_store(store), context: self.context }
    }

    /// The same run, for another task.
    pub(super) fn at(&self, at: At) -> Self {
        Self { cx: Context::new(Arc::clone(&self.cx.shared), at), context: Arc::clone(&self.context) }
    }

    /// The context that the run was given.
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
