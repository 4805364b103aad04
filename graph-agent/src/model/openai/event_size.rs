use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of bytes that the reader of events has read since the last event. Its clones share the number.
///
/// Line ends do not count: a line feed after a carriage return may arrive in the same part or later, when the event has ended.
#[derive(Clone, Default)]
pub(super) struct EventSize(Arc<AtomicUsize>);

impl EventSize {
    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, read: &[u8]) {
        let bytes = read.iter().filter(|byte| !matches!(byte, b'\n' | b'\r')).count();
        self.0.store(self.get().saturating_add(bytes), Ordering::Relaxed);
    }

    pub(super) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}
