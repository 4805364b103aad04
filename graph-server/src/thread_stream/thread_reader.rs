use tokio::sync::watch;

use super::{ThreadBatch, ThreadUse};

/// A reader of the events of a thread. It is told of events that were removed before it has read them.
#[derive(Debug)]
pub(crate) struct ThreadReader {
    stream: ThreadUse,
    next: u64,
    last: watch::Receiver<u64>,
}

/// The maximum number of events of one read.
const BATCH: usize = 64;

impl ThreadUse {
    /// Returns a reader of the events after a number; of all events that are kept if none is given.
    pub(crate) fn read(self, since: Option<u64>) -> ThreadReader {
        let last = self.log().subscribe();
        ThreadReader { next: since.map_or(0, |since| since.saturating_add(1)), last, stream: self }
    }
}

impl ThreadReader {
    /// Waits for the next events. Returns `None` at the end.
    ///
    /// # Cancel safety
    /// A dropped call loses no event.
    pub(crate) async fn next(&mut self) -> Option<ThreadBatch> {
        loop {
            // Marked before the log is read, so that an event in between is not missed.
            self.last.mark_unchanged();
            let (found, next, closed) = self.stream.log().from(self.next, BATCH);
            self.next = next;
            if !found.events.is_empty() || found.missed.is_some() {
                return Some(found);
            }
            if closed {
                return None;
            }
            // The log holds the sender.
            self.last.changed().await.ok()?;
        }
    }

    /// Returns the kept events after a number that this reader has passed.
    pub(crate) fn passed(&self, since: Option<u64>) -> ThreadBatch {
        let from = since.map_or(0, |since| since.saturating_add(1));
        let mut found = ThreadBatch { missed: None, events: Vec::new() };
        let mut next = from;
        loop {
            let (batch, after, _) = self.stream.log().from(next, usize::MAX);
            if next == from {
                found.missed = batch.missed;
            }
            if batch.events.is_empty() {
                break;
            }
            found.events.extend(batch.events);
            next = after;
        }
        found.events.retain(|event| event.seq < self.next);
        found
    }
}
