use std::sync::Arc;

use super::event_log::Found;
use super::{EventId, EventLog, LoggedEvent, Resume};

/// A reader of an [`EventLog`].
#[derive(Debug)]
pub(crate) struct LogReader {
    log: Arc<EventLog>,
    id: u64,
    next: u64,
}

/// The log has removed events before the reader has read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Missed;

/// The maximum number of events of one read.
const BATCH: usize = 64;

impl EventLog {
    /// Returns a reader of the events that a client wants.
    pub(crate) fn read(self: &Arc<Self>, from: Resume) -> LogReader {
        let (id, next) = self.join(from);
        LogReader { log: Arc::clone(self), id, next }
    }
}

impl LogReader {
    /// Waits for the next events. Returns `None` at the end.
    ///
    /// # Errors
    /// The next event was removed, because the reader was too slow or comes too late.
    ///
    /// # Cancel safety
    /// A dropped call loses no event.
    pub(crate) async fn next(&mut self) -> Option<Result<Vec<(EventId, Arc<LoggedEvent>)>, Missed>> {
        loop {
            // Before the log is read, so that an event in between is not missed.
            let changed = self.log.changed();
            match self.log.from(self.id, self.next, BATCH) {
                Found::Events(events) => {
                    self.next += events.len() as u64;
                    return Some(Ok(events));
                }
                Found::Missed => return Some(Err(Missed)),
                Found::Ended => return None,
                Found::Nothing => changed.await,
            }
        }
    }
}

impl Drop for LogReader {
    fn drop(&mut self) {
        self.log.leave(self.id);
    }
}
