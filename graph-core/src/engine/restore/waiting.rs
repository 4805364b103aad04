use std::sync::Arc;

use crate::checkpoint::{Checkpoint, StatusKind, StoredStatus, TaskRecord};
use crate::engine::graph::Compiled;
use crate::engine::stored::{Stopped, StoredBreakpoints, read_breakpoints, read_stopped};
use crate::error::ErrorKind;
use crate::interrupt::Pause;

use super::read_records::read_tasks;
use super::restored_checkpoint::{NamedTasks, RestoredCheckpoint, TaskProgress};

/// The things that a thread waits for at a checkpoint: answers of its tasks, breakpoints, and a time.
pub(crate) struct Waiting {
    /// The planned tasks, with their open interrupts.
    pub(crate) tasks: NamedTasks,
    /// The breakpoints at which the thread has stopped.
    pub(crate) breakpoints: Option<StoredBreakpoints>,
    /// The stop request or the sleep at which the last run has stopped.
    pub(crate) stopped: Option<Stopped>,
}

impl Waiting {
    /// Reads it from the records of a checkpoint, without the state.
    pub(crate) fn read(
        graph: &Compiled,
        thread: &Arc<str>,
        checkpoint: &Checkpoint,
        records: &[TaskRecord],
    ) -> Result<Self, ErrorKind> {
        let tasks = read_tasks(graph, thread, checkpoint, records)?;
        let breakpoints = read_breakpoints(thread, checkpoint, records)?;
        let breakpoints = breakpoints.filter(StoredBreakpoints::are_current);
        Ok(Self { tasks, breakpoints, stopped: read_stopped(thread, checkpoint, records)? })
    }

    /// Takes it out of a restored checkpoint.
    pub(crate) fn of(graph: &Compiled, restored: &mut RestoredCheckpoint) -> Self {
        let task_progress = std::mem::take(&mut restored.task_progress);
        let name = |node: usize| graph.names.get(node).map_or_else(|| Arc::from("?"), Arc::clone);
        let tasks = restored
            .tasks
            .iter()
            .zip(task_progress)
            .map(|(task, task_progress)| (name(task.node), task_progress));
        let breakpoints = restored.breakpoints.take().filter(StoredBreakpoints::are_current);
        Self { tasks: tasks.collect(), breakpoints, stopped: restored.stopped.take() }
    }

    /// Returns the status of a thread that waits for this and has no active run. `Running` if a run would continue.
    pub(crate) fn status(&self) -> StoredStatus {
        let pending = || {
            let tasks = self.tasks.iter().map(|(_, task_progress)| task_progress);
            tasks.filter(|task_progress| task_progress.result.is_none())
        };
        let asks = pending().any(|task_progress| !task_progress.questions.is_empty());
        if self.stopped.is_some() || self.breakpoints.is_some() {
            let stopped = self.stopped.clone().unwrap_or_default();
            return stopped.status(self.breakpoints.is_some(), asks);
        }
        if pending().any(TaskProgress::has_failed) {
            return StoredStatus::new(StatusKind::Failed);
        }
        if pending().next().is_none() || !pending().all(TaskProgress::waits) {
            return StoredStatus::new(StatusKind::Running);
        }
        let wakes_at = pending().flat_map(|task_progress| {
            let expiries = task_progress.questions.iter().filter_map(|open| open.expires_at);
            task_progress.sleeps_until().chain(expiries)
        });
        Stopped::new(false, wakes_at.min()).status(false, asks)
    }

    /// Converts it into the pause of a run.
    pub(crate) fn into_pause(self) -> Pause<()> {
        let mut pause = Pause::empty();
        for (node, task_progress) in self.tasks {
            pause.interrupts.extend(task_progress.questions);
            pause.next.push(node.to_string());
        }
        let breakpoints = self.breakpoints.unwrap_or_default();
        (pause.before, pause.after) = (breakpoints.before, breakpoints.after);
        if let Some(stopped) = self.stopped {
            (pause.stopped, pause.wakes_at) = (stopped.requested, stopped.wakes_at());
        }
        pause
    }
}
