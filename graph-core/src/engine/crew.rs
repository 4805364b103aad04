//! The tasks of a superstep on the workers of the runtime.
//!
//! As many *hands* as there are workers are spawned. They take tasks from one queue and poll each once in place. So a task
//! that is ready at once costs no spawn, and CPU-bound tasks spread over the workers. A task that is pending after its
//! first poll is spawned on its own; once it has ended, it is a hand as well.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use futures_util::FutureExt as _;
use futures_util::task::AtomicWaker;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::AbortHandle;

use crate::contain::discard;
use crate::engine::erased::{ErasedContexts, ErasedState, TaskWrites};
use crate::graph::Compiled;
use crate::plan::Task;
use crate::stream::Events;

use super::at::At;
use super::encoded::Keep;
use super::policy::Work;
use super::spans::RunSpan;
use super::task::{Failed, Finished, Unfinished};

/// What all tasks of a superstep read.
pub(super) struct Board {
    pub(super) graph: Arc<Compiled>,
    pub(super) state: Arc<dyn ErasedState>,
    /// The contexts of the tasks, in the order of the queue.
    pub(super) contexts: Box<dyn ErasedContexts>,
    pub(super) events: Option<Events>,
    pub(super) keep: Keep,
}

type Outcome = Result<Finished, Box<Unfinished>>;

/// A task that has begun, with its outcome if it has ended.
pub(super) struct Ended {
    pub(super) at: At,
    pub(super) outcome: Option<Outcome>,
}

/// A task in the queue.
struct Place {
    at: At,
    task: Option<Task>,
    progress: Mutex<Stage>,
}

/// The progress of a task.
enum Stage {
    /// It has not begun. Holds the memory for its writes.
    Queued(TaskWrites),
    Begun,
    Ended(Outcome),
    /// Its outcome was collected.
    Collected,
}

/// A task that was pending after its first poll.
type Pending = Pin<Box<dyn Future<Output = Arc<Shared>> + Send>>;

/// The data that the hands share.
struct Shared {
    board: Board,
    places: Vec<Place>,
    /// The index of the next task in the queue.
    next: AtomicUsize,
    /// The maximum number of hands, and so of tasks that have begun and not ended.
    limit: usize,
    spans: RunSpan,
    /// `true` if each outcome is collected as it arrives. Otherwise only failures are, and the others at the end.
    is_eager: bool,
    news: Mutex<News>,
    signal: Arc<Signal>,
}

/// The signals of the hands to the crew.
#[derive(Default)]
struct Signal {
    /// The number of hands that have not ended.
    hands: AtomicUsize,
    /// `true` if the crew has to look at the news.
    has_news: AtomicBool,
    crew: AtomicWaker,
}

#[derive(Default)]
struct News {
    /// `true` if no further hand may be spawned.
    is_closed: bool,
    /// The tasks that have ended.
    ended: Vec<usize>,
    /// All hands, to abort them.
    hands: Vec<AbortHandle>,
}

/// The hands of a superstep, as the run sees them. They are aborted when it is dropped.
pub(super) struct Crew(Arc<Shared>);

/// A hand yields to the runtime after this many tasks, so that it does not keep a worker for itself.
const YIELD_EVERY: usize = 16;

impl Crew {
    /// Creates a crew for these tasks. Each comes with the memory for its writes.
    pub(super) fn new(
        board: Board,
        tasks: Vec<(At, Option<Task>, TaskWrites)>,
        spans: RunSpan,
        is_eager: bool,
        limit: usize,
    ) -> Self {
        let place = |(at, task, spare)| Place { at, task, progress: Mutex::new(Stage::Queued(spare)) };
        let shared = Shared {
            board,
            places: tasks.into_iter().map(place).collect(),
            next: AtomicUsize::new(0),
            limit,
            spans,
            is_eager,
            news: Mutex::default(),
            signal: Arc::default(),
        };
        Self(Arc::new(shared))
    }

    /// Spawns the hands: one for each worker, but no more than there are tasks.
    pub(super) fn start(&self, workers: usize) {
        for _ in 0..workers.min(self.0.places.len()) {
            spawn(&self.0, None);
        }
    }

    /// Waits for outcomes to collect, and returns them; `None` once all hands have ended.
    ///
    /// # Cancel safety
    /// If the future is dropped, no outcome is lost.
    pub(super) async fn next_news(&self) -> Option<Vec<Ended>> {
        let (shared, signal) = (&self.0, &self.0.signal);
        poll_fn(|cx| {
            signal.crew.register(cx.waker());
            if !signal.has_news.swap(false, Ordering::AcqRel) {
                // A hand leaves its last news before it ends.
                let has_ended = signal.has_ended();
                if !(has_ended && signal.has_news.swap(false, Ordering::AcqRel)) {
                    return if has_ended { Poll::Ready(None) } else { Poll::Pending };
                }
            }
            let ended = std::mem::take(&mut shared.news().ended);
            Poll::Ready(Some(ended.into_iter().filter_map(|nth| shared.collect(nth)).collect()))
        })
        .await
    }

    /// Ends the crew: no further task begins, and the running ones are aborted. Returns all tasks that have begun and were
    /// not collected yet.
    pub(super) fn abort(&self) -> Vec<Ended> {
        self.0.close();
        (0..self.0.places.len()).filter_map(|nth| self.0.collect(nth)).collect()
    }

    /// Ends the crew, waits until all hands have ended, and returns the tasks that were not collected yet.
    pub(super) async fn call_off(&self) -> Vec<Ended> {
        self.0.close();
        poll_fn(|cx| {
            self.0.signal.crew.register(cx.waker());
            if self.0.signal.has_ended() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        self.abort()
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Spawns a hand. `first` is a task that it executes before those in the queue. Returns it if the limit does not allow
/// another hand.
///
/// This is the only place that spawns.
fn spawn(shared: &Arc<Shared>, first: Option<Pending>) -> Option<Pending> {
    let mut news = shared.news();
    if news.is_closed {
        drop(news);
        first.into_iter().for_each(discard);
        return None;
    }
    // Grows only here, under the lock.
    if shared.signal.hands.load(Ordering::Relaxed) >= shared.limit {
        return first;
    }
    shared.signal.hands.fetch_add(1, Ordering::Relaxed);
    let end = EndOfHand(Arc::clone(&shared.signal));
    let hand = Hand { first, shared: Arc::clone(shared) };
    let hand = tokio::spawn(counted((shared.spans.carried(hand.work()), end)));
    news.hands.push(hand.abort_handle());
    None
}

/// Counts a hand down when it ends, is aborted, or is dropped with the runtime.
struct EndOfHand(Arc<Signal>);

/// Executes a hand, and counts it down when it holds nothing of the run any more: neither a span nor the state, which would
/// have to be copied for the next superstep.
// One argument, so that the hand is dropped first also if it was never polled.
async fn counted<H: Future<Output = ()>>(hand: (H, EndOfHand)) {
    let (hand, _end) = hand;
    hand.await;
}

impl Drop for EndOfHand {
    fn drop(&mut self) {
        if self.0.hands.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.crew.wake();
        }
    }
}

impl Signal {
    fn has_ended(&self) -> bool {
        self.hands.load(Ordering::Acquire) == 0
    }

    fn tell(&self) {
        if !self.has_news.swap(true, Ordering::AcqRel) {
            self.crew.wake();
        }
    }
}

impl Shared {
    fn news(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets no further task begin, and aborts the hands.
    fn close(&self) {
        self.next.store(self.places.len(), Ordering::Relaxed);
        let mut news = self.news();
        news.is_closed = true;
        let hands = std::mem::take(&mut news.hands);
        drop(news);
        hands.iter().for_each(AbortHandle::abort);
    }

    /// Takes the next task from the queue.
    fn take_next(&self) -> Option<usize> {
        // Checked first, so that the number cannot overflow.
        if self.next.load(Ordering::Relaxed) >= self.places.len() {
            return None;
        }
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|nth| *nth < self.places.len())
    }

    /// Returns a task that has begun and was not collected yet. One that has not begun will not begin any more.
    fn collect(&self, nth: usize) -> Option<Ended> {
        let place = self.places.get(nth)?;
        let mut progress = place.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *progress, Stage::Collected) {
            Stage::Queued(_) | Stage::Collected => None,
            Stage::Begun => Some(Ended { at: place.at, outcome: None }),
            Stage::Ended(outcome) => Some(Ended { at: place.at, outcome: Some(outcome) }),
        }
    }

    /// Begins a task, and returns the memory for its writes; `None` if the crew has ended meanwhile.
    fn begin(place: &Place) -> Option<TaskWrites> {
        let mut progress = place.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let Stage::Queued(spare) = &mut *progress else { return None };
        let spare = std::mem::take(spare);
        *progress = Stage::Begun;
        Some(spare)
    }

    /// Ends a task.
    fn end(&self, nth: usize, place: &Place, outcome: Outcome) {
        let is_news = self.is_eager || outcome.is_err();
        *place.progress.lock().unwrap_or_else(PoisonError::into_inner) = Stage::Ended(outcome);
        if is_news {
            self.news().ended.push(nth);
            self.signal.tell();
        }
    }
}

/// A spawned task that executes tasks of the superstep.
struct Hand {
    first: Option<Pending>,
    shared: Arc<Shared>,
}

impl Hand {
    /// Takes tasks from the queue until it is empty.
    async fn work(mut self) {
        if let Some(first) = self.first.take() {
            first.await;
        }
        let shared = &self.shared;
        // Each task is executed in the same box and with the same handle, unless they were handed over.
        let (mut place, mut handle) = (None, None);
        let mut taken = 0;
        while let Some(nth) = shared.take_next() {
            let task = run(handle.take().unwrap_or_else(|| Arc::clone(shared)), nth);
            let mut running = match place.take() {
                None => Box::pin(task),
                Some(mut running) => {
                    Pin::set(&mut running, task);
                    running
                }
            };
            let polled = poll_fn(|cx| Poll::Ready(running.as_mut().poll(cx))).await;
            match polled {
                Poll::Ready(returned) => (place, handle) = (Some(running), Some(returned)),
                Poll::Pending => {
                    // At the limit, this hand waits for the task itself.
                    if let Some(running) = spawn(shared, Some(running)) {
                        running.await;
                    }
                }
            }
            taken += 1;
            if taken % YIELD_EVERY == 0 {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Runs one task.
async fn run(shared: Arc<Shared>, nth: usize) -> Arc<Shared> {
    let board = &shared.board;
    if let Some(place) = shared.places.get(nth)
        && let (Some(task), Some(ctx)) = (&place.task, board.contexts.nth(nth))
        && let Some(node) = board.graph.nodes.get(place.at.node)
        && let Some(spare) = Shared::begin(place)
    {
        if let Some(events) = &board.events {
            tell_start(&board.graph, events, place.at, task).await;
        }
        let work = async {
            Work::new(node, &*board.state, task, ctx, board.keep, board.events.as_ref(), spare).await
        };
        // Outside of the attempts there is code of values only, such as the drop of an error.
        let worked = AssertUnwindSafe(work).catch_unwind().await;
        let outcome = worked.unwrap_or_else(|panic| Err(Failed::caught(panic).into()));
        shared.end(nth, place, outcome);
    }
    shared
}

/// Notifies the listeners that a task starts.
pub(super) async fn tell_start(graph: &Compiled, events: &Events, at: At, task: &Task) {
    if let Some(name) = graph.names.get(at.node) {
        events.task_started(at.step, at.task, Arc::clone(name), task.packet.clone()).await;
    }
}

/// Returns the number of the runtime's workers; `None` if it has one thread only.
pub(super) fn workers() -> Option<usize> {
    let runtime = Handle::try_current().ok()?;
    (runtime.runtime_flavor() == RuntimeFlavor::MultiThread).then(|| runtime.metrics().num_workers())
}
