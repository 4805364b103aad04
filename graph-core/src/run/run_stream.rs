use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::Outcome;
use crate::erased::StateTypeOf as _;
use crate::error::{Error, ErrorKind};
use crate::run::{ErasedOutcome, Running};
use crate::state::GraphState;
use crate::stream::event::{Event, EventKind};
use crate::stream::events::{EventTarget, QueuedEvent};
use crate::stream::mode::StreamMode;
use crate::stream::queue::{Receiver, queue};
use crate::stream::{Events, ReachedCheckpoint, RunPosition, SubgraphEvent};

/// A run as a stream of its events. Made by [`Run::stream`](crate::run::Run::stream).
///
/// Polling the stream executes the run. The last item is [`EventKind::Done`], or the error with which the run failed.
///
/// # Cancel safety
/// Dropping the stream cancels the run: no further poll of its tasks starts. Dropping the future of [`next`](Self::next) loses
/// no event.
pub struct RunStream<S: GraphState> {
    raw: RawStream,
    sequence: u64,
    state: PhantomData<fn() -> S>,
}

/// The stream, whatever the type of the state.
struct RawStream {
    run: Option<Running>,
    events: Receiver<QueuedEvent>,
    position: RunPosition,
    /// The number of events since the stream was last pending.
    in_a_row: usize,
    outcome: Option<Result<(u64, ErasedOutcome), Error>>,
}

enum RawItem {
    Event(QueuedEvent),
    Done(u64, ErasedOutcome),
}

/// The stream yields to the runtime after this many events in a row. Otherwise a reader of a run that is always ready
/// could not be cancelled or timed out.
const YIELD_EVERY: usize = 128;

impl<S: GraphState> RunStream<S> {
    pub(crate) fn new(modes: &[StreamMode], run: impl FnOnce(Events) -> Running) -> Self {
        let (sender, events) = queue();
        let (to, position) = (EventTarget::Stream(sender), RunPosition::default());
        let run = run(Events { state: S::TYPE, to, modes: Arc::from(modes), position: position.clone() });
        let raw = RawStream { run: Some(run), events, position, in_a_row: 0, outcome: None };
        Self { raw, sequence: 0, state: PhantomData }
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

    fn queued(&mut self, queued: QueuedEvent) -> Event<S> {
        let QueuedEvent { path, callers, step, checkpoint, event } = queued;
        let kind = event.typed().unwrap_or_else(|event| EventKind::Subgraph(SubgraphEvent::new(event)));
        Event { callers: callers.to_vec(), ..self.event(path.to_vec(), step, checkpoint, kind) }
    }

    fn event(
        &mut self,
        namespace: Vec<Arc<str>>,
        superstep: u64,
        checkpoint: Option<ReachedCheckpoint>,
        kind: EventKind<S>,
    ) -> Event<S> {
        let sequence = self.sequence;
        self.sequence += 1;
        let planned_at = checkpoint.map(|checkpoint| checkpoint.planned_at);
        let checkpoint = checkpoint.map(|checkpoint| checkpoint.id);
        Event { sequence, namespace, callers: Vec::new(), superstep, checkpoint, planned_at, kind }
    }
}

impl RawStream {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RawItem, Error>>> {
        let polled = self.poll_item(cx);
        match polled {
            Poll::Ready(_) => self.in_a_row += 1,
            Poll::Pending => self.in_a_row = 0,
        }
        polled
    }

    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RawItem, Error>>> {
        if self.in_a_row >= YIELD_EVERY {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        loop {
            // Events come first: a run that waits for space in the queue continues only after they are taken out.
            match self.events.poll(cx) {
                Poll::Ready(Some(queued)) => return Poll::Ready(Some(Ok(RawItem::Event(queued)))),
                // The queue is closed below, when the run has ended.
                Poll::Ready(None) => {
                    let outcome = self.outcome.take();
                    return Poll::Ready(
                        outcome.map(|ended| ended.map(|(step, outcome)| RawItem::Done(step, outcome))),
                    );
                }
                Poll::Pending => {}
            }
            let Some(run) = &mut self.run else { return Poll::Pending };
            match run.as_mut().poll(cx) {
                Poll::Ready(outcome) => {
                    self.outcome = Some(outcome);
                    self.run = None;
                    // Queued events are still delivered. A task that was told to stop sends no more events. It is not awaited,
                    // because it may block its thread.
                    self.events.close();
                }
                Poll::Pending => {
                    // Once more, for events that the run has just sent.
                    return self.events.poll(cx).map(|queued| Some(Ok(RawItem::Event(queued?))));
                }
            }
        }
    }
}

// The run is pinned in its box, and no other field is pinned.
impl<S: GraphState> Unpin for RunStream<S> {}

impl<S: GraphState> Stream for RunStream<S> {
    type Item = Result<Event<S>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.raw.poll(cx).map(|item| {
            Some(match item? {
                Ok(RawItem::Event(queued)) => Ok(self.queued(queued)),
                Ok(RawItem::Done(step, outcome)) => match outcome.typed() {
                    Ok(outcome) => {
                        let checkpoint = self.raw.position.checkpoint();
                        Ok(self.event(Vec::new(), step, checkpoint, EventKind::Done(outcome)))
                    }
                    Err(kind) => Err(Error::new(S::NAME, kind)),
                },
                Err(error) => Err(error),
            })
        })
    }
}

impl<S: GraphState> std::fmt::Debug for RunStream<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunStream").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}
