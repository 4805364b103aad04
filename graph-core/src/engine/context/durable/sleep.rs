use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use futures_util::future::select;

use crate::checkpoint::RecordKind;
use crate::engine::context::context::Context;
use crate::error::contained;
use crate::limits::MAX_KEY_BYTES;
use crate::options::{from_millis, now, to_millis};
use crate::payload::Payload;

use super::TaskScratch;
use super::task_memory::OF_HANDLER;
use super::timer::Timer;

/// A durable sleep; created by [`Context::sleep`] and [`Context::sleep_until`]. It starts when it is awaited.
#[must_use = "a sleep starts when it is awaited"]
pub struct Sleep<'c> {
    cx: &'c Context,
    wake: Wake,
    /// Identifies the sleep inside its task. `None` inside a durable step, which does not run again.
    id: Option<String>,
    running: Option<Pin<Box<dyn Future<Output = ()> + Send + 'c>>>,
}

impl Drop for Sleep<'_> {
    /// Ends the sleep for this attempt: if it has fired in an earlier attempt, nothing waits for its turn any more.
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.cx.settle_timer(&self.cx.timer_id(id));
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Wake {
    After(Duration),
    At(SystemTime),
}

/// The interval at which a sleep checks the clock, because the clock may be set and the machine may be suspended.
const LOOK: Duration = Duration::from_secs(60);

impl Context {
    /// Sleeps durably. The end of the sleep is stored before the sleep starts, and a node that runs again sleeps only
    /// for the rest.
    ///
    /// A node runs again after a crash, an answer or a failure, for example.
    ///
    /// ```
    /// # use superstep::{Context, END, GraphState, Result, START, StateGraph};
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use std::time::Duration;
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { reminded: bool }
    /// # async fn remind() -> std::io::Result<()> { Ok(()) }
    /// async fn follow_up(_: &Order, cx: &Context) -> Result<OrderUpdate> {
    ///     cx.sleep(Duration::from_secs(3 * 24 * 60 * 60)).await;
    ///     cx.step("remind", remind()).await?;
    ///     Ok(Order::update().reminded(true))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Order>::new().edge(START, follow_up).edge(follow_up, END).compile()?;
    /// # let graph = graph.with_checkpointer(MemoryCheckpointer::default());
    /// // Without this option, the process waits. With it, a long sleep ends the run and waits in the checkpointer:
    /// let run = graph.thread("17").run(Order::input()).suspend_sleeps_longer_than(Duration::from_secs(60));
    /// let outcome = run.await?;
    /// let due = outcome.pause().and_then(|pause| pause.wakes_at()).expect("it is asleep");
    ///
    /// // A timer in the program resumes the sleepers that are due:
    /// # assert!(graph.due(due - Duration::from_secs(1)).await?.is_empty());
    /// for sleeper in graph.due(due).await? {
    ///     let resumed = sleeper.resume(()).suspend_sleeps_longer_than(Duration::from_secs(60)).await;
    ///     if let Err(error) = resumed {
    ///         eprintln!("thread {}: {error}", sleeper.thread.name());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Sleeps are identified by the order in which the node creates them. If that order may change from one attempt
    /// to the next, give each sleep a [key](Sleep::keyed).
    ///
    /// Inside a [`step`](Self::step) this is a plain sleep. In a run without a checkpointer, the end of the sleep is
    /// kept in memory until the superstep ends.
    ///
    /// A run on a thread that was asked to [stop](crate::run::Stop) does not wait for a sleeping task, unless the
    /// task has a durable step in progress. Next to a question, a sleep sets the time at which the question expires;
    /// see [`Pause::wakes_at`](crate::interrupt::Pause::wakes_at).
    ///
    /// # Errors
    /// A sleep has no result. In these cases the task fails, and the future never completes:
    ///
    /// - the end of the sleep cannot be stored
    /// - the end of the sleep is beyond the range of the system clock
    /// - the tokio runtime has no timer (`enable_time`)
    ///
    /// # Durability
    /// The end of the sleep, and everything that it depends on, is durable before the sleep starts. That it has ended is
    /// durable before the node continues.
    ///
    /// # Cancel safety
    /// A dropped sleep is over for this attempt. If it had started, it ends at the same time when the node runs
    /// again.
    pub fn sleep(&self, duration: Duration) -> Sleep<'_> {
        self.durable_sleep(Wake::After(duration))
    }

    /// Sleeps durably until a time, and returns at once if the time has passed; otherwise like
    /// [`sleep`](Self::sleep).
    ///
    /// A node that runs again sleeps until the time that it passed first.
    pub fn sleep_until(&self, time: SystemTime) -> Sleep<'_> {
        self.durable_sleep(Wake::At(time))
    }

    fn durable_sleep(&self, wake: Wake) -> Sleep<'_> {
        let scratch = self.scratch();
        // A finished step does not run again, so a sleep inside a step must not be counted.
        let id = (!scratch.is_in_step()).then(|| scratch.nth_sleep().to_string());
        Sleep { cx: self, wake, id, running: None }
    }

    /// Returns the id under which the timer of a sleep is stored. The ids of a node and of its handler differ.
    fn timer_id(&self, sleep: &str) -> String {
        match self.scratch().failure() {
            None => sleep.to_owned(),
            Some(_) => format!("{OF_HANDLER}{sleep}"),
        }
    }

    /// Returns the timer of the sleep that an earlier attempt has set.
    fn known_timer(&self, id: Option<&str>) -> Option<Timer> {
        id.and_then(|id| self.memory(|memory| memory.sleeps.get(id).cloned()))
    }

    async fn run_sleep(&self, id: Option<String>, wake: Wake) {
        let scratch = self.scratch();
        let id = id.map(|id| self.timer_id(&id));
        if let Some(id) = id.as_ref().filter(|id| id.len() > MAX_KEY_BYTES) {
            scratch.fail(LongKey { length: id.len() }.into());
            return std::future::pending().await;
        }
        let known = self.known_timer(id.as_deref());
        let until = match &known {
            Some(timer) => from_millis(timer.until),
            None => wake.time().map(to_millis).and_then(from_millis),
        };
        let Some(until) = until else {
            return self.cannot_sleep("its end is beyond the range of the system clock").await;
        };
        // Set before the first await: a question next to the sleep may suspend the task immediately.
        let _asleep = id.is_some().then(|| scratch.asleep(until));
        if let (Some(id), None) = (&id, &known) {
            let millis = to_millis(until);
            self.memory(|memory| memory.sleeps.insert(id.clone(), Timer::new(millis)));
            if let Some(log) = &self.shared.steps {
                let payload = Payload::json(millis.to_string());
                if let Err(error) = log.record(self.at.task(), RecordKind::Sleep, id, payload).await {
                    scratch.fail(error);
                    return std::future::pending().await;
                }
            }
        }
        if known.is_none_or(|timer| timer.fired.is_none()) {
            self.wait_until(until, id.is_some()).await;
        }
        if let Some(id) = &id
            && let Err(error) = self.fire(id).await
        {
            scratch.fail(error);
            std::future::pending().await
        }
    }

    /// Returns the end of a deadline that has begun.
    pub(crate) fn timer_end(&self, deadline: &str) -> Option<SystemTime> {
        let of_handler;
        let id = match self.scratch().failure() {
            None => deadline,
            Some(_) => {
                of_handler = format!("{OF_HANDLER}{deadline}");
                &of_handler
            }
        };
        from_millis(self.known_timer(Some(id))?.until)
    }

    /// Waits until the clock shows a time.
    async fn wait_until(&self, until: SystemTime, may_suspend: bool) {
        // A stop request wakes the task, so that the run sees that it sleeps.
        let mut requested = !may_suspend || self.shared.steps.is_none() || self.is_stopping();
        while let Ok(left) = until.duration_since(now())
            && !left.is_zero()
        {
            // Tokio panics where its timer is not enabled.
            let Ok(timer) = contained(|| tokio::time::sleep(left.min(LOOK))) else {
                return self
                    .cannot_sleep("it needs a tokio runtime with its timer enabled (`enable_time`)")
                    .await;
            };
            if requested {
                timer.await;
            } else {
                select(pin!(timer), pin!(self.stopping())).await;
                requested = self.is_stopping();
            }
        }
    }

    /// Fails the attempt because of a sleep that cannot start.
    async fn cannot_sleep(&self, reason: &'static str) {
        self.scratch().fail(SleepError { reason }.into());
        std::future::pending().await
    }

    /// Returns `true` if the run does not wait for a task that sleeps until then. The task is suspended, and runs
    /// again later.
    pub(crate) fn goes_to_sleep(&self, scratch: &TaskScratch, until: SystemTime) -> bool {
        if self.shared.steps.is_none() || scratch.is_busy() {
            return false;
        }
        let long = |limit| until.duration_since(now()).is_ok_and(|left| left > limit);
        self.is_stopping() || self.shared.longest_sleep.is_some_and(long)
    }
}

impl Wake {
    /// Returns the time; `None` if the clock cannot represent it.
    fn time(self) -> Option<SystemTime> {
        match self {
            Self::After(duration) => now().checked_add(duration),
            Self::At(time) => Some(time),
        }
    }
}

impl<'c> Sleep<'c> {
    /// Creates the timer of a question's deadline.
    pub(crate) fn of_deadline(cx: &'c Context, id: String, wake: Wake) -> Self {
        Self { cx, wake, id: Some(id), running: None }
    }
}

impl Sleep<'_> {
    /// Sets a key, which identifies the sleep inside its task instead of its order. A key that is used twice in an
    /// attempt fails the task.
    pub fn keyed(mut self, key: impl AsRef<str>) -> Self {
        if self.id.is_some() {
            let scratch = self.cx.scratch();
            let id = format!("={}", key.as_ref());
            // No id of an interrupt starts like this.
            if !scratch.key(&format!("sleep/{id}")) {
                scratch.fail(SleepError { reason: "its key is used twice in one attempt" }.into());
            }
            self.id = Some(id);
        }
        self
    }
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let running =
            this.running.get_or_insert_with(|| Box::pin(this.cx.run_sleep(this.id.clone(), this.wake)));
        // The timer alone does not let the node ask for an answer.
        let waker = this.cx.scratch().uncounted(cx.waker());
        running.as_mut().poll(&mut std::task::Context::from_waker(&waker))
    }
}

impl std::fmt::Debug for Sleep<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sleep").finish_non_exhaustive()
    }
}

/// The key of a sleep is too long.
#[derive(Debug, thiserror::Error)]
#[error(
    "a sleep cannot start: it has an id of {length} bytes, but at most {MAX_KEY_BYTES} can be stored: use a shorter key"
)]
struct LongKey {
    length: usize,
}

/// The reason why a sleep cannot start.
#[derive(Debug, thiserror::Error)]
#[error("a sleep cannot start: {reason}")]
struct SleepError {
    reason: &'static str,
}
