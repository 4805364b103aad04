use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Counted;

/// The maximum numbers of open streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamLimit {
    /// Of all callers together.
    pub(crate) total: usize,
    /// Of each caller.
    pub(crate) per_caller: usize,
}

impl Default for StreamLimit {
    fn default() -> Self {
        Self { total: usize::MAX, per_caller: usize::MAX }
    }
}

/// The open streams: responses that are sent while a run goes on.
#[derive(Debug, Default)]
pub(crate) struct Streams(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    total: usize,
    callers: HashMap<Counted, usize>,
}

/// A stream that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenStream {
    streams: Arc<Streams>,
    caller: Counted,
}

impl Streams {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of open streams.
    pub(crate) fn count(&self) -> usize {
        self.lock().total
    }

    /// Opens a stream. Returns `None` if there are too many.
    pub(crate) fn open(self: &Arc<Self>, caller: &Counted, limit: StreamLimit) -> Option<OpenStream> {
        let mut open = self.lock();
        let own = open.callers.get(caller).copied().unwrap_or_default();
        if open.total >= limit.total || own >= limit.per_caller {
            return None;
        }
        open.total += 1;
        open.callers.insert(caller.clone(), own + 1);
        Some(OpenStream { streams: Arc::clone(self), caller: caller.clone() })
    }
}

impl OpenStream {
    /// Returns the caller that has opened the stream.
    pub(crate) fn caller(&self) -> &Counted {
        &self.caller
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = self.streams.lock();
        open.total -= 1;
        match open.callers.get_mut(&self.caller) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(open.callers.remove(&self.caller)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_limited_in_total_and_for_each_caller() {
        let streams = Arc::new(Streams::default());
        let (ann, bob) = (Counted::Identity("ann".into()), Counted::Peer(None));
        let limit = StreamLimit { total: 3, per_caller: 2 };
        let open = |caller: &Counted| streams.open(caller, limit);
        let (first, _second) = (open(&ann).unwrap(), open(&ann).unwrap());
        assert!(open(&ann).is_none());
        let other = open(&bob).unwrap();
        assert!(open(&bob).is_none());
        drop(first);
        assert_eq!(streams.count(), 2);
        drop((open(&ann).unwrap(), other));
        assert_eq!((streams.count(), streams.lock().callers.len()), (1, 1));
    }
}
