use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The position of a task in its run.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub(crate) node: usize,
    pub(crate) task: usize,
    pub(crate) step: u64,
    pub(crate) remaining: u64,
    pub(crate) attempt: u32,
    /// `true` if the task's update is cached as its node returned it, before the first phase of the reducers.
    pub(crate) is_cached: bool,
}

/// The position of a context. Its task can be replaced by another one of the same superstep while the context is borrowed.
#[derive(Debug)]
pub(crate) struct Place {
    node: AtomicUsize,
    task: AtomicUsize,
    attempt: AtomicU32,
    pub(crate) step: u64,
    pub(crate) remaining: u64,
    pub(crate) is_cached: bool,
}

impl Place {
    /// Replaces the task.
    pub(crate) fn move_to(&self, at: At) {
        self.node.store(at.node, Ordering::Relaxed);
        self.task.store(at.task, Ordering::Relaxed);
        self.attempt.store(at.attempt, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn node(&self) -> usize {
        self.node.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn task(&self) -> usize {
        self.task.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn attempt(&self) -> u32 {
        self.attempt.load(Ordering::Relaxed)
    }

    pub(crate) fn get(&self) -> At {
        let Self { step, remaining, is_cached, .. } = *self;
        At { node: self.node(), task: self.task(), step, remaining, attempt: self.attempt(), is_cached }
    }
}

impl From<At> for Place {
    #[inline]
    fn from(at: At) -> Self {
        let At { node, task, step, remaining, attempt, is_cached } = at;
        Self { node: node.into(), task: task.into(), attempt: attempt.into(), step, remaining, is_cached }
    }
}
