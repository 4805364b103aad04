use std::collections::VecDeque;
use std::sync::Arc;

use super::LiveRun;
use super::job::Job;
use crate::protocol::{CancelAction, MultitaskStrategy, RunId};

/// The unfinished runs of a thread, in the order in which they were accepted.
#[derive(Default)]
pub(super) struct ThreadQueue {
    /// The run that is executed.
    active: Option<Arc<LiveRun>>,
    /// `true` while something else changes the thread.
    held: bool,
    waiting: VecDeque<Waiting>,
    /// Runs whose time has not come. They let others pass.
    delayed: Vec<Waiting>,
}

/// A run that waits for its turn or its time.
struct Waiting {
    live: Arc<LiveRun>,
    /// `None` until the run is stored.
    job: Option<Box<Job>>,
}

/// The reason why a run is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The thread is busy, and the run does not want to wait.
    Busy,
    /// Too many runs wait.
    Full,
}

/// The maximum number of runs that wait on a thread.
const MAX_WAITING: usize = 1_000;

impl ThreadQueue {
    /// Returns `true` if the thread has no unfinished run, and nothing else changes it.
    pub(super) fn is_idle(&self) -> bool {
        self.is_free() && self.delayed.is_empty()
    }

    /// Returns `true` if a new run would start at once.
    fn is_free(&self) -> bool {
        self.active.is_none() && self.waiting.is_empty() && !self.held
    }

    /// Returns `true` if another run than this one is active, or waits for its turn. A run that has stored its end is not
    /// active any longer.
    pub(super) fn has_others(&self, run: RunId) -> bool {
        let is_other = |live: &LiveRun| live.run_id != run && !live.has_left_thread();
        self.active.as_deref().is_some_and(is_other)
            || self.waiting.iter().any(|waiting| is_other(&waiting.live))
    }

    /// Returns the runs, in order.
    pub(super) fn runs(&self) -> impl Iterator<Item = &Arc<LiveRun>> {
        let queued = self.waiting.iter().chain(&self.delayed);
        self.active.iter().chain(queued.map(|waiting| &waiting.live))
    }

    /// Takes the last place for a run. Returns `true` if its turn has come. A `delayed` run takes it when it is
    /// [due](Self::due).
    pub(super) fn reserve(
        &mut self,
        live: &Arc<LiveRun>,
        strategy: MultitaskStrategy,
        delayed: bool,
    ) -> Result<bool, Refused> {
        if strategy == MultitaskStrategy::Reject && !self.is_idle() {
            return Err(Refused::Busy);
        }
        if self.waiting.len() + self.delayed.len() >= MAX_WAITING {
            return Err(Refused::Full);
        }
        let cancelled = match strategy {
            MultitaskStrategy::Interrupt => Some(CancelAction::Interrupt),
            MultitaskStrategy::Rollback => Some(CancelAction::Rollback),
            MultitaskStrategy::Reject | MultitaskStrategy::Enqueue => None,
        };
        if let Some(action) = cancelled {
            for run in self.runs() {
                run.request_cancel(action);
            }
            // A cancelled run ends when its turn comes.
            self.waiting.extend(self.delayed.drain(..));
        }
        let place = Waiting { live: Arc::clone(live), job: None };
        if delayed {
            self.delayed.push(place);
            return Ok(false);
        }
        let first = self.is_free();
        self.waiting.push_back(place);
        Ok(first)
    }

    /// Gives a delayed run the last place. Returns `true` if a worker has to be started.
    pub(super) fn due(&mut self, run: RunId) -> bool {
        if let Some(place) = self.delayed.iter().position(|waiting| waiting.live.run_id == run) {
            self.waiting.push_back(self.delayed.remove(place));
        }
        self.is_ready()
    }

    /// Completes a place. Returns `true` if a worker has to be started.
    pub(super) fn fill(&mut self, job: Box<Job>) -> bool {
        let id = job.live.run_id;
        // The place is one of the last.
        let mut places = self.waiting.iter_mut().rev().chain(self.delayed.iter_mut().rev());
        if let Some(waiting) = places.find(|waiting| waiting.live.run_id == id) {
            waiting.job = Some(job);
        }
        self.is_ready()
    }

    fn is_ready(&self) -> bool {
        self.active.is_none() && !self.held && self.waiting.front().is_some_and(|first| first.job.is_some())
    }

    /// Gives up the place of a run that was not stored. Returns `true` if a worker has to be started.
    pub(super) fn give_up(&mut self, run: RunId) -> bool {
        let stays = |waiting: &Waiting| waiting.live.run_id != run || waiting.job.is_some();
        self.waiting.retain(stays);
        self.delayed.retain(stays);
        self.is_ready()
    }

    /// Takes a run that waits out of the queue.
    pub(super) fn take(&mut self, run: RunId) -> Option<Box<Job>> {
        let found = |waiting: &Waiting| waiting.live.run_id == run && waiting.job.is_some();
        if let Some(place) = self.delayed.iter().position(found) {
            return self.delayed.remove(place).job;
        }
        let place = self.waiting.iter().position(found)?;
        self.waiting.remove(place)?.job
    }

    /// Makes the first run the active one, if it is stored and no other is active.
    pub(super) fn start_next(&mut self) -> Option<Box<Job>> {
        if !self.is_ready() {
            return None;
        }
        let job = self.waiting.pop_front()?.job?;
        self.active = Some(Arc::clone(&job.live));
        Some(job)
    }

    /// The active run has ended.
    pub(super) fn finish(&mut self) {
        self.active = None;
    }

    /// Holds a thread on which no run is active or waits for its turn. Runs that come meanwhile wait.
    pub(super) fn hold(&mut self) -> bool {
        let free = self.is_free();
        self.held |= free;
        free
    }

    /// Releases the thread. Returns `true` if a worker has to be started.
    pub(super) fn release(&mut self) -> bool {
        self.held = false;
        self.is_ready()
    }
}

#[cfg(test)]
mod tests {
    use superstep::run::Stop;

    use super::*;
    use crate::events::{EventLog, LogBudget};

    fn run() -> Arc<LiveRun> {
        let ids = crate::log::RunIds { run: RunId::new(), thread: None, graph: String::new() };
        LiveRun::new(ids, None, EventLog::new(1, false, 0, &LogBudget::new(0)), Stop::new())
    }

    fn reserve(
        queue: &mut ThreadQueue,
        strategy: MultitaskStrategy,
    ) -> (Arc<LiveRun>, Result<bool, Refused>) {
        let run = run();
        let reserved = queue.reserve(&run, strategy, false);
        (run, reserved)
    }

    fn delay(queue: &mut ThreadQueue) -> Arc<LiveRun> {
        let run = run();
        assert_eq!(queue.reserve(&run, MultitaskStrategy::Enqueue, true), Ok(false));
        run
    }

    #[test]
    fn strategies_decide_about_the_runs_before() {
        for (strategy, accepted, cancelled) in [
            (MultitaskStrategy::Reject, Err(Refused::Busy), None),
            (MultitaskStrategy::Enqueue, Ok(false), None),
            (MultitaskStrategy::Interrupt, Ok(false), Some(CancelAction::Interrupt)),
            (MultitaskStrategy::Rollback, Ok(false), Some(CancelAction::Rollback)),
        ] {
            let mut queue = ThreadQueue::default();
            let (first, reserved) = reserve(&mut queue, MultitaskStrategy::Reject);
            assert_eq!(reserved, Ok(true));
            let (second, reserved) = reserve(&mut queue, strategy);
            assert_eq!(reserved, accepted, "{strategy:?}");
            assert_eq!((first.cancel_requested(), second.cancel_requested()), (cancelled, None));
        }
    }

    #[test]
    fn a_held_thread_makes_runs_wait() {
        let mut queue = ThreadQueue::default();
        assert!(queue.hold());
        assert!(!queue.hold());
        assert_eq!(reserve(&mut queue, MultitaskStrategy::Reject).1, Err(Refused::Busy));
        let (run, reserved) = reserve(&mut queue, MultitaskStrategy::Enqueue);
        assert_eq!(reserved, Ok(false));
        assert!(queue.start_next().is_none());
        // The run is not stored yet, so nothing starts.
        assert!(!queue.release());
        assert!(!queue.give_up(run.run_id));
        assert!(queue.is_idle());
    }

    #[test]
    fn a_delayed_run_lets_others_pass() {
        let mut queue = ThreadQueue::default();
        let later = delay(&mut queue);
        assert!(!queue.is_idle());
        assert!(queue.hold());
        assert!(!queue.release());
        assert_eq!(reserve(&mut queue, MultitaskStrategy::Reject).1, Err(Refused::Busy));
        let (first, reserved) = reserve(&mut queue, MultitaskStrategy::Enqueue);
        assert_eq!(reserved, Ok(true));
        queue.due(later.run_id);
        let order: Vec<_> = queue.runs().map(|run| run.run_id).collect();
        assert_eq!(order, [first.run_id, later.run_id]);
    }

    #[test]
    fn a_delayed_run_is_cancelled_by_the_strategies() {
        let mut queue = ThreadQueue::default();
        let later = delay(&mut queue);
        let (new, reserved) = reserve(&mut queue, MultitaskStrategy::Rollback);
        assert_eq!((reserved, later.cancel_requested()), (Ok(false), Some(CancelAction::Rollback)));
        assert_eq!(new.cancel_requested(), None);
        assert_eq!(queue.waiting.len(), 2);
    }

    #[test]
    fn a_full_queue_refuses_runs() {
        let mut queue = ThreadQueue::default();
        for _ in 0..MAX_WAITING {
            assert!(reserve(&mut queue, MultitaskStrategy::Enqueue).1.is_ok());
        }
        assert_eq!(reserve(&mut queue, MultitaskStrategy::Enqueue).1, Err(Refused::Full));
    }
}
