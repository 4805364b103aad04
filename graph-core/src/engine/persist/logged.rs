//! What tasks have written on the way, and what that hangs on.

use std::sync::Arc;

use crate::checkpoint::{BatchWrite, RecordKind, TaskRecord};
use crate::engine::Durability;
use crate::engine::desk::{Logged, StepLog};
use crate::engine::policy::Tried;
use crate::node::NodeError;
use crate::payload::Payload;

use super::journal::{Durable, Shared};
use super::records::{StoredFailure, json_record, key, place};

impl StepLog for Shared {
    fn flush(&self) -> Logged<'_> {
        Box::pin(async { self.durable_here_and_around().await.map_err(NodeError::from) })
    }

    fn record<'a>(&'a self, task: usize, kind: RecordKind, name: &'a str, result: Payload) -> Logged<'a> {
        Box::pin(async move {
            let record = TaskRecord { key: key(place(task), kind, name), payload: result };
            let at = self.at();
            if let Some(checkpoint) = at {
                self.push_now(BatchWrite::Records { checkpoint, remove: Vec::new(), put: vec![record] });
            }
            // A record of a call's is found only by way of the checkpoints around it.
            self.durable_here_and_around().await.map_err(NodeError::from)
        })
    }

    fn tried<'a>(&'a self, task: usize, tried: Tried<'a>) -> Logged<'a> {
        Box::pin(async move {
            let record = json_record(key(place(task), RecordKind::Failed, ""), &StoredFailure::tried(&tried));
            let (record, at) = (record.map_err(NodeError::from)?, self.at());
            if let Some(checkpoint) = at {
                self.push(BatchWrite::Records { checkpoint, remove: Vec::new(), put: vec![record] });
            }
            // A handler is asked once it is known that it is; waiting needs to be known only where everything does.
            let waits = match self.durability {
                Durability::Sync => true,
                Durability::Async => tried.tries.handling.is_some(),
                Durability::Exit => false,
            };
            if !waits {
                return Ok(());
            }
            self.durable_here_and_around().await.map_err(NodeError::from)
        })
    }
}

impl Shared {
    /// Waits until everything that has been pushed so far is durable, in the runs around this one as well: outermost first.
    pub(super) fn durable_here_and_around(&self) -> Durable<'_> {
        Box::pin(async move {
            if let Some(outer) = &self.outer
                && let Err(error) = outer.durable_here_and_around().await
            {
                // What this run would say of its own end, which that is, shall not be stored.
                self.fail(Arc::clone(&error));
                return Err(error);
            }
            self.durable().await
        })
    }
}
