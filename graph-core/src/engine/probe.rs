use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// A waker of an attempt that tells whether anything can still wake the attempt.
///
/// An attempt that was given an answer is polled with it. If the attempt is pending and nothing holds a waker, its node
/// will never ask for the answer.
pub(super) struct Probe(Mutex<Waker>);

impl Probe {
    pub(super) fn new(waker: &Waker) -> Arc<Self> {
        Arc::new(Self(Mutex::new(waker.clone())))
    }

    /// Sets the waker of the next poll.
    pub(super) fn set(&self, waker: &Waker) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone_from(waker);
    }
}

impl Wake for Probe {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waker = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        waker.wake();
    }
}
