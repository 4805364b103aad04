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
use super::events::{Listener, Told};

/// A run; its outcome, and how many supersteps it took.
type Running<S> = Pin<Box<dyn Future<Output = Result<(u64, Outcome<S>), Error>> + Send>>;

/// A run as a stream of its events; polling it runs the run, dropping it cancels the run.
///
/// The last item is [`EventKind::Done`], or the error with which the run failed.
///
/// # Cancel safety
/// Waiting for the next event may be dropped; no event is lost. Once the stream itself is dropped, no further poll of
/// the run's tasks starts.
pub struct RunStream<S: GraphState> {
    run: Option<Running<S>>,
    events: Receiver<Told<S>>,
    /// Tells whoever waits for room that the listener has caught up.
    room: Arc<Notify>,
    outcome: Option<Result<(u64, Outcome<S>), Error>>,
    sequence: u64,
}

/// How many events a run may be ahead of its listener.
const AHEAD: usize = 64;

impl<S: GraphState> RunStream<S> {
    pub(crate) fn new(modes: &[StreamMode], run: impl FnOnce(Events<S>) -> Running<S>) -> Self {
        let (sender, events) = channel(AHEAD);
        let room = Arc::new(Notify::new());
        let to = Listener::Stream { sender, room: Arc::clone(&room) };
        let run = run(Events { to, modes: Arc::from(modes) });
        Self { run: Some(run), events, room, outcome: None, sequence: 0 }
    }

    /// Waits for the next event; `None` after the last.
    pub async fn next(&mut self) -> Option<Result<Event<S>, Error>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Runs the run to its end, showing each event to `listen`; gives back what awaiting the run would have.
    ///
    /// # Errors
    /// Everything that a run can fail with.
    ///
    /// # Cancel safety
    /// A dropped call cancels the run.
    pub async fn for_each(mut self, mut listen: impl FnMut(&Event<S>)) -> Result<Outcome<S>, Error> {
        // The stream ends with `Done` or an error; the driver gives nothing after either.
        let mut outcome = None;
        while let Some(event) = self.next().await {
            let event = event?;
            listen(&event);
            if let EventKind::Done(done) = event.kind {
                outcome = Some(done);
            }
        }
        outcome.ok_or_else(|| {
            Error::new(S::NAME, ErrorKind::Runtime("the stream had been read to its end before"))
        })
    }

    fn event(&mut self, told: Told<S>) -> Event<S> {
        let sequence = self.sequence;
        self.sequence += 1;
        Event { sequence, namespace: told.path.to_vec(), superstep: told.step, kind: told.kind }
    }
}

// The run is pinned in its box; nothing else of the stream is ever pinned.
impl<S: GraphState> Unpin for RunStream<S> {}

impl<S: GraphState> Stream for RunStream<S> {
    type Item = Result<Event<S>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            // Events first: a run that waits for room in the channel goes on only once they are taken out.
            match this.events.poll_recv(cx) {
                Poll::Ready(Some(told)) => return Poll::Ready(Some(Ok(this.event(told)))),
                // The channel is closed once the run has ended, below.
                Poll::Ready(None) => {
                    return Poll::Ready(match this.outcome.take() {
                        None => None,
                        Some(Err(error)) => Some(Err(error)),
                        Some(Ok((step, outcome))) => {
                            let kind = EventKind::Done(outcome);
                            Some(Ok(this.event(Told { path: Arc::default(), step, kind })))
                        }
                    });
                }
                Poll::Pending => this.room.notify_waiters(),
            }
            let Some(run) = &mut this.run else { return Poll::Pending };
            match run.as_mut().poll(cx) {
                Poll::Ready(outcome) => {
                    this.outcome = Some(outcome);
                    this.run = None;
                    // What has been said is still taken out. A task that was told to stop says no more, and is not waited
                    // for: it may block its thread.
                    this.events.close();
                }
                // Asked once more for what the run has just said, and not until it is taken out: Tokio may hold it back
                // to let others run, and then wakes us itself.
                Poll::Pending => {
                    return match this.events.poll_recv(cx) {
                        Poll::Ready(Some(told)) => Poll::Ready(Some(Ok(this.event(told)))),
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
