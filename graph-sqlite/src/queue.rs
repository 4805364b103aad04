use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A first-in, first-out queue of jobs for a thread.
///
/// Pushing needs no runtime and never waits: a job is in the queue from the first poll of its future. The first `bound`
/// jobs are accepted and will run. A job after them is removed when its future is dropped. So the queue never holds
/// more than `bound` jobs without a waiting caller.
#[derive(Debug)]
pub(crate) struct Queue<J> {
    state: Mutex<State<J>>,
    ready: Condvar,
    bound: usize,
}

#[derive(Debug)]
struct State<J> {
    jobs: VecDeque<(Ticket, J)>,
    next: Ticket,
    closed: bool,
}

/// The number of a job in its queue; never 0.
pub(crate) type Ticket = u64;

impl<J> Queue<J> {
    pub(crate) fn new(bound: usize) -> Self {
        let state = State { jobs: VecDeque::new(), next: 1, closed: false };
        Self { state: Mutex::new(state), ready: Condvar::new(), bound }
    }

    /// Adds a job, unless the queue is closed.
    pub(crate) fn push(&self, job: J) -> Option<Ticket> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        let ticket = state.next;
        state.next += 1;
        state.jobs.push_back((ticket, job));
        drop(state);
        self.ready.notify_one();
        Some(ticket)
    }

    /// Adds a job that was taken and has to run again, even if the queue is closed by now.
    pub(crate) fn push_again(&self, job: J) {
        let mut state = self.lock();
        let ticket = state.next;
        state.next += 1;
        state.jobs.push_back((ticket, job));
        drop(state);
        self.ready.notify_one();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Tells the queue that the job's caller stopped waiting. Returns `true` if the job runs all the same.
    pub(crate) fn abandon(&self, ticket: Ticket) -> bool {
        let mut state = self.lock();
        if let Ok(place) = state.jobs.binary_search_by_key(&ticket, |(ticket, _)| *ticket)
            && place >= self.bound
        {
            let job = state.jobs.remove(place);
            drop(state);
            drop(job);
            return false;
        }
        true
    }

    /// Waits for jobs. Returns `false` once the queue is closed and empty.
    pub(crate) fn wait(&self) -> bool {
        !self.wait_locked().jobs.is_empty()
    }

    /// Waits for jobs and takes at max `max`. Returns an empty list once the queue is closed and empty.
    pub(crate) fn take(&self, max: usize) -> Vec<J> {
        let mut state = self.wait_locked();
        let count = state.jobs.len().min(max);
        state.jobs.drain(..count).map(|(_, job)| job).collect()
    }

    fn wait_locked(&self) -> MutexGuard<'_, State<J>> {
        let waiting = |state: &mut State<J>| state.jobs.is_empty() && !state.closed;
        self.ready.wait_while(self.lock(), waiting).unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the queue is open and has no jobs.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.jobs.is_empty() && !state.closed
    }

    /// Closes the queue. Jobs that are already in it still run.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.ready.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_jobs_after_the_bound_can_be_abandoned() {
        let queue = Queue::new(2);
        let tickets: Vec<Ticket> = (0..5).map(|job| queue.push(job).unwrap()).collect();
        assert!(queue.abandon(tickets[1]));
        assert!(!queue.abandon(tickets[3]));
        assert_eq!(queue.take(10), [0, 1, 2, 4]);
        assert!(queue.abandon(tickets[4]));
        queue.close();
        assert!(queue.take(10).is_empty());
    }

    #[test]
    fn closed_queue_still_returns_its_jobs() {
        let queue = Queue::new(1);
        queue.push("a");
        queue.push("b");
        queue.close();
        assert_eq!(queue.push("late"), None);
        assert_eq!(queue.take(1), ["a"]);
        queue.push_again("a");
        assert_eq!(queue.take(1), ["b"]);
        assert_eq!(queue.take(1), ["a"]);
        assert!(queue.take(1).is_empty());
    }
}
