use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use crate::checkpoint::CheckpointId;
use crate::interrupt::OpenQuestion;
use crate::messages::MessageChunk;
use crate::node::Packet;
use crate::state::{GraphState, Update, Writes};

use super::{Custom, EventKind, StreamMode};

/// A run's side of its stream.
pub(crate) struct Events<S: GraphState> {
    /// Bounded: a run waits for a listener that is far behind instead of filling the memory.
    pub(super) sender: Sender<(u64, EventKind<S>)>,
    /// Wakes whoever waits for room. (The channel's own queue would promise room to tasks that are not polled while
    /// the run itself waits behind them.)
    pub(super) room: Arc<Notify>,
    pub(super) modes: Arc<[StreamMode]>,
}

impl<S: GraphState> Clone for Events<S> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), room: Arc::clone(&self.room), modes: Arc::clone(&self.modes) }
    }
}

impl<S: GraphState> Events<S> {
    pub(crate) fn wants(&self, mode: StreamMode) -> bool {
        self.modes.contains(&mode)
    }

    /// A listener that has gone away is told nothing more; the run goes on.
    async fn send(&self, step: u64, kind: EventKind<S>) {
        let mut event = (step, kind);
        loop {
            // Asked for first, so that room that is made meanwhile is not missed.
            let room = self.room.notified();
            match self.sender.try_send(event) {
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
    ) {
        if self.wants(StreamMode::Tasks) {
            self.send(step, EventKind::TaskFinished { node: Arc::clone(&node), task }).await;
        }
        if self.wants(StreamMode::Updates) {
            let update = S::Update::__from_writes(writes);
            self.send(step, EventKind::Update { node, task, update }).await;
        }
    }

    pub(crate) async fn interrupt(&self, step: u64, task: usize, node: Arc<str>, question: OpenQuestion) {
        if self.wants(StreamMode::Interrupts) {
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

    pub(crate) async fn task_failed(&self, step: u64, task: usize, node: Arc<str>, error: String) {
        if self.wants(StreamMode::Tasks) {
            self.send(step, EventKind::TaskFailed { node, task, error }).await;
        }
    }
}

/// Where what the nodes of a run send goes, whatever its state is.
pub(crate) trait Sink: Send + Sync {
    fn wants(&self, mode: StreamMode) -> bool;

    fn send(&self, step: u64, task: usize, node: Arc<str>, sent: Sent) -> Sending<'_>;
}

/// What a node sends.
pub(crate) enum Sent {
    Custom(Custom),
    Message(MessageChunk),
}

/// Waits for room.
pub(crate) type Sending<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl<S: GraphState> Sink for Events<S> {
    fn wants(&self, mode: StreamMode) -> bool {
        self.wants(mode)
    }

    fn send(&self, step: u64, task: usize, node: Arc<str>, sent: Sent) -> Sending<'_> {
        let kind = match sent {
            Sent::Custom(value) => EventKind::Custom { node, task, value },
            Sent::Message(chunk) => EventKind::Message { node, task, chunk },
        };
        Box::pin(self.send(step, kind))
    }
}
