use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use super::{NewEvent, ThreadEvent};
use crate::events::LogBudget;

/// The newest events of a thread, up to a limit of bytes and the [budget](LogBudget) of all logs.
///
/// The numbers of events have no gaps. They begin with the time at which the log was created, so that they still grow if the
/// log is forgotten, or the server is started again, and a new log is created.
#[derive(Debug)]
pub(super) struct ThreadLog {
    limit: usize,
    budget: Arc<LogBudget>,
    /// The number before the first.
    epoch: u64,
    inner: Mutex<Inner>,
    /// The number of the last event, for readers that wait.
    last: watch::Sender<u64>,
}

#[derive(Debug)]
struct Inner {
    events: VecDeque<Arc<ThreadEvent>>,
    /// The number of the next event.
    next: u64,
    bytes: usize,
    closed: bool,
}

/// A thousand numbers for each millisecond. They stay below 2^53, which is exact in JavaScript, for two centuries.
const NUMBERS_PER_MILLISECOND: u64 = 1_000;

/// The bytes after which a reader gets no further events at once. A connection holds them until its client has read them.
const BATCH_BYTES: usize = 32 << 10;

impl ThreadLog {
    /// Creates an empty log that keeps up to `limit` bytes.
    pub(super) fn new(limit: usize, budget: &Arc<LogBudget>) -> Self {
        budget.joined();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since.as_millis()).unwrap_or_default();
        let next = millis.saturating_mul(NUMBERS_PER_MILLISECOND).max(1);
        let inner = Inner { events: VecDeque::new(), next, bytes: 0, closed: false };
        let (budget, last) = (Arc::clone(budget), watch::Sender::new(next - 1));
        Self { limit, budget, epoch: next - 1, inner: Mutex::new(inner), last }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a number that grows with each log of the thread.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Appends events. The oldest are removed to keep the limit; the newest stays in any case.
    pub(super) fn push(&self, events: impl IntoIterator<Item = NewEvent>) {
        let last = {
            let mut inner = self.lock();
            let before = inner.bytes;
            for event in events {
                let event = ThreadEvent::of(event, inner.next);
                inner.next += 1;
                inner.bytes += event.size();
                inner.events.push_back(Arc::new(event));
                let allowed = self.budget.allowed(self.limit);
                while inner.bytes > allowed && inner.events.len() > 1 {
                    if let Some(event) = inner.events.pop_front() {
                        inner.bytes -= event.size();
                    }
                }
            }
            self.budget.resized(before, inner.bytes);
            inner.next - 1
        };
        self.last.send_replace(last);
    }

    /// Ends the log: readers get the rest, and then the end.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.last.send_modify(|_| {});
    }

    /// Returns the number of the last event.
    pub(super) fn last(&self) -> u64 {
        self.lock().next - 1
    }

    /// Returns the number of the last event, to wait for the next.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    pub(super) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Returns up to `limit` events from a number on, the number after them, and whether the log is closed.
    pub(super) fn from(&self, next: u64, limit: usize) -> (ThreadBatch, u64, bool) {
        let inner = self.lock();
        let first = inner.next - inner.events.len() as u64;
        let skipped = usize::try_from(next.saturating_sub(first)).unwrap_or(usize::MAX);
        let mut bytes = 0;
        let fits = |event: &&Arc<ThreadEvent>| {
            let fits = bytes < BATCH_BYTES;
            bytes += event.size();
            fits
        };
        let events: Vec<_> =
            inner.events.iter().skip(skipped).take(limit).take_while(fits).cloned().collect();
        // A client that has seen events of an earlier log may have missed the rest of it.
        let missed = (next < first && (next > 0 || first > self.epoch + 1)).then(|| first - 1);
        let next = events.last().map_or(next.max(first), |last| last.seq + 1);
        (ThreadBatch { missed, events }, next, inner.closed)
    }
}

impl Drop for ThreadLog {
    fn drop(&mut self) {
        self.budget.left(self.bytes());
    }
}

/// The next events of a reader.
#[derive(Debug)]
pub(crate) struct ThreadBatch {
    /// The number of the last event before them that was removed before the reader has read it.
    pub(crate) missed: Option<u64>,
    pub(crate) events: Vec<Arc<ThreadEvent>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread_stream::Channel;

    fn event() -> NewEvent {
        NewEvent { data: "\"0123456789\"".to_owned(), ..NewEvent::of(Channel::Values, Vec::new()) }
    }

    #[test]
    fn the_oldest_events_make_room() {
        let size = ThreadEvent::of(event(), 1_000_000_000_000_000).size();
        let log = ThreadLog::new(3 * size + size / 2, &LogBudget::new(usize::MAX));
        let start = log.last();
        log.push(std::iter::repeat_with(event).take(5));
        let (found, next, closed) = log.from(start + 1, 10);
        let numbers: Vec<_> = found.events.iter().map(|event| event.seq - start).collect();
        assert_eq!((numbers, next, closed), (vec![3, 4, 5], start + 6, false));
        assert_eq!(found.missed, Some(start + 2));
        assert_eq!(log.from(start + 4, 1).0.events.len(), 1);
        let (none, ..) = log.from(start + 6, 10);
        assert!(none.events.is_empty() && none.missed.is_none());
        assert!(log.bytes() <= 3 * size + size / 2);
    }

    #[test]
    fn an_event_above_the_limit_is_kept_alone() {
        let log = ThreadLog::new(1, &LogBudget::new(usize::MAX));
        log.push([event(), event()]);
        assert_eq!(log.from(0, 10).0.events.len(), 1);
    }

    #[test]
    fn a_later_log_has_greater_numbers() {
        let budget = LogBudget::new(usize::MAX);
        let log = ThreadLog::new(1_000, &budget);
        log.push([event()]);
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(ThreadLog::new(1_000, &budget).last() > log.last());
        assert!(log.last() < 1 << 53);
    }

    #[test]
    fn logs_above_the_budget_keep_their_newest_events() {
        let budget = LogBudget::new(1 << 20);
        let long = || NewEvent { data: format!("\"{}\"", "x".repeat(10_000)), ..event() };
        let logs: Vec<_> = (0..8).map(|_| ThreadLog::new(8 << 20, &budget)).collect();
        for _ in 0..50 {
            for log in &logs {
                log.push([long()]);
            }
        }
        let kept: usize = logs.iter().map(ThreadLog::bytes).sum();
        assert!((1 << 19..=(1 << 20) + 8 * 11_000).contains(&kept), "{kept}");
        drop(logs);
        // What is gone leaves room for others.
        let log = ThreadLog::new(8 << 20, &budget);
        log.push(std::iter::repeat_with(long).take(50));
        assert!(log.bytes() > 500_000, "{}", log.bytes());
    }

    #[test]
    fn only_a_reader_that_was_too_late_has_missed_events() {
        let budget = LogBudget::new(usize::MAX);
        let log = ThreadLog::new(1 << 20, &budget);
        let start = log.last();
        log.push([event(), event()]);
        for (next, missed) in [(0, None), (start + 1, None), (start + 2, None), (start - 5, Some(start))] {
            assert_eq!(log.from(next, 10).0.missed, missed);
        }
    }
}
