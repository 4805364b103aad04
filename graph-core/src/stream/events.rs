use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use crate::checkpoint::CheckpointId;
use crate::interrupt::OpenInterrupt;
use crate::messages::MessageChunk;
use crate::node::Packet;
use crate::state::{GraphState, Update, Writes};

use super::event::{EventKind, StreamMode};
use super::subgraph::Passed;
use super::{Custom, SubgraphEvent};

/// A run's side of its stream.
pub(crate) struct Events<S: GraphState> {
    pub(super) to: Listener<S>,
    pub(super) modes: Arc<[StreamMode]>,
}

/// Where the events of a run go.
pub(super) enum Listener<S: GraphState> {
    /// To its stream.
    Stream {
        /// Bounded: a run waits for a listener that is far behind instead of filling the memory.
        sender: Sender<Told<S>>,
        /// Wakes whoever waits for room. (The channel's own queue would promise room to tasks that are not polled while
        /// the run itself waits behind them.)
        room: Arc<Notify>,
    },
    /// To whoever listens to the run around it; with the subgraph nodes that it is within.
    Around { sink: Arc<dyn Sink>, path: Arc<[Arc<str>]> },
}

/// An event on its way.
pub(super) struct Told<S: GraphState> {
    pub(super) path: Arc<[Arc<str>]>,
    pub(super) step: u64,
    pub(super) kind: EventKind<S>,
}

impl<S: GraphState> Clone for Events<S> {
    fn clone(&self) -> Self {
        let to = match &self.to {
            Listener::Stream { sender, room } => {
                Listener::Stream { sender: sender.clone(), room: Arc::clone(room) }
            }
            Listener::Around { sink, path } => {
                Listener::Around { sink: Arc::clone(sink), path: Arc::clone(path) }
            }
        };
        Self { to, modes: Arc::clone(&self.modes) }
    }
}

impl<S: GraphState> Events<S> {
    pub(crate) fn wants(&self, mode: StreamMode) -> bool {
        self.modes.contains(&mode)
    }

    /// Of a run within another, for whoever listens to that.
    pub(crate) fn within(sink: &Arc<dyn Sink>, path: &Arc<[Arc<str>]>) -> Self {
        let to = Listener::Around { sink: Arc::clone(sink), path: Arc::clone(path) };
        Self { to, modes: sink.modes() }
    }

    async fn send(&self, step: u64, kind: EventKind<S>) {
        match &self.to {
            Listener::Stream { .. } => self.tell(Told { path: Arc::default(), step, kind }).await,
            Listener::Around { sink, path } => {
                sink.pass(Arc::clone(path), step, Box::new(kind)).await;
            }
        }
    }

    /// A listener that has gone away is told nothing more; the run goes on.
    async fn tell(&self, mut event: Told<S>) {
        let Listener::Stream { sender, room } = &self.to else { return };
        loop {
            // Asked for first, so that room that is made meanwhile is not missed.
            let room = room.notified();
            match sender.try_send(event) {
                Ok(()) | Err(TrySendError::Closed(_)) => return,
                Err(TrySendError::Full(unsent)) => event = unsent,
            }
            room.await;
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
        cached: bool,
    ) {
        if self.wants(StreamMode::Tasks) {
            self.send(step, EventKind::TaskFinished { node: Arc::clone(&node), task, cached }).await;
        }
        if self.wants(StreamMode::Updates) {
            let update = S::Update::__from_writes(writes);
            self.send(step, EventKind::Update { node, task, update }).await;
        }
    }

    pub(crate) async fn interrupt(&self, step: u64, task: usize, node: Arc<str>, question: OpenInterrupt) {
        // What a subgraph asks has been told by its own run.
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

/// Where what the nodes of a run send goes, whatever its state is.
pub(crate) trait Sink: Send + Sync {
    fn wants(&self, mode: StreamMode) -> bool;

    fn modes(&self) -> Arc<[StreamMode]>;

    fn send(&self, step: u64, task: usize, node: Arc<str>, sent: Sent) -> Sending<'_>;

    /// Takes an event of a run within.
    fn pass(&self, path: Arc<[Arc<str>]>, step: u64, event: Box<dyn Passed>) -> Sending<'_>;
}

/// What a node sends.
pub(crate) enum Sent {
    Custom(Custom),
    Message(MessageChunk),
    /// A step's key, and whether its result was there before.
    Step(Arc<str>, bool),
}

impl Sent {
    /// Whether a listener to one of these modes is to be told.
    pub(crate) const MODES: [StreamMode; 3] = [StreamMode::Custom, StreamMode::Messages, StreamMode::Tasks];
}

/// Waits for room.
pub(crate) type Sending<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl<S: GraphState> Sink for Events<S> {
    fn wants(&self, mode: StreamMode) -> bool {
        self.wants(mode)
    }

    fn modes(&self) -> Arc<[StreamMode]> {
        Arc::clone(&self.modes)
    }

    fn pass(&self, path: Arc<[Arc<str>]>, step: u64, event: Box<dyn Passed>) -> Sending<'_> {
        match &self.to {
            Listener::Around { sink, .. } => sink.pass(path, step, event),
            Listener::Stream { .. } => {
                let of_this_state = (&*event as &dyn Any).is::<EventKind<S>>();
                let kind = if of_this_state {
                    (event as Box<dyn Any>).downcast().ok().map(|kind: Box<EventKind<S>>| *kind)
                } else {
                    Some(EventKind::Subgraph(SubgraphEvent::new(event)))
                };
                match kind {
                    Some(kind) => Box::pin(self.tell(Told { path, step, kind })),
                    None => Box::pin(std::future::ready(())),
                }
            }
        }
    }

    fn send(&self, step: u64, task: usize, node: Arc<str>, sent: Sent) -> Sending<'_> {
        let kind = match sent {
            Sent::Custom(value) => EventKind::Custom { node, task, value },
            Sent::Message(chunk) => EventKind::Message { node, task, chunk },
            Sent::Step(key, kept) => EventKind::StepFinished { node, task, key, kept },
        };
        Box::pin(self.send(step, kind))
    }
}
