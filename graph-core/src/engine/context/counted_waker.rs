use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// A waker of an attempt that counts its holders. The count shows whether anything can still wake the attempt.
///
/// An attempt that was given an answer, or that has a timer which has fired, is polled with it. If the attempt is
/// pending, was not woken, and nothing holds a waker, its node will never ask for the answer or await the timer.
pub(crate) struct CountedWaker {
    waker: Mutex<Waker>,
    /// `true` if the attempt was woken since its last poll began.
    woken: AtomicBool,
}

impl CountedWaker {
    pub(crate) fn new(waker: &Waker) -> Arc<Self> {
        Arc::new(Self { waker: Mutex::new(waker.clone()), woken: AtomicBool::new(false) })
    }

    /// Sets the waker of the next poll.
    pub(crate) fn set(&self, waker: &Waker) {
        self.woken.store(false, Ordering::Relaxed);
        self.waker.lock().unwrap_or_else(PoisonError::into_inner).clone_from(waker);
    }

    /// Returns the number of wakers and other references. A holder that has gone has woken the attempt before.
    pub(crate) fn holders(self: &Arc<Self>) -> usize {
        let holders = Arc::strong_count(self);
        fence(Ordering::Acquire);
        holders
    }

    /// Returns `true` if the attempt was woken since its last poll began.
    pub(crate) fn was_woken(&self) -> bool {
        self.woken.load(Ordering::Relaxed)
    }
}

impl Wake for CountedWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Relaxed);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        waker.wake();
    }
}
