use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::database::Database;

use super::job::{CommitJob, Job};
use super::known_runs::KnownRuns;
use super::{commit, lists, threads};

/// The number of a write in its shard; never 0.
pub(super) type Ticket = u64;

/// The maximum number of abandoned writes that still run.
const MAX_ABANDONED: usize = 1_024;

/// The maximum number of batches in one call to the database. Each takes a lock there until the call ends.
const MAX_GROUP: usize = 128;

/// A call with more bytes takes no further batch.
const MAX_GROUP_BYTES: usize = 4 << 20;

/// A queue of writes, and the one task that makes them, in order.
#[derive(Default)]
pub(crate) struct Shard {
    state: Mutex<State>,
    /// Wakes the reads that wait for writes.
    progress: Notify,
    runs: KnownRuns,
}

/// Fails all waiting writes if the task that makes them has panicked.
struct FailOnPanic<'s>(&'s Shard);

impl Drop for FailOnPanic<'_> {
    fn drop(&mut self) {
        // A task that has ended by itself may have a successor by now.
        if !std::thread::panicking() {
            return;
        }
        let mut state = self.0.lock();
        state.is_running = false;
        state.done = state.last;
        let jobs = std::mem::take(&mut state.jobs);
        drop(state);
        // Their callers see that there will be no reply.
        drop(jobs);
        self.0.progress.notify_waiters();
    }
}

#[derive(Default)]
struct State {
    jobs: VecDeque<(Ticket, Job)>,
    last: Ticket,
    /// All writes up to this one are done.
    done: Ticket,
    last_abandoned: Ticket,
    is_running: bool,
    is_closed: bool,
}

/// Writes that are made together.
enum Group {
    Commits(Vec<CommitJob>),
    Other(Job),
}

impl Shard {
    /// Adds a write, unless the shard is closed.
    pub(super) fn push(self: &Arc<Self>, job: Job, database: &Arc<Database>) -> Option<Ticket> {
        let mut state = self.lock();
        if state.is_closed {
            return None;
        }
        state.last += 1;
        let ticket = state.last;
        state.jobs.push_back((ticket, job));
        // The task ends when the queue is empty, so an idle store holds nothing that keeps it alive.
        if !std::mem::replace(&mut state.is_running, true) {
            let (shard, database) = (Arc::clone(self), Arc::clone(database));
            let running = Arc::clone(&database);
            database.runtime().spawn(async move { shard.run(&running).await });
        }
        Some(ticket)
    }

    async fn run(&self, database: &Arc<Database>) {
        let _fail = FailOnPanic(self);
        while let Some((group, last)) = self.take() {
            match group {
                Group::Commits(jobs) => commit::commit(&self.runs, database, jobs).await,
                Group::Other(Job::Delete(job)) => threads::delete(database, job).await,
                Group::Other(Job::Copy(job)) => threads::copy(database, job).await,
                Group::Other(Job::Commit(job)) => commit::commit(&self.runs, database, vec![*job]).await,
            }
            self.lock().done = last;
            self.progress.notify_waiters();
        }
    }

    /// Takes the next writes, with the last ticket of them. Returns `None`, and ends the task, if there are none.
    fn take(&self) -> Option<(Group, Ticket)> {
        let mut state = self.lock();
        let (mut commits, mut bytes, mut last) = (Vec::new(), 0, state.done);
        while commits.len() < MAX_GROUP && bytes < MAX_GROUP_BYTES {
            match state.jobs.pop_front() {
                Some((ticket, Job::Commit(job))) => {
                    bytes += lists::size(&job.batch);
                    commits.push(*job);
                    last = ticket;
                }
                Some((ticket, other)) if commits.is_empty() => return Some((Group::Other(other), ticket)),
                Some(other) => {
                    state.jobs.push_front(other);
                    break;
                }
                None => break,
            }
        }
        if commits.is_empty() {
            state.is_running = false;
            state.done = state.last;
            return None;
        }
        Some((Group::Commits(commits), last))
    }

    /// Records that a caller no longer waits for its write. The write is made all the same, unless more than a thousand
    /// others are waiting before it.
    pub(super) fn abandon(&self, ticket: Ticket) {
        let mut state = self.lock();
        if state.done >= ticket {
            return;
        }
        if let Ok(place) = state.jobs.binary_search_by_key(&ticket, |(ticket, _)| *ticket)
            && place >= MAX_ABANDONED
        {
            let job = state.jobs.remove(place);
            drop(state);
            drop(job);
            return;
        }
        state.last_abandoned = state.last_abandoned.max(ticket);
    }

    /// Waits until all writes are done that were abandoned before.
    pub(super) async fn wait_for_abandoned(&self) {
        let until = self.lock().last_abandoned;
        self.wait_for(until).await;
    }

    pub(super) async fn wait_for_all(&self) {
        let until = self.lock().last;
        self.wait_for(until).await;
    }

    async fn wait_for(&self, ticket: Ticket) {
        loop {
            let mut progress = std::pin::pin!(self.progress.notified());
            progress.as_mut().enable();
            if self.lock().done >= ticket {
                return;
            }
            progress.await;
        }
    }

    pub(super) fn close(&self) {
        self.lock().is_closed = true;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
