use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::NewEvent;
use super::thread_log::ThreadLog;
use crate::events::{EventLog, LogBudget, LogReader, LoggedEvent, Resume};
use crate::protocol::ThreadId;

/// The events of all threads that have readers, or whose runs send them.
#[derive(Debug, Default)]
pub(crate) struct ThreadStreams {
    inner: Mutex<Inner>,
    /// The number of threads whose classic events are kept.
    classic: AtomicUsize,
    /// Limits the bytes of all events of the server.
    budget: Arc<LogBudget>,
}

#[derive(Debug, Default)]
struct Inner {
    streams: HashMap<ThreadId, Entry>,
    /// The threads without readers and runs, oldest first. A thread that is in use again has another number.
    unused: VecDeque<Unused>,
    /// The bytes of their events.
    bytes: usize,
    next_unused: u64,
    closed: bool,
}

#[derive(Debug)]
struct Entry {
    log: Arc<ThreadLog>,
    /// The classic events of all runs, from the first reader on.
    classic: Option<Arc<EventLog>>,
    /// The number of readers and runs.
    users: usize,
    /// The number in the list of unused threads.
    unused: u64,
}

#[derive(Debug)]
struct Unused {
    thread: ThreadId,
    number: u64,
    since: Instant,
    bytes: usize,
}

/// The bytes of events that are kept for one thread.
const THREAD_BYTES: usize = 8 << 20;

/// The time for which the events of a thread without readers and runs are kept.
const KEEP_UNUSED: Duration = Duration::from_secs(300);

/// The number of unused threads whose events are kept.
const KEEP_THREADS: usize = 1_000;

/// The bytes of events of unused threads that are kept.
const KEEP_BYTES: usize = 64 << 20;

impl ThreadStreams {
    /// Creates an empty registry. Its logs take part in a budget.
    pub(crate) fn new(budget: &Arc<LogBudget>) -> Self {
        Self { budget: Arc::clone(budget), ..Self::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the events of a thread. They are kept at least as long as the result.
    pub(crate) fn open(self: &Arc<Self>, thread: ThreadId) -> ThreadUse {
        let mut inner = self.lock();
        let closed = inner.closed;
        let entry = inner.streams.entry(thread).or_insert_with(|| {
            let log = Arc::new(ThreadLog::new(THREAD_BYTES, &self.budget));
            if closed {
                log.close();
            }
            Entry { log, classic: None, users: 0, unused: 0 }
        });
        entry.users += 1;
        ThreadUse { streams: Arc::clone(self), thread, log: Arc::clone(&entry.log) }
    }

    /// Returns the events of a thread if they are kept.
    pub(crate) fn find(self: &Arc<Self>, thread: ThreadId) -> Option<ThreadUse> {
        let mut inner = self.lock();
        let entry = inner.streams.get_mut(&thread)?;
        entry.users += 1;
        Some(ThreadUse { streams: Arc::clone(self), thread, log: Arc::clone(&entry.log) })
    }

    /// Ends the events of all threads: readers get the rest, and then the end.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        inner.streams.values().for_each(Entry::close);
    }

    /// Ends the events of a thread that is deleted, and removes them.
    pub(crate) fn forget(&self, thread: ThreadId) {
        if let Some(entry) = self.lock().streams.remove(&thread) {
            entry.close();
            self.count_removed(&entry);
        }
    }

    /// Appends a classic event, if a client has read those of the thread. The event is only made then.
    pub(crate) fn push_classic<E: Into<Arc<LoggedEvent>>>(
        &self,
        thread: ThreadId,
        event: impl FnOnce() -> E,
    ) {
        if self.classic.load(Ordering::Acquire) == 0 {
            return;
        }
        let log = self.lock().streams.get(&thread).and_then(|entry| entry.classic.clone());
        if let Some(log) = log {
            log.push(event());
        }
    }

    fn count_removed(&self, entry: &Entry) {
        if entry.classic.is_some() {
            self.classic.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Returns the classic events of a thread.
    fn classic(&self, thread: ThreadId, log: &Arc<ThreadLog>) -> Arc<EventLog> {
        let mut inner = self.lock();
        let closed = inner.closed;
        let create = || {
            let classic = EventLog::new(log.epoch(), true, THREAD_BYTES, &self.budget);
            if closed {
                classic.end();
            }
            classic
        };
        // A thread that was forgotten has no further events.
        match inner.streams.get_mut(&thread).filter(|entry| Arc::ptr_eq(&entry.log, log)) {
            None => create(),
            Some(entry) => Arc::clone(entry.classic.get_or_insert_with(|| {
                self.classic.fetch_add(1, Ordering::AcqRel);
                create()
            })),
        }
    }

    fn leave(&self, thread: ThreadId, log: &Arc<ThreadLog>) {
        let mut inner = self.lock();
        let number = inner.next_unused;
        // A thread that was forgotten may have come back with another log.
        let entry = inner.streams.get_mut(&thread).filter(|entry| Arc::ptr_eq(&entry.log, log));
        let Some(entry) = entry else { return };
        entry.users -= 1;
        if entry.users > 0 {
            return;
        }
        let bytes = entry.log.bytes() + entry.classic.as_ref().map_or(0, |classic| classic.bytes());
        if bytes == 0 {
            if let Some(entry) = inner.streams.remove(&thread) {
                self.count_removed(&entry);
            }
            return;
        }
        entry.unused = number;
        inner.next_unused += 1;
        inner.bytes += bytes;
        inner.unused.push_back(Unused { thread, number, since: Instant::now(), bytes });
        for entry in inner.trim() {
            self.count_removed(&entry);
        }
    }
}

impl Inner {
    /// Removes the threads that are unused for too long, or that are too many, and returns them.
    fn trim(&mut self) -> Vec<Entry> {
        let now = Instant::now();
        let mut removed = Vec::new();
        while let Some(oldest) = self.unused.front() {
            let old = now.duration_since(oldest.since) > KEEP_UNUSED;
            if !old && self.unused.len() <= KEEP_THREADS && self.bytes <= KEEP_BYTES {
                break;
            }
            let Some(oldest) = self.unused.pop_front() else { break };
            self.bytes -= oldest.bytes;
            let is_unused = |entry: &Entry| entry.users == 0 && entry.unused == oldest.number;
            if self.streams.get(&oldest.thread).is_some_and(is_unused) {
                removed.extend(self.streams.remove(&oldest.thread));
            }
        }
        removed
    }
}

impl Entry {
    fn close(&self) {
        self.log.close();
        if let Some(classic) = &self.classic {
            classic.end();
        }
    }
}

/// The events of a thread, for a reader or a run.
#[derive(Debug)]
pub(crate) struct ThreadUse {
    streams: Arc<ThreadStreams>,
    thread: ThreadId,
    log: Arc<ThreadLog>,
}

impl ThreadUse {
    pub(super) fn log(&self) -> &ThreadLog {
        &self.log
    }

    /// Appends events.
    pub(crate) fn push(&self, events: impl IntoIterator<Item = NewEvent>) {
        self.log.push(events);
    }

    /// Returns the number of the last event.
    pub(crate) fn last(&self) -> u64 {
        self.log.last()
    }

    /// Returns a reader of the classic events, which are kept from the first such reader on.
    pub(crate) fn read_classic(&self, from: Resume) -> LogReader {
        self.streams.classic(self.thread, &self.log).read(from)
    }
}

impl Drop for ThreadUse {
    fn drop(&mut self) {
        self.streams.leave(self.thread, &self.log);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread_stream::Channel;

    fn event(bytes: usize) -> NewEvent {
        NewEvent { data: format!("\"{}\"", "x".repeat(bytes)), ..NewEvent::of(Channel::Values, Vec::new()) }
    }

    #[test]
    fn threads_without_events_are_forgotten_at_once() {
        let streams = Arc::new(ThreadStreams::default());
        let thread = ThreadId::new();
        drop(streams.open(thread));
        assert!(streams.find(thread).is_none());
        streams.open(thread).push([event(1)]);
        assert!(streams.find(thread).is_some());
    }

    #[test]
    fn unused_threads_make_room_and_used_ones_stay() {
        let streams = Arc::new(ThreadStreams::default());
        let first = ThreadId::new();
        let used = streams.open(first);
        used.push([event(1)]);
        let others: Vec<_> = (0..20).map(|_| ThreadId::new()).collect();
        for thread in &others {
            streams.open(*thread).push([event(4 << 20)]);
        }
        assert!(streams.find(first).is_some());
        let kept = others.iter().filter(|thread| streams.find(**thread).is_some()).count();
        assert!((8..16).contains(&kept), "{kept}");
        assert!(streams.lock().bytes <= KEEP_BYTES);
    }

    #[tokio::test]
    async fn readers_get_the_end_when_the_server_stops() {
        let streams = Arc::new(ThreadStreams::default());
        let thread = ThreadId::new();
        let used = streams.open(thread);
        let mut reader = streams.open(thread).read(None);
        used.push([event(1)]);
        streams.close();
        assert_eq!(reader.next().await.map(|batch| batch.events.len()), Some(1));
        assert!(reader.next().await.is_none());
        assert!(streams.open(ThreadId::new()).read(None).next().await.is_none());
    }
}
