use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::Either;

use crate::erased::{ErasedState, Packet, StateType, TaskWrites};
use crate::interrupt::OpenInterrupt;
use crate::messages::MessageChunk;

use super::Custom;
use super::mode::StreamMode;
use super::position::{ReachedCheckpoint, RunPosition};
use super::queue::{Sender, Sending};
use super::raw::{AnnouncedCheckpoint, RawEvent, RawKind, TaskEvent};

/// The sending side of a run's stream.
#[derive(Clone)]
pub(crate) struct Events {
    /// The state of the run.
    pub(crate) state: &'static StateType,
    pub(crate) to: EventTarget,
    pub(crate) modes: Arc<[StreamMode]>,
    pub(crate) position: RunPosition,
}

/// The destination of the events of a run.
#[derive(Clone)]
pub(crate) enum EventTarget {
    /// The stream of the run itself. Bounded, so that a run waits for a slow reader instead of filling the memory.
    Stream(Sender<QueuedEvent>),
    /// The sink of the parent run, with the path of subgraph nodes to this run, and the ids of the tasks that have called them.
    Parent { sink: Arc<dyn Sink>, path: Arc<[Arc<str>]>, callers: Arc<[Arc<str>]> },
}

/// A future that waits until the event is queued.
type Sent<'a> = Either<Sending<'a, QueuedEvent>, SendFuture<'a>>;

/// The origin of a task's result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskEnd {
    /// `true` if the result came from the cache.
    pub(crate) cached: bool,
    /// `true` if an earlier run has finished the task.
    pub(crate) restored: bool,
    /// `true` if a subgraph run has made it.
    pub(crate) subgraph: bool,
}

/// An event in the queue of a stream.
pub(crate) struct QueuedEvent {
    pub(crate) path: Arc<[Arc<str>]>,
    pub(crate) callers: Arc<[Arc<str>]>,
    pub(crate) step: u64,
    /// The checkpoint that the run had reached.
    pub(crate) checkpoint: Option<ReachedCheckpoint>,
    pub(crate) event: RawEvent,
}

impl Events {
    pub(crate) fn wants(&self, mode: StreamMode) -> bool {
        self.modes.contains(&mode)
    }

    /// Creates the events of a subgraph run over this state, which go to the sink of its parent run.
    pub(crate) fn for_subgraph(
        state: &'static StateType,
        sink: &Arc<dyn Sink>,
        path: &Arc<[Arc<str>]>,
        callers: &Arc<[Arc<str>]>,
        position: RunPosition,
    ) -> Self {
        let (sink, path, callers) = (Arc::clone(sink), Arc::clone(path), Arc::clone(callers));
        let modes = sink.modes();
        let to = EventTarget::Parent { sink, path, callers };
        Self { state, to, modes, position }
    }

    /// Sends an event. Not an async function, whose future would hold the event twice: as its argument, and while it is sent.
    fn send(&self, step: u64, kind: RawKind) -> Sent<'_> {
        let checkpoint = match &kind {
            RawKind::Checkpoint { checkpoint, .. } => {
                Some(ReachedCheckpoint { id: checkpoint.id, planned_at: checkpoint.id })
            }
            _ => self.position.checkpoint(),
        };
        let event = RawEvent { state: self.state, kind };
        match &self.to {
            EventTarget::Stream(sender) => {
                let (path, callers) = (Arc::default(), Arc::default());
                Either::Left(sender.send(QueuedEvent { path, callers, step, checkpoint, event }))
            }
            EventTarget::Parent { sink, path, callers } => {
                let (path, callers) = (Arc::clone(path), Arc::clone(callers));
                Either::Right(sink.forward(QueuedEvent { path, callers, step, checkpoint, event }))
            }
        }
    }

    fn send_of_task(&self, step: u64, task: usize, node: Arc<str>, event: TaskEvent) -> Sent<'_> {
        self.send(step, RawKind::Task { node, task, event })
    }

    pub(crate) async fn values(&self, step: u64, state: &Arc<dyn ErasedState>) {
        if self.wants(StreamMode::Values) {
            self.send(step, RawKind::Values(Arc::clone(state))).await;
        }
    }

    pub(crate) async fn task_started(&self, step: u64, task: usize, node: Arc<str>, packet: Option<Packet>) {
        if self.wants(StreamMode::Tasks) {
            self.send_of_task(step, task, node, TaskEvent::Started { packet }).await;
        }
    }

    pub(crate) async fn task_finished(
        &self,
        step: u64,
        task: usize,
        node: Arc<str>,
        writes: TaskWrites,
        TaskEnd { cached, restored, subgraph }: TaskEnd,
    ) {
        if self.wants(StreamMode::Tasks) {
            let node = Arc::clone(&node);
            self.send_of_task(step, task, node, TaskEvent::Finished { cached, restored }).await;
        }
        if self.wants(StreamMode::Updates) {
            self.send_of_task(step, task, node, TaskEvent::Update { writes, restored, subgraph }).await;
        }
    }

    pub(crate) async fn interrupt(&self, step: u64, task: usize, node: Arc<str>, question: &OpenInterrupt) {
        // A question of a subgraph is already an event of the subgraph's own run.
        if self.wants(StreamMode::Interrupts) && question.namespace.is_empty() {
            self.send_of_task(
                step,
                task,
                node,
                TaskEvent::Interrupt { question: Box::new(question.clone()) },
            )
            .await;
        }
    }

    pub(crate) async fn checkpoint(&self, checkpoint: AnnouncedCheckpoint, epoch: u64) {
        if self.wants(StreamMode::Checkpoints) {
            let step = u64::try_from(checkpoint.step).unwrap_or_default();
            self.send(step, RawKind::Checkpoint { checkpoint: Box::new(checkpoint), epoch }).await;
        }
    }

    /// Sends an event about the execution of a task.
    pub(crate) async fn task(&self, step: u64, task: usize, node: Arc<str>, event: TaskEvent) {
        if self.wants(StreamMode::Tasks) {
            self.send_of_task(step, task, node, event).await;
        }
    }
}

/// A receiver of the events that nodes send, independent of the state type.
pub(crate) trait Sink: Send + Sync {
    fn wants(&self, mode: StreamMode) -> bool;

    fn modes(&self) -> Arc<[StreamMode]>;

    fn send(&self, step: u64, task: usize, node: Arc<str>, event: NodeEvent) -> SendFuture<'_>;

    /// Receives an event of a subgraph run.
    fn forward(&self, event: QueuedEvent) -> SendFuture<'_>;
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

impl Sink for Events {
    fn wants(&self, mode: StreamMode) -> bool {
        self.wants(mode)
    }

    fn modes(&self) -> Arc<[StreamMode]> {
        Arc::clone(&self.modes)
    }

    fn forward(&self, event: QueuedEvent) -> SendFuture<'_> {
        match &self.to {
            EventTarget::Parent { sink, .. } => sink.forward(event),
            EventTarget::Stream(sender) => Box::pin(sender.send(event)),
        }
    }

    fn send(&self, step: u64, task: usize, node: Arc<str>, event: NodeEvent) -> SendFuture<'_> {
        let event = match event {
            NodeEvent::Custom(value) => TaskEvent::Custom(value),
            NodeEvent::Message(chunk) => TaskEvent::Message(chunk),
            NodeEvent::Step(key, kept) => TaskEvent::Step { key, kept },
        };
        Box::pin(self.send_of_task(step, task, node, event))
    }
}
