use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The positions at which subgraph calls may pass their breakpoints.
///
/// A call passes a breakpoint only if a caller was told of the stop there: the run at the root has stored the stop, or
/// has returned it if it is not on a thread. Until then the call stops there again. A position is the number of
/// supersteps that the call has applied; the key is the id of the calling task. The run at the root collects the
/// positions of all suspended calls at each stop, so a crash or a failure before that changes nothing here.
#[derive(Debug, Default)]
pub(crate) struct ReportedStops {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    calls: BTreeMap<String, u64>,
    older: bool,
}

impl ReportedStops {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the positions by those of a later stop.
    pub(crate) fn replace(&self, calls: BTreeMap<String, u64>) {
        *self.lock() = Inner { calls, older: false };
    }

    /// Marks the stop of the thread as stored by an older version, which stored no positions. The calls then pass the
    /// breakpoints at which they have stopped.
    pub(crate) fn set_older(&self) {
        self.lock().older = true;
    }

    pub(crate) fn is_older(&self) -> bool {
        self.lock().older
    }

    /// Returns the position up to which the call of this task passes its breakpoints.
    pub(crate) fn position(&self, task: &str) -> Option<u64> {
        let inner = self.lock();
        let mut caller = task;
        // A call that is not stored runs again from its beginning, so a call inside it may have finished before the
        // stop. The id of its task continues the id of the call's task with the number of the superstep.
        while let Some((before, at)) = caller.rsplit_once('>') {
            let step = at.split_once(':').and_then(|(step, _)| step.parse().ok());
            if step.is_some() && step <= inner.calls.get(before).copied() {
                return Some(u64::MAX);
            }
            caller = before;
        }
        inner.calls.get(task).copied()
    }

    /// Returns the positions of calls by tasks of this superstep inside a call that is not stored.
    pub(crate) fn inside(&self, task: &str, step: u64) -> BTreeMap<String, u64> {
        let prefix = format!("{task}>{step}:");
        let inner = self.lock();
        let inside = inner.calls.range(prefix.clone()..).take_while(|(id, _)| id.starts_with(&prefix));
        inside.map(|(id, position)| (id.clone(), *position)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::ReportedStops;

    #[test]
    fn calls_that_finished_before_the_stop_pass_everything() {
        let reported = ReportedStops::default();
        let calls = [("c:0", 3), ("c:0>4:1", 2), ("c:0>4:10/on_error", 1)];
        reported.replace(calls.map(|(task, position)| (task.to_owned(), position)).into());
        let expected = [
            ("c:0", Some(3)),
            ("c:1", None),
            ("c:0>3:0", Some(u64::MAX)),
            ("c:0>3:0/on_error>1:0", Some(u64::MAX)),
            ("c:0>4:1", Some(2)),
            ("c:0>4:1>2:0", Some(u64::MAX)),
            ("c:0>4:1>3:0", None),
            ("c:0>5:0", None),
        ];
        for (task, position) in expected {
            assert_eq!(reported.position(task), position, "{task}");
        }
        let inside: Vec<String> = reported.inside("c:0", 4).into_keys().collect();
        assert_eq!(inside, ["c:0>4:1", "c:0>4:10/on_error"]);
        assert!(reported.inside("c:0", 40).is_empty());
    }
}
