//! The outcomes of tasks: results, failures and open interrupts, and their reports to the listeners.

use std::collections::HashSet;
use std::sync::Arc;

use crate::engine::at::At;
use crate::engine::context::TaskMemory;
use crate::engine::task::{Failed, Finished, Unfinished};
use crate::erased::TaskWrites;
use crate::error::{NodeFailure, with_causes};
use crate::stream::{TaskEnd, TaskEvent};

use super::execute::Execution;
use super::task_pool::CollectedTask;

impl Execution<'_> {
    /// Stores the result that has just arrived. The last result of a superstep is skipped: the checkpoint contains
    /// it.
    #[inline]
    pub(super) fn result_arrived(&mut self, index: usize) {
        self.count(index);
        self.missing = self.missing.saturating_sub(1);
        if self.recorder.is_some() && self.missing > 0 {
            self.record_result(index);
        }
    }

    #[inline(never)]
    fn record_result(&mut self, index: usize) {
        let Some(recorder) = &mut self.recorder else { return };
        if let (Some(task), Some(Some(finished))) = (self.tasks.get(index), self.results.get(index)) {
            recorder.record(self.graph, index, task, finished);
        }
    }

    /// Takes in the result of a task.
    pub(super) fn store_result(&mut self, index: usize, finished: Finished) {
        if let Some(slot) = self.results.get_mut(index) {
            *slot = Some(finished);
        }
        self.result_arrived(index);
    }

    /// Copies the number of attempts of a node with a policy.
    #[inline]
    fn count(&mut self, index: usize) {
        if self.graph.has_policy(self.node(index)) {
            self.copy_attempts(index);
        }
    }

    #[cold]
    fn copy_attempts(&mut self, index: usize) {
        if let Some(attempts) = self.attempts.get_mut(index) {
            let memories = &self.ctx.shared.memories;
            *attempts = memories.of(self.ctx.at.step, index, |memory| memory.retries.attempt).max(*attempts);
        }
    }

    /// Returns `true` if the task's result was found in the cache.
    fn was_cached(&self, index: usize) -> bool {
        let found =
            |memory: &mut TaskMemory| memory.cache.as_ref().is_some_and(|memory| memory.result.was_found());
        self.graph.cache_of(self.node(index)).is_some()
            && self.ctx.shared.memories.of(self.ctx.at.step, index, found)
    }

    fn node(&self, index: usize) -> usize {
        self.tasks.get(index).map_or(usize::MAX, |task| task.node)
    }

    fn failure(&self, index: usize, failed: Failed) -> NodeFailure {
        let attempt = self.attempts.get(index).copied().unwrap_or(1);
        let name = self.graph.node_name(self.node(index));
        let failure = failed.into_failure(name, self.ctx.at.step, attempt);
        match self.tasks.get(index) {
            Some(task) => failure.of(index, task.packet.as_ref()),
            None => failure,
        }
    }

    /// Records why a task has no result, and returns its failure, if any. A suspended task is no failure, and its
    /// attempt is not counted.
    fn record_unfinished(&mut self, index: usize, unfinished: Unfinished) -> Option<&NodeFailure> {
        if unfinished.is_suspended() {
            self.suspended.insert(index, unfinished.open);
        }
        self.stop_points.extend(unfinished.stop_point);
        match unfinished.failed {
            Some(failed) => {
                self.count(index);
                let failure = self.failure(index, failed);
                self.failures.push((index, failure));
                self.failures.last().map(|(_, failure)| failure)
            }
            None => {
                if let Some(attempts) = self.attempts.get_mut(index) {
                    *attempts = attempts.saturating_sub(1);
                }
                None
            }
        }
    }

    /// Counts an attempt that has started.
    pub(super) fn note_attempt(&mut self, at: At) {
        if let Some(attempts) = self.attempts.get_mut(at.task) {
            *attempts = at.attempt;
        }
    }

    /// Stores the result of a task.
    pub(super) async fn record(&mut self, index: usize, result: Result<Finished, Box<Unfinished>>) {
        let result = result.map(|finished| self.store_result(index, finished));
        self.report(index, result).await;
    }

    /// Records a failure or open interrupts, and notifies the listeners of how the task ended. A result is already in
    /// its slot.
    pub(super) async fn report(&mut self, index: usize, result: Result<(), Box<Unfinished>>) {
        if let Some(report) = self.end_task(index, result) {
            self.send_report(report).await;
        }
    }

    /// Records a failure or open interrupts. Returns the report to the listeners; `None` without listeners.
    pub(super) fn end_task(
        &mut self,
        index: usize,
        result: Result<(), Box<Unfinished>>,
    ) -> Option<TaskReport> {
        let is_observed = self.events.is_some();
        let end = match result {
            Ok(()) if is_observed => {
                let finished = self.results.get(index).and_then(Option::as_ref);
                let writes = finished.map(|finished| finished.writes.clone()).unwrap_or_default();
                Ok((writes, self.was_cached(index)))
            }
            Ok(()) => return None,
            Err(unfinished) => {
                let failure = self.record_unfinished(index, *unfinished);
                Err(failure.filter(|_| is_observed).map(|failure| with_causes(failure)))
            }
        };
        is_observed.then_some(TaskReport { index, end })
    }

    /// Notifies the listeners of how a task ended.
    pub(super) async fn send_report(&self, report: TaskReport) {
        let TaskReport { index, end } = report;
        let step = self.ctx.at.step;
        let (Some(events), Some(name)) = (self.events, self.graph.names.get(self.node(index))) else {
            return;
        };
        match end {
            Ok((writes, cached)) => {
                let subgraph = !cached && self.graph.is_subgraph(self.node(index));
                let end = TaskEnd { cached, restored: false, subgraph };
                events.task_finished(step, index, Arc::clone(name), writes, end).await;
            }
            Err(text) => {
                for question in self.suspended.get(&index).into_iter().flatten() {
                    events.interrupt(step, index, Arc::clone(name), question).await;
                }
                if let Some(text) = text {
                    let event = TaskEvent::Failed { error: text };
                    events.task(step, index, Arc::clone(name), event).await;
                }
            }
        }
    }
}

impl Drop for Execution<'_> {
    /// Keeps results that are finished and not yet collected, and aborts the other tasks.
    fn drop(&mut self) {
        for CollectedTask { at, outcome } in self.pool.take().map(|pool| pool.abort()).unwrap_or_default() {
            self.note_attempt(at);
            match outcome {
                Some(Ok(finished)) => self.store_result(at.task, finished),
                Some(Err(unfinished)) => {
                    self.record_unfinished(at.task, *unfinished);
                }
                None => {}
            }
        }
        self.failures.sort_by_key(|(task, _)| *task);
        let unfinished =
            |(task, result): (usize, &Option<_>)| result.is_none() && !self.suspended.contains_key(&task);
        *self.has_unfinished = self.results.iter().enumerate().any(unfinished);
        self.reopen();
    }
}

impl Execution<'_> {
    /// Reopens the interrupts of the tasks that were stopped early.
    fn reopen(&mut self) {
        let stopped = |task: usize| {
            self.results.get(task).is_some_and(Option::is_none)
                && self.failures.binary_search_by_key(&task, |(failed, _)| *failed).is_err()
        };
        let shared = &self.ctx.shared;
        for (task, mut open) in
            std::mem::take(&mut self.waited).into_iter().filter(|(task, _)| stopped(*task))
        {
            // A timer that fired meanwhile, perhaps inside a subgraph call, has withdrawn them.
            shared.memories.of(self.ctx.at.step, task, |memory| {
                let asked: HashSet<&String> = memory.asked.iter().collect();
                open.retain(|open| asked.contains(&open.id) && !shared.parent_run.has_withdrawn(&open.id));
            });
            self.suspended.entry(task).or_insert(open);
        }
    }
}

/// The report of the end of a task to the listeners.
pub(super) struct TaskReport {
    index: usize,
    /// Its writes, and `true` if they were found in the cache; or the text of its failure, if it failed.
    end: Result<(TaskWrites, bool), Option<String>>,
}
