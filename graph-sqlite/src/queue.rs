use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Jobs on their way to a thread, in the order in which they came.
///
/// It needs no runtime, and nobody waits for room in it: a job is in the queue from its future's first poll on. The first
/// `bound` of them are accepted and will be done; one behind them is taken out again when its future is dropped. So there
/// are never more than `bound` jobs that nobody waits for.
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

/// A place in a queue; never 0.
pub(crate) type Ticket = u64;

impl<J> Queue<J> {
    pub(crate) fn new(bound: usize) -> Self {
        let state = State { jobs: VecDeque::new(), next: 1, closed: false };
        Self { state: Mutex::new(state), ready: Condvar::new(), bound }
    }

    pub(crate) fn push(&self, job: J) -> Ticket {
        let mut state = self.lock();
        let ticket = state.next;
        state.next += 1;
        state.jobs.push_back((ticket, job));
        drop(state);
        self.ready.notify_one();
        ticket
    }

    /// Nobody waits for this job any more. Whether it is done all the same.
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

    /// Waits for jobs, and takes at most so many; none once the queue is closed and empty.
    pub(crate) fn take(&self, most: usize) -> Vec<J> {
        let waiting = |state: &mut State<J>| state.jobs.is_empty() && !state.closed;
        let mut state = self.ready.wait_while(self.lock(), waiting).unwrap_or_else(PoisonError::into_inner);
        let count = state.jobs.len().min(most);
        state.jobs.drain(..count).map(|(_, job)| job).collect()
    }

    /// What is in the queue is still done.
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
    fn what_was_accepted_stays_and_what_waits_behind_it_can_be_taken_out() {
        let queue = Queue::new(2);
        let tickets: Vec<Ticket> = (0..5).map(|job| queue.push(job)).collect();
        assert!(queue.abandon(tickets[1]));
        assert!(!queue.abandon(tickets[3]));
        assert_eq!(queue.take(10), [0, 1, 2, 4]);
        assert!(queue.abandon(tickets[4]));
        queue.close();
        assert!(queue.take(10).is_empty());
    }

    #[test]
    fn a_closed_queue_gives_out_what_is_in_it() {
        let queue = Queue::new(1);
        queue.push("a");
        queue.push("b");
        queue.close();
        assert_eq!(queue.take(1), ["a"]);
        assert_eq!(queue.take(1), ["b"]);
        assert!(queue.take(1).is_empty());
    }
}
