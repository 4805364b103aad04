use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use futures_util::future::{Either, select};
use tokio::sync::Notify;

/// A handle that stops runs from outside, immediately or after the current superstep.
///
/// ```
/// # use superstep::checkpoint::MemoryCheckpointer;
/// # use superstep::{END, GraphState, START, StateGraph};
/// use superstep::run::Stop;
///
/// # #[derive(GraphState, Clone)]
/// # struct Count { #[state(reducer = add)] total: u32 }
/// # async fn first(cx: &superstep::Context) -> CountUpdate { cx.stopping().await; Count::update().total(1_u32) }
/// # async fn second() -> CountUpdate { Count::update().total(1_u32) }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// # let graph = StateGraph::<Count>::new().edge(START, first).edge(first, second).edge(second, END).compile()?;
/// # let graph = graph.with_checkpointer(MemoryCheckpointer::default());
/// # let thread = graph.thread("17");
/// let stop = Stop::new();
/// let run = thread.run(Count::input()).stop_by(&stop);
/// // Elsewhere, for example in a handler of SIGTERM:
/// let (outcome, ()) = tokio::join!(run, async { stop.drain() });
///
/// let outcome = outcome?;
/// let pause = outcome.pause().expect("it was stopped");
/// assert!(pause.is_stopped());
/// assert_eq!(pause.next(), ["second"]);
///
/// // In the next process:
/// assert_eq!(thread.resume(()).await?.state().total, 2);
/// # Ok(())
/// # }
/// ```
///
/// | | the current superstep | the run ends with |
/// |---|---|---|
/// | [`drain`](Self::drain) | finishes and is applied | [`Outcome::Interrupted`](crate::Outcome::Interrupted), with [`Pause::is_stopped`](crate::interrupt::Pause::is_stopped) |
/// | [`cancel`](Self::cancel) | is dropped; finished tasks keep their results | [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) |
///
/// If the run finishes or reaches a question or a breakpoint first, it ends with that. On a thread, everything is durable when
/// the run returns, in every [`Durability`](super::run_options::Durability) mode, and [`resume`](crate::thread::Thread::resume) continues.
///
/// Clones share one state. A stop can be given to any number of runs, before or after it is triggered. It can be triggered from
/// any OS thread, including outside async code. It stays triggered: a run that starts with it later stops before its first
/// superstep.
#[derive(Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Default)]
struct Inner {
    level: AtomicU8,
    notify: Notify,
    parent: Option<Stop>,
}

const DRAIN: u8 = 1;
const CANCEL: u8 = 2;

impl Stop {
    /// Creates a stop that has not been triggered.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a stop that is triggered together with this one, or by itself.
    ///
    /// A server can stop all requests with the parent, and one request with a child.
    pub fn child(&self) -> Self {
        Self(Arc::new(Inner { parent: Some(self.clone()), ..Inner::default() }))
    }

    /// Ends the runs after the current superstep. No further superstep begins.
    pub fn drain(&self) {
        self.request(DRAIN);
    }

    /// Ends the runs at once, with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    ///
    /// Running tasks are dropped, as if the future of the run were dropped. On a thread, the run first waits until the results
    /// of finished tasks are durable.
    pub fn cancel(&self) {
        self.request(CANCEL);
    }

    /// Returns `true` if [`drain`](Self::drain) or [`cancel`](Self::cancel) was called.
    pub fn is_stopping(&self) -> bool {
        self.level() >= DRAIN
    }

    /// Returns `true` if [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.level() >= CANCEL
    }

    /// Waits until [`drain`](Self::drain) or [`cancel`](Self::cancel) is called.
    ///
    /// # Cancel safety
    /// Cancel safe: the call only waits.
    pub async fn stopping(&self) {
        self.wait_for(DRAIN).await;
    }

    fn request(&self, level: u8) {
        self.0.level.fetch_max(level, Ordering::SeqCst);
        self.0.notify.notify_waiters();
    }

    fn level(&self) -> u8 {
        let own = self.0.level.load(Ordering::SeqCst);
        self.0.parent.as_ref().map_or(own, |parent| own.max(parent.level()))
    }

    async fn wait_for(&self, level: u8) {
        match &self.0.parent {
            None => self.wait_for_own(level).await,
            Some(parent) => {
                select(pin!(self.wait_for_own(level)), parent.wait_for_boxed(level)).await;
            }
        }
    }

    /// Boxed because parents nest to any depth.
    fn wait_for_boxed(&self, level: u8) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.wait_for(level))
    }

    /// Waits for this stop alone, without its parents.
    async fn wait_for_own(&self, level: u8) {
        loop {
            // Registered before the check, so that a request in between is not missed.
            let notified = self.0.notify.notified();
            if self.level() >= level {
                return;
            }
            notified.await;
        }
    }

    /// Runs a future, or returns `None` if the runs are cancelled first. The future is not polled after that.
    pub(crate) async fn unless_cancelled<F: Future>(&self, future: F) -> Option<F::Output> {
        self.run_unless(CANCEL, future).await
    }

    /// Runs a future, or returns `None` if the runs are stopped first, by drain or cancel.
    pub(crate) async fn unless_stopping<F: Future>(&self, future: F) -> Option<F::Output> {
        self.run_unless(DRAIN, future).await
    }

    async fn run_unless<F: Future>(&self, level: u8, future: F) -> Option<F::Output> {
        // The stop is polled first, so that the future is not polled after a request.
        match select(pin!(self.wait_for(level)), pin!(future)).await {
            Either::Left(_) => None,
            Either::Right((output, _)) => Some(output),
        }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop")
            .field("is_stopping", &self.is_stopping())
            .field("is_cancelled", &self.is_cancelled())
            .finish()
    }
}
