use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

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

impl<'c, A> TimedInterrupt<'c, A> {
    pub(crate) fn new(interrupt: Interrupt<'c, A>, wake: Wake) -> Self {
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
