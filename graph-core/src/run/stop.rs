use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use futures_util::future::{Either, select};
use tokio::sync::Notify;

/// Stops runs from outside: at once, or at the next boundary between supersteps.
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
/// // Somewhere else, perhaps in what handles SIGTERM:
/// let (outcome, ()) = tokio::join!(run.into_future(), async { stop.drain() });
///
/// let outcome = outcome?;
/// let pause = outcome.pause().expect("it was told to stop");
/// assert!(pause.is_stopped());
/// assert_eq!(pause.next(), ["second"]);
///
/// // In the next process:
/// assert_eq!(thread.resume(()).await?.state().total, 2);
/// # Ok(())
/// # }
/// ```
///
/// | | the superstep that is under way | the run ends with |
/// |---|---|---|
/// | [`drain`](Self::drain) | runs to its end, and is applied | [`Outcome::Interrupted`](crate::Outcome::Interrupted), whose pause [was told](crate::interrupt::Pause::is_stopped) |
/// | [`cancel`](Self::cancel) | is dropped; what has finished of it is kept | [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) |
///
/// A run that comes to its end all the same, to a question or to a breakpoint ends with that. On a thread everything is
/// durable by the time that the call returns, in every mode, and [`resume`](crate::thread::Thread::resume) goes on.
///
/// Clones are the same stop. It may be given to any number of runs, before or after it is pulled, and pulled from any thread,
/// also outside of async code. It stays pulled: whatever is begun with it later stops before its first superstep.
#[derive(Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Default)]
struct Inner {
    level: AtomicU8,
    pulled: Notify,
    parent: Option<Stop>,
}

const DRAIN: u8 = 1;
const CANCEL: u8 = 2;

impl Stop {
    /// One that has not been pulled.
    pub fn new() -> Self {
        Self::default()
    }

    /// A stop that is pulled together with this one, and by itself: that of one request, of those of a whole server.
    pub fn child(&self) -> Self {
        Self(Arc::new(Inner { parent: Some(self.clone()), ..Inner::default() }))
    }

    /// Lets the runs end at the next boundary between supersteps: what is under way is finished, and nothing is begun.
    pub fn drain(&self) {
        self.pull(DRAIN);
    }

    /// Ends the runs at once: as if their futures were dropped, but that they say so, and on a thread wait until what had
    /// finished is durable.
    pub fn cancel(&self) {
        self.pull(CANCEL);
    }

    /// Whether [`drain`](Self::drain) or [`cancel`](Self::cancel) was called.
    pub fn is_stopping(&self) -> bool {
        self.level() >= DRAIN
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.level() >= CANCEL
    }

    /// Waits until [`drain`](Self::drain) or [`cancel`](Self::cancel) is called.
    ///
    /// # Cancel safety
    /// It only waits.
    pub async fn stopping(&self) {
        self.reached(DRAIN).await;
    }

    fn pull(&self, level: u8) {
        self.0.level.fetch_max(level, Ordering::SeqCst);
        self.0.pulled.notify_waiters();
    }

    fn level(&self) -> u8 {
        let own = self.0.level.load(Ordering::SeqCst);
        self.0.parent.as_ref().map_or(own, |parent| own.max(parent.level()))
    }

    async fn reached(&self, level: u8) {
        match &self.0.parent {
            None => self.pulled(level).await,
            Some(parent) => {
                select(pin!(self.pulled(level)), parent.boxed(level)).await;
            }
        }
    }

    /// In a box: a parent's parent is waited for inside of it.
    fn boxed(&self, level: u8) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.reached(level))
    }

    /// Is woken by nobody but this one.
    async fn pulled(&self, level: u8) {
        loop {
            // Asked for first, so that what is pulled meanwhile is not missed.
            let pulled = self.0.pulled.notified();
            if self.level() >= level {
                return;
            }
            pulled.await;
        }
    }

    /// What a future comes to, unless the runs are cancelled before; it is not polled any more then.
    pub(crate) async fn unless_cancelled<F: Future>(&self, future: F) -> Option<F::Output> {
        self.unless(CANCEL, future).await
    }

    /// What a future comes to, unless the runs are to stop before, at once or not.
    pub(crate) async fn unless_stopping<F: Future>(&self, future: F) -> Option<F::Output> {
        self.unless(DRAIN, future).await
    }

    async fn unless<F: Future>(&self, level: u8, future: F) -> Option<F::Output> {
        // Asked first: nothing of what is to stop is polled once it is known.
        match select(pin!(self.reached(level)), pin!(future)).await {
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
