use std::fmt;

use crate::protocol::{RunId, ThreadId};

/// The id of a task: `<thread>:<run>`, with the run that has begun the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskId {
    pub(crate) thread: ThreadId,
    pub(crate) run: RunId,
}

impl TaskId {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (thread, run) = text.split_once(':')?;
        Some(Self { thread: ThreadId::parse(thread)?, run: RunId::parse(run)? })
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.thread, self.run)
    }
}
