use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::CheckpointId;
use crate::interrupt::OpenInterrupt;
use crate::messages::MessageChunk;
use crate::node::Packet;
use crate::state::{GraphState, Update, Writes};

use super::event::{EventKind, StreamMode};
use super::queue::Sender;
use super::subgraph::ErasedEvent;
use super::{Custom, SubgraphEvent};

/// The sending side of a run's stream.
pub(crate) struct Events<S: GraphState> {
    pub(super) to: EventTarget<S>,
    pub(super) modes: Arc<[StreamMode]>,
}

/// The destination of the events of a run.
pub(super) enum EventTarget<S: GraphState> {
    /// The stream of the run itself. Bounded, so that a run waits for a slow reader instead of filling the memory.
    Stream(Sender<QueuedEvent<S>>),
    /// The sink of the parent run, with the path of subgraph nodes to this run.
    Parent { sink: Arc<dyn Sink>, path: Arc<[Arc<str>]> },
}

/// The origin of a task's result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskEnd {
    /// `true` if the result came from the cache.
    pub(crate) cached: bool,
    /// `true` if an earlier run has finished the task.
    pub(crate) restored: bool,
}

/// An event in the queue of a stream.
pub(super) struct QueuedEvent<S: GraphState> {
    pub(super) path: Arc<[Arc<str>]>,
    pub(super) step: u64,
    pub(super) kind: EventKind<S>,
}

impl<S: GraphState> Clone for Events<S> {
    fn clone(&self) -> Self {
        let to = match &self.to {
            EventTarget::Stream(sender) => EventTarget::Stream(sender.clone()),
            EventTarget::Parent { sink, path } => {
                EventTarget::Parent { sink: Arc::clone(sink), path: Arc::clone(path) }
            }
        };
        Self { to, modes: Arc::clone(&self.modes) }
    }
}

impl<S: GraphState> Events<S> {
    pub(crate) fn wants(&self, mode: StreamMode) -> bool {
        self.modes.contains(&mode)
    }

    /// Creates the events of a subgraph run, which go to the sink of its parent run.
    pub(crate) fn for_subgraph(sink: &Arc<dyn Sink>, path: &Arc<[Arc<str>]>) -> Self {
        let to = EventTarget::Parent { sink: Arc::clone(sink), path: Arc::clone(path) };
        Self { to, modes: sink.modes() }
    }

    async fn send(&self, step: u64, kind: EventKind<S>) {
        match &self.to {
            EventTarget::Stream(sender) => {
                sender.send(QueuedEvent { path: Arc::default(), step, kind }).await;
            }
            EventTarget::Parent { sink, path } => {
                sink.forward(Arc::clone(path), step, Box::new(kind)).await;
            }
        }
    }

    pub(crate) async fn values(&self, step: u64, state: &Arc<S>) {
        if self.wants(StreamMode::Values) {
            self.send(step, EventKind::Values(Arc::clone(state))).await;
        }
    }

    pub(crate) async fn task_started(&self, step: u64, task: usize, node: Arc<str>, packet: Option<Packet>) {
        if self.wants(StreamMode::Tasks) {
            self.send(step, EventKind::TaskStarted { node, task, packet }).await;
        }
    }

    pub(crate) async fn task_finished(
        &self,
        step: u64,
        task: usize,
        node: Arc<str>,
        writes: Writes<<S::Update as Update<S>>::Write>,
        TaskEnd { cached, restored }: TaskEnd,
    ) {
        if self.wants(StreamMode::Tasks) {
            let node = Arc::clone(&node);
            self.send(step, EventKind::TaskFinished { node, task, cached, restored }).await;
        }
        if self.wants(StreamMode::Updates) {
            let update = S::Update::__from_writes(writes);
            self.send(step, EventKind::Update { node, task, update, restored }).await;
        }
    }

    pub(crate) async fn interrupt(&self, step: u64, task: usize, node: Arc<str>, question: OpenInterrupt) {
        // A question of a subgraph is already an event of the subgraph's own run.
        if self.wants(StreamMode::Interrupts) && question.namespace.is_empty() {
            self.send(step, EventKind::Interrupt { node, task, question }).await;
        }
    }

    pub(crate) async fn checkpoint(&self, step: u64, id: CheckpointId, number: i64) {
        if self.wants(StreamMode::Checkpoints) {
            self.send(step, EventKind::Checkpoint { id, step: number }).await;
        }
    }

    pub(crate) async fn task_retry(
        &self,
        step: u64,
        task: usize,
        node: Arc<str>,
        attempt: u32,
        error: String,
        wait: Duration,
    ) {
        if self.wants(StreamMode::Tasks) {
            self.send(step, EventKind::TaskRetry { node, task, attempt, error, wait }).await;
        }
    }

    pub(crate) async fn task_handled(&self, step: u64, task: usize, node: Arc<str>, error: String) {
        if self.wants(StreamMode::Tasks) {
            self.send(step, EventKind::TaskHandled { node, task, error }).await;
        }
    }

    pub(crate) async fn task_not_cached(&self, step: u64, task: usize, node: Arc<str>, reason: String) {
        if self.wants(StreamMode::Tasks) {
            self.send(step, EventKind::TaskNotCached { node, task, reason }).await;
        }
    }

    pub(crate) async fn task_failed(&self, step: u64, task: usize, node: Arc<str>, error: String) {
        if self.wants(StreamMode::Tasks) {
            self.send(step, EventKind::TaskFailed { node, task, error }).await;
        }
    }
}

/// A receiver of the events that nodes send, independent of the state type.
pub(crate) trait Sink: Send + Sync {
    fn wants(&self, mode: StreamMode) -> bool;

    fn modes(&self) -> Arc<[StreamMode]>;

    fn send(&self, step: u64, task: usize, node: Arc<str>, event: NodeEvent) -> SendFuture<'_>;

    /// Receives an event of a subgraph run.
    fn forward(&self, path: Arc<[Arc<str>]>, step: u64, event: Box<dyn ErasedEvent>) -> SendFuture<'_>;
}

/// An event that a node sends.
pub(crate) enum NodeEvent {
    Custom(Custom),
    Message(Box<MessageChunk>),
    /// A durable step: its key, and `true` if its result was already stored.
    Step(Arc<str>, bool),
}

impl NodeEvent {
    /// The modes that include such events.
    pub(crate) const MODES: [StreamMode; 3] = [StreamMode::Custom, StreamMode::Messages, StreamMode::Tasks];
}

/// A future that waits until the event is queued.
pub(crate) type SendFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl<S: GraphState> Sink for Events<S> {
    fn wants(&self, mode: StreamMode) -> bool {
        self.wants(mode)
    }

    fn modes(&self) -> Arc<[StreamMode]> {
        Arc::clone(&self.modes)
    }

    fn forward(&self, path: Arc<[Arc<str>]>, step: u64, event: Box<dyn ErasedEvent>) -> SendFuture<'_> {
        match &self.to {
            EventTarget::Parent { sink, .. } => sink.forward(path, step, event),
            EventTarget::Stream(sender) => {
                let of_this_state = (&*event as &dyn Any).is::<EventKind<S>>();
                let kind = if of_this_state {
                    (event as Box<dyn Any>).downcast().ok().map(|kind: Box<EventKind<S>>| *kind)
                } else {
                    Some(EventKind::Subgraph(SubgraphEvent::new(event)))
                };
                match kind {
                    Some(kind) => Box::pin(sender.send(QueuedEvent { path, step, kind })),
                    None => Box::pin(std::future::ready(())),
                }
            }
        }
    }

    fn send(&self, step: u64, task: usize, node: Arc<str>, event: NodeEvent) -> SendFuture<'_> {
        let kind = match event {
            NodeEvent::Custom(value) => EventKind::Custom { node, task, value },
            NodeEvent::Message(chunk) => EventKind::Message { node, task, chunk: *chunk },
            NodeEvent::Step(key, kept) => EventKind::StepFinished { node, task, key, kept },
        };
        Box::pin(self.send(step, kind))
    }
}
