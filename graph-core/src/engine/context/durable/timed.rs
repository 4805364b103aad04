use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use super::sleep::Wake;
use super::{Interrupt, Sleep};

/// A question that expires; created by [`Interrupt::within`] and [`Interrupt::until`]. Its output is the answer, or
/// `None` if the question has expired.
#[must_use = "a question is asked when the interrupt is awaited"]
pub struct TimedInterrupt<'c, A> {
    /// `None` once the question is answered or has expired.
    interrupt: Option<Interrupt<'c, A>>,
    wake: Wake,
    /// Created with the first poll.
    deadline: Option<(String, Sleep<'c>)>,
}

impl<'c, A> Interrupt<'c, A> {
    /// Lets the question expire: the output is `None` if no answer was given within `duration`.
    ///
    /// The duration is measured from the first time that the task asks. The task is suspended, and
    /// [`Pause::wakes_at`](crate::interrupt::Pause::wakes_at) returns the time at which the question expires. Resume
    /// the thread then: [`due`](crate::thread::PersistentGraph::due) lists it.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use superstep::{Context, GraphState, interrupt::Question};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Approve;
    /// # impl Question for Approve { type Answer = bool; }
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { approved: bool }
    /// async fn review(_: &Order, cx: &Context) -> OrderUpdate {
    ///     let day = Duration::from_secs(24 * 60 * 60);
    ///     let approved = cx.interrupt(Approve).within(day).await.unwrap_or(false);
    ///     Order::update().approved(approved)
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let order = Order::started(Order::input())?;
    /// # let update = review(&order, &Context::detached("review").answering::<Approve>(true)).await;
    /// # assert!(order.updated(update)?.approved);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// An answer and the deadline never compete. The expiry is stored before the node continues, and closes the
    /// question: a later answer is refused when it is given. An answer that was accepted before that wins, even if it
    /// came after the deadline.
    ///
    /// A question with a [key](Self::keyed) may be asked again after it has expired. It has the same id, and a deadline
    /// of its own.
    ///
    /// # Errors
    /// The task fails if the time is beyond the range of the system clock, or if tokio's timer is not enabled.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question. Its deadline is kept: the same question, asked again in a later attempt
    /// of the task, expires at the same time.
    ///
    /// # Durability
    /// With a checkpointer, the time is stored before the task is suspended, and the expiry before the output is `None`.
    pub fn within(self, duration: Duration) -> TimedInterrupt<'c, A> {
        TimedInterrupt::new(self, Wake::After(duration))
    }

    /// Lets the question expire at a time; otherwise like [`within`](Self::within).
    ///
    /// # Errors
    /// As [`within`](Self::within).
    ///
    /// # Cancel safety
    /// As [`within`](Self::within). The time of the first attempt counts.
    ///
    /// # Durability
    /// As [`within`](Self::within).
    pub fn until(self, time: SystemTime) -> TimedInterrupt<'c, A> {
        TimedInterrupt::new(self, Wake::At(time))
    }
}

impl<'c, A> TimedInterrupt<'c, A> {
    fn new(interrupt: Interrupt<'c, A>, wake: Wake) -> Self {
        Self { interrupt: Some(interrupt), wake, deadline: None }
    }

    /// Identifies the question by a key; see [`Interrupt::keyed`].
    ///
    /// Call it before the first poll: later it has no effect on the deadline.
    pub fn keyed(mut self, key: impl AsRef<str>) -> Self {
        self.interrupt = self.interrupt.map(|interrupt| interrupt.keyed(key));
        self
    }
}

impl<A> Future for TimedInterrupt<'_, A> {
    type Output = Option<A>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Option<A>> {
        let this = &mut *self;
        let Some(interrupt) = &mut this.interrupt else { return Poll::Pending };
        // Not both are ready: an answer and a timer take effect in the order in which they were recorded.
        if let Poll::Ready(answer) = Pin::new(&mut *interrupt).poll(cx) {
            (this.interrupt, this.deadline) = (None, None);
            return Poll::Ready(Some(answer));
        }
        let (id, deadline) = this.deadline.get_or_insert_with(|| interrupt.deadline(this.wake));
        if Pin::new(deadline).poll(cx).is_pending() {
            interrupt.expires(id);
            return Poll::Pending;
        }
        (this.interrupt, this.deadline) = (None, None);
        Poll::Ready(None)
    }
}

impl<A> std::fmt::Debug for TimedInterrupt<'_, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TimedInterrupt").field("interrupt", &self.interrupt).finish_non_exhaustive()
    }
}
