#[cfg(test)]
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes of events that all logs of a server keep together.
///
/// Above the limit, a log that grows keeps only its newest events, up to its share of the limit. So clients that read slowly do
/// not exhaust the memory, however many they are, and do not take events from clients that keep up.
#[derive(Debug)]
pub(crate) struct LogBudget {
    used: AtomicUsize,
    logs: AtomicUsize,
    limit: usize,
}

/// The bytes that each log may keep in any case.
const LEAST: usize = 64 << 10;

/// The limit of the logs of a server.
const LIMIT: usize = 192 << 20;

impl Default for LogBudget {
    fn default() -> Self {
        Self { used: AtomicUsize::new(0), logs: AtomicUsize::new(0), limit: LIMIT }
    }
}

impl LogBudget {
    #[cfg(test)]
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, ..Self::default() })
    }

    /// Returns the bytes that a log with a limit of its own may keep now.
    pub(crate) fn allowed(&self, own: usize) -> usize {
        if self.used.load(Ordering::Relaxed) <= self.limit {
            return own;
        }
        let share = self.limit / self.logs.load(Ordering::Relaxed).max(1);
        own.min(share.max(LEAST))
    }

    pub(crate) fn joined(&self) {
        self.logs.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a log of some bytes is gone.
    pub(crate) fn left(&self, bytes: usize) {
        self.logs.fetch_sub(1, Ordering::Relaxed);
        self.resized(bytes, 0);
    }

    /// Notes that a log has changed its size.
    pub(crate) fn resized(&self, before: usize, after: usize) {
        if after >= before {
            self.used.fetch_add(after - before, Ordering::Relaxed);
        } else {
            self.used.fetch_sub(before - after, Ordering::Relaxed);
        }
    }
}
