use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::Notify;
use tokio::sync::mpsc::{Receiver, channel};

use crate::error::{Error, ErrorKind};
use crate::run::Outcome;
use crate::state::GraphState;

use super::Events;
use super::event::{Event, EventKind, StreamMode};
use super::events::{EventTarget, QueuedEvent};

/// The future of a run, with the number of its last superstep and its outcome.
type Running<S> = Pin<Box<dyn Future<Output = Result<(u64, Outcome<S>), Error>> + Send>>;

/// A run as a stream of its events. Made by [`Run::stream`](crate::run::Run::stream).
///
/// Polling the stream executes the run. The last item is [`EventKind::Done`], or the error with which the run failed.
///
/// # Cancel safety
/// Dropping the stream cancels the run: no further poll of its tasks starts. Dropping the future of [`next`](Self::next) loses
/// no event.
pub struct RunStream<S: GraphState> {
    run: Option<Running<S>>,
    events: Receiver<QueuedEvent<S>>,
    /// Wakes the senders that wait for free space.
    space: Arc<Notify>,
    outcome: Option<Result<(u64, Outcome<S>), Error>>,
    sequence: u64,
}

/// The number of events that a run may be ahead of its reader.
const CAPACITY: usize = 64;

impl<S: GraphState> RunStream<S> {
    pub(crate) fn new(modes: &[StreamMode], run: impl FnOnce(Events<S>) -> Running<S>) -> Self {
        let (sender, events) = channel(CAPACITY);
        let space = Arc::new(Notify::new());
        let to = EventTarget::Stream { sender, space: Arc::clone(&space) };
        let run = run(Events { to, modes: Arc::from(modes) });
        Self { run: Some(run), events, space, outcome: None, sequence: 0 }
    }

    /// Waits for the next event. Returns `None` after the last.
    ///
    /// # Errors
    /// Any error of the run, as the last item.
    ///
    /// # Cancel safety
    /// Cancel safe: a dropped call loses no event.
    pub async fn next(&mut self) -> Option<Result<Event<S>, Error>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Executes the run to its end, calls `listen` for each event, and returns the outcome.
    ///
    /// # Errors
    /// Any error of the run. [`Runtime`](ErrorKind::Runtime) if the stream had already been read to its end.
    ///
    /// # Cancel safety
    /// A dropped call cancels the run.
    pub async fn for_each(mut self, mut listen: impl FnMut(&Event<S>)) -> Result<Outcome<S>, Error> {
        // The stream ends with `Done` or an error.
        let mut outcome = None;
        while let Some(event) = self.next().await {
            let event = event?;
            listen(&event);
            if let EventKind::Done(done) = event.kind {
                outcome = Some(done);
            }
        }
        outcome.ok_or_else(|| {
            Error::new(
                S::NAME,
                ErrorKind::Runtime("the stream has already been read to its end, so it has no outcome"),
            )
        })
    }

    fn event(&mut self, queued: QueuedEvent<S>) -> Event<S> {
        let sequence = self.sequence;
        self.sequence += 1;
        Event { sequence, namespace: queued.path.to_vec(), superstep: queued.step, kind: queued.kind }
    }
}

// The run is pinned in its box, and no other field is pinned.
impl<S: GraphState> Unpin for RunStream<S> {}

impl<S: GraphState> Stream for RunStream<S> {
    type Item = Result<Event<S>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            // Events come first: a run that waits for space in the channel continues only after they are taken out.
            match this.events.poll_recv(cx) {
                Poll::Ready(Some(queued)) => return Poll::Ready(Some(Ok(this.event(queued)))),
                // The channel is closed below, when the run has ended.
                Poll::Ready(None) => {
                    return Poll::Ready(match this.outcome.take() {
                        None => None,
                        Some(Err(error)) => Some(Err(error)),
                        Some(Ok((step, outcome))) => {
                            let kind = EventKind::Done(outcome);
                            Some(Ok(this.event(QueuedEvent { path: Arc::default(), step, kind })))
                        }
                    });
                }
                Poll::Pending => this.space.notify_waiters(),
            }
            let Some(run) = &mut this.run else { return Poll::Pending };
            match run.as_mut().poll(cx) {
                Poll::Ready(outcome) => {
                    this.outcome = Some(outcome);
                    this.run = None;
                    // Queued events are still delivered. A task that was told to stop sends no more events. It is not awaited,
                    // because it may block its thread.
                    this.events.close();
                }
                // Polled once more for events that the run has just sent. Only once: tokio's cooperative budget may hold them
                // back, and then wakes this task itself.
                Poll::Pending => {
                    return match this.events.poll_recv(cx) {
                        Poll::Ready(Some(queued)) => Poll::Ready(Some(Ok(this.event(queued)))),
                        _ => Poll::Pending,
                    };
                }
            }
        }
    }
}

impl<S: GraphState> std::fmt::Debug for RunStream<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunStream").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}
