use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use futures_util::future::select;

use crate::checkpoint::RecordKind;
use crate::engine::Context;
use crate::engine::attempt::contained;
use crate::engine::clock::{from_millis, now, to_millis};
use crate::payload::Payload;

use super::Desk;
use super::step::OF_HANDLER;

/// A durable sleep; made by [`Context::sleep`] and [`Context::sleep_until`]. It begins when it is awaited.
#[must_use = "a sleep begins when it is awaited"]
pub struct Sleep<'c> {
    cx: &'c Context,
    wake: Wake,
    /// Which of its task's sleeps it is; none of them inside a durable step, which is not run again.
    id: Option<String>,
    resting: Option<Pin<Box<dyn Future<Output = ()> + Send + 'c>>>,
}

#[derive(Clone, Copy)]
enum Wake {
    After(Duration),
    At(SystemTime),
}

/// The clock is looked at so often: it may be set, and a machine may be suspended.
const LOOK: Duration = Duration::from_secs(60);

impl Context {
    /// Sleeps, durably: when to wake up is stored before it begins, and a node that runs again —after a crash, an answer, a
    /// failure— sleeps for the rest.
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
    /// // In the process, as long as it lives; or, with this option, in the store alone:
    /// let run = graph.thread("17").run(Order::input()).suspend_sleeps_longer_than(Duration::from_secs(60));
    /// let outcome = run.await?;
    /// let due = outcome.pause().and_then(|pause| pause.wakes_at()).expect("it is asleep");
    ///
    /// // What a timer of the program's does now and then:
    /// # assert!(graph.due(due - Duration::from_secs(1)).await?.is_empty());
    /// for sleeper in graph.due(due).await? {
    ///     sleeper.thread.resume(()).suspend_sleeps_longer_than(Duration::from_secs(60)).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Which of the node's sleeps it is, is told by the order in which the node makes them; where that order may change from
    /// one attempt to the next, give it a [key](Sleep::keyed). Inside a [`step`](Self::step), and in a run without a store, it
    /// is a plain sleep; the latter remembers it for as long as the superstep is under way.
    ///
    /// On a thread a run that was told to [stop](crate::run::Stop) does not wait for sleepers, unless they have a step under
    /// way. Next to a question it says when the question has run out: see [`Pause::wakes_at`](crate::interrupt::Pause::wakes_at).
    ///
    /// The task fails, whatever the node makes of it, if the time cannot be stored or is further away than a clock can tell,
    /// and without tokio's timer (`enable_time`).
    ///
    /// # Durability
    /// The time to wake up is durable, with all that it hangs on, before it begins.
    ///
    /// # Cancel safety
    /// A dropped sleep is over for this attempt; one that was begun wakes at the same time when the node runs again.
    pub fn sleep(&self, duration: Duration) -> Sleep<'_> {
        self.rest(Wake::After(duration))
    }

    /// The same until a time; over at once if that has passed.
    ///
    /// A node that runs again sleeps until the time that it gave first.
    pub fn sleep_until(&self, time: SystemTime) -> Sleep<'_> {
        self.rest(Wake::At(time))
    }

    fn rest(&self, wake: Wake) -> Sleep<'_> {
        let desk = self.desk();
        // A step that has finished is not run again: what is in it must not count.
        let id = (!desk.is_in_step()).then(|| desk.nth_sleep().to_string());
        Sleep { cx: self, wake, id, resting: None }
    }

    /// When the task is to wake up: the time that it gave first, or this one.
    fn wakes(&self, id: Option<&str>, wake: Wake) -> Option<(SystemTime, bool)> {
        if let Some(known) = id.and_then(|id| self.memo(|memo| memo.sleeps.get(id).copied())) {
            return Some((from_millis(known)?, true));
        }
        let until = match wake {
            Wake::After(duration) => now().checked_add(duration)?,
            Wake::At(time) => time,
        };
        Some((from_millis(to_millis(until))?, false))
    }

    async fn sleeps(&self, id: Option<String>, wake: Wake) {
        let desk = self.desk();
        // The sleeps of the node that has failed are not the handler's.
        let id = match desk.failure() {
            None => id,
            Some(_) => id.map(|id| format!("{OF_HANDLER}{id}")),
        };
        let Some((until, known)) = self.wakes(id.as_deref(), wake) else {
            return self.sleepless("it would last for longer than a clock can tell").await;
        };
        // Told before anything is waited for: a question next to it suspends the task at once.
        let _asleep = id.is_some().then(|| desk.asleep(until));
        if let (Some(id), false) = (&id, known) {
            self.memo(|memo| memo.sleeps.insert(id.clone(), to_millis(until)));
            if let Some(log) = &self.shared.steps {
                let payload = Payload::json(to_millis(until).to_string());
                if let Err(error) = log.record(self.at.task, RecordKind::Sleep, id, payload).await {
                    desk.fail(error);
                    return std::future::pending().await;
                }
            }
        }
        // Whoever is told to stop is polled then, and seen to be asleep.
        let mut told = id.is_none() || self.shared.steps.is_none() || self.is_stopping();
        while let Ok(left) = until.duration_since(now())
            && !left.is_zero()
        {
            // Tokio panics where its timer is not enabled.
            let Ok(timer) = contained(|| tokio::time::sleep(left.min(LOOK))) else {
                return self
                    .sleepless("it needs a tokio runtime with its timer enabled (`enable_time`)")
                    .await;
            };
            if told {
                timer.await;
            } else {
                select(pin!(timer), pin!(self.stopping())).await;
                told = self.is_stopping();
            }
        }
    }

    /// A sleep that cannot be slept fails the attempt.
    async fn sleepless(&self, reason: &'static str) {
        self.desk().fail(SleepError { reason }.into());
        std::future::pending().await
    }

    /// Whether the task is not to be waited for that sleeps until then: it is stored, and begun anew.
    pub(in crate::engine) fn goes_to_sleep(&self, desk: &Desk, until: SystemTime) -> bool {
        if self.shared.steps.is_none() || desk.has_steps() {
            return false;
        }
        let long = |limit| until.duration_since(now()).is_ok_and(|left| left > limit);
        self.is_stopping() || self.shared.longest_sleep.is_some_and(long)
    }
}

impl Sleep<'_> {
    /// Gives it a key, which tells it from the other sleeps of its task. One that is used twice in an attempt fails the task.
    pub fn keyed(mut self, key: impl AsRef<str>) -> Self {
        if self.id.is_some() {
            let desk = self.cx.desk();
            let id = format!("={}", key.as_ref());
            // No question's id begins so.
            if !desk.key(&format!("sleep/{id}")) {
                desk.fail(SleepError { reason: "its key is used twice in one attempt" }.into());
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
        let resting = this.resting.get_or_insert_with(|| Box::pin(this.cx.sleeps(this.id.take(), this.wake)));
        resting.as_mut().poll(cx)
    }
}

impl std::fmt::Debug for Sleep<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sleep").finish_non_exhaustive()
    }
}

/// Why a sleep cannot be slept.
#[derive(Debug, thiserror::Error)]
#[error("a sleep cannot be begun: {reason}")]
struct SleepError {
    reason: &'static str,
}
