//! The log of durable steps, sleeps and retries on a thread.

use std::sync::Arc;

use crate::checkpoint::{BatchWrite, RecordKey, RecordKind, TaskRecord};
use crate::engine::context::{FailedAttempt, Logged, StepLog};
use crate::engine::journal::{Durable, JournalHandle};
use crate::engine::stored::{StoredFailure, json_record, key, place};
use crate::error::NodeError;
use crate::options::Durability;
use crate::payload::Payload;

impl StepLog for JournalHandle {
    fn flush(&self) -> Logged<'_> {
        Box::pin(async { self.durable_with_parents().await.map_err(NodeError::from) })
    }

    fn record<'a>(&'a self, task: usize, kind: RecordKind, name: &'a str, result: Payload) -> Logged<'a> {
        Box::pin(async move {
            let record = TaskRecord::new(key(place(task), kind, name), result);
            let at = self.at();
            if let Some(checkpoint) = at {
                self.push_now(BatchWrite::records(checkpoint, Vec::new(), vec![record]));
            }
            // A record of a subgraph call is reachable only through the checkpoints of its parent runs.
            self.durable_with_parents().await.map_err(NodeError::from)
        })
    }

    fn fired<'a>(
        &'a self,
        task: usize,
        timer: &'a str,
        fired: Payload,
        withdrawn: Vec<String>,
    ) -> Logged<'a> {
        Box::pin(async move {
            let task = place(task);
            self.withdraw_in_parents(&withdrawn).await?;
            if let Some(checkpoint) = self.at() {
                let record = TaskRecord::new(key(task, RecordKind::Sleep, timer), fired);
                let remove = interrupts(task, &withdrawn);
                self.push_now(BatchWrite::records(checkpoint, remove, vec![record]));
            }
            self.durable_with_parents().await.map_err(NodeError::from)
        })
    }

    fn tried<'a>(&'a self, task: usize, tried: FailedAttempt<'a>) -> Logged<'a> {
        Box::pin(async move {
            let record = json_record(key(place(task), RecordKind::Failed, ""), &StoredFailure::tried(&tried));
            let (record, at) = (record.map_err(NodeError::from)?, self.at());
            if let Some(checkpoint) = at {
                self.push(BatchWrite::records(checkpoint, Vec::new(), vec![record]));
            }
            // A handover to an error handler is durable before the handler runs. A retry has to be durable only with
            // `Sync`.
            let waits = match self.durability {
                Durability::Sync => true,
                Durability::Async => tried.retries.handling.is_some(),
                Durability::Exit => false,
            };
            if !waits {
                return Ok(());
            }
            self.durable_with_parents().await.map_err(NodeError::from)
        })
    }
}

impl JournalHandle {
    /// Removes questions from the parent runs, which store the open questions of their calls too. Durable when the future
    /// completes: otherwise an answer could be accepted there for a question that is no longer open.
    fn withdraw_in_parents<'a>(&'a self, questions: &'a [String]) -> Durable<'a> {
        Box::pin(async move {
            let Some(parent) = self.parent.as_ref().filter(|_| !questions.is_empty()) else { return Ok(()) };
            parent.withdraw_in_parents(questions).await?;
            if let Some(checkpoint) = parent.at() {
                let remove = interrupts(self.parent_task, questions);
                parent.push_now(BatchWrite::records(checkpoint, remove, Vec::new()));
            }
            parent.durable_with_parents().await
        })
    }

    /// Waits until everything that was pushed so far is durable, in all parent runs first, outermost first.
    pub(crate) fn durable_with_parents(&self) -> Durable<'_> {
        Box::pin(async move {
            if let Some(parent) = &self.parent
                && let Err(error) = parent.durable_with_parents().await
            {
                // The parent run's failure ends this run. That end must not be stored as this run's own failure.
                self.fail(Arc::clone(&error));
                return Err(error);
            }
            self.durable().await
        })
    }
}

/// Returns the keys of a task's questions.
fn interrupts(task: u32, questions: &[String]) -> Vec<RecordKey> {
    questions.iter().map(|id| key(task, RecordKind::Interrupt, id)).collect()
}
