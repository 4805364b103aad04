use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::{EventId, LogBudget, Position, Resume};
use crate::protocol::StreamMode;

/// An event as it is sent to clients.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LoggedEvent {
    /// The mode that selects it; `None` for events that every client gets.
    pub(crate) mode: Option<StreamMode>,
    /// The name of the event, such as `values`.
    pub(crate) name: String,
    /// The data, as JSON on one line.
    pub(crate) data: String,
    /// The position of the run after the event.
    pub(crate) position: Option<Position>,
    /// `true` if an earlier execution of the run has sent the event.
    pub(crate) restored: bool,
}

impl LoggedEvent {
    /// Creates an event without a position.
    pub(crate) fn new(mode: Option<StreamMode>, name: impl Into<String>, data: String) -> Self {
        Self { mode, name: name.into(), data, position: None, restored: false }
    }

    fn size(&self) -> usize {
        self.name.len() + self.data.len() + size_of::<Self>()
    }
}

/// The events of one execution of a run.
///
/// Appending never waits: a reader that is slow has no effect on the run. The log keeps what its readers have not read, and all
/// events if it is resumable, up to a limit of bytes and the [budget](LogBudget) of all logs. A reader that falls behind the limit
/// is told that it has [missed](super::Missed) events.
#[derive(Debug)]
pub(crate) struct EventLog {
    epoch: u64,
    keeps_all: bool,
    limit: usize,
    budget: Arc<LogBudget>,
    inner: Mutex<Inner>,
    /// Wakes the readers that wait.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    events: VecDeque<Arc<LoggedEvent>>,
    /// The number of the first event in `events`.
    first: u64,
    bytes: usize,
    ended: bool,
    /// For each reader, the number of the next event that it reads.
    readers: Vec<(u64, u64)>,
    next_reader: u64,
    /// The length at which read events are removed. It doubles with what remains, so that the removal costs little.
    trim_at: usize,
}

/// The number of events below which read events are not removed.
const TRIM_AT: usize = 64;

/// The bytes after which a reader gets no further events at once. A connection holds them until its client has read them.
const BATCH_BYTES: usize = 32 << 10;

/// The next events of a reader.
#[derive(Debug)]
pub(super) enum Found {
    Events(Vec<(EventId, Arc<LoggedEvent>)>),
    /// The next event was removed.
    Missed,
    Nothing,
    Ended,
}

impl EventLog {
    /// Creates an empty log. With `keeps_all`, events stay after they were read.
    pub(crate) fn new(epoch: u64, keeps_all: bool, limit: usize, budget: &Arc<LogBudget>) -> Arc<Self> {
        let inner = Mutex::new(Inner { first: 1, trim_at: TRIM_AT, ..Inner::default() });
        let budget = Arc::clone(budget);
        budget.joined();
        Arc::new(Self { epoch, keeps_all, limit, budget, inner, changed: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the epoch of the events.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns `true` if events stay after they were read.
    pub(crate) fn keeps_all(&self) -> bool {
        self.keeps_all
    }

    /// Returns the bytes of the kept events.
    pub(crate) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Appends an event.
    pub(crate) fn push(&self, event: impl Into<Arc<LoggedEvent>>) {
        let event = event.into();
        {
            let mut inner = self.lock();
            if inner.ended {
                return;
            }
            let before = inner.bytes;
            if !self.keeps_all && inner.readers.is_empty() {
                // Readers begin with the events after it.
                inner.clear();
                inner.first += 1;
            } else {
                inner.bytes += event.size();
                inner.events.push_back(event);
                let allowed = self.budget.allowed(self.limit);
                while inner.bytes > allowed && inner.events.len() > 1 {
                    inner.remove_first();
                }
                if !self.keeps_all && inner.events.len() >= inner.trim_at {
                    inner.trim();
                }
            }
            self.budget.resized(before, inner.bytes);
        }
        self.changed.notify_waiters();
    }

    /// Ends the log: readers get the rest, and then the end.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_waiters();
    }

    /// Adds a reader. Returns its id, and the number of the next event that it reads.
    pub(super) fn join(&self, from: Resume) -> (u64, u64) {
        let mut inner = self.lock();
        let next = from.first(self.epoch).unwrap_or(inner.last() + 1);
        inner.next_reader += 1;
        let id = inner.next_reader;
        inner.readers.push((id, next));
        (id, next)
    }

    /// Completes when the log changes after the call.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Returns up to `limit` events from number `next` on.
    pub(super) fn from(&self, reader: u64, next: u64, limit: usize) -> Found {
        let mut inner = self.lock();
        if next < inner.first {
            return Found::Missed;
        }
        let skipped = usize::try_from(next - inner.first).unwrap_or(usize::MAX);
        let mut bytes = 0;
        let fits = |event: &&Arc<LoggedEvent>| {
            let fits = bytes < BATCH_BYTES;
            bytes += event.size();
            fits
        };
        let found: Vec<_> = inner.events.iter().skip(skipped).take(limit).take_while(fits).cloned().collect();
        if found.is_empty() {
            return if inner.ended { Found::Ended } else { Found::Nothing };
        }
        let read_to = next + found.len() as u64;
        if let Some((_, place)) = inner.readers.iter_mut().find(|(id, _)| *id == reader) {
            *place = read_to;
        }
        let id =
            |(n, event): (u64, &Arc<LoggedEvent>)| EventId { epoch: self.epoch, n, position: event.position };
        let ids: Vec<_> = (next..).zip(&found).map(id).collect();
        Found::Events(ids.into_iter().zip(found).collect())
    }

    pub(super) fn leave(&self, reader: u64) {
        let mut inner = self.lock();
        inner.readers.retain(|(id, _)| *id != reader);
        if !self.keeps_all {
            let before = inner.bytes;
            inner.trim();
            self.budget.resized(before, inner.bytes);
        }
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        self.budget.left(self.bytes());
    }
}

impl Inner {
    fn last(&self) -> u64 {
        self.first + self.events.len() as u64 - 1
    }

    fn remove_first(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.bytes -= event.size();
            self.first += 1;
        }
    }

    fn clear(&mut self) {
        while !self.events.is_empty() {
            self.remove_first();
        }
    }

    /// Removes the events that every reader has read.
    fn trim(&mut self) {
        let read = self.readers.iter().map(|(_, next)| *next).min().unwrap_or(u64::MAX);
        while self.first < read && !self.events.is_empty() {
            self.remove_first();
        }
        self.trim_at = TRIM_AT.max(self.events.len() * 2);
    }
}

#[cfg(test)]
mod tests;
