//! The points at which a driver uses its thread.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::checkpoint::{CheckpointError, CheckpointSource, FieldChange, RecordKind, RunRecord, TaskRecord};
use crate::engine::context::wait_again;
use crate::engine::journal::{AbandonedRuns, Journal, Watch};
use crate::engine::persist::{CheckpointKind, StoredPlan};
use crate::engine::stored::{
    Provenance, START, Stopped, StoredBreakpoints, StoredFailure, finished_records, json_record, key, place,
    progress,
};
use crate::engine::task::NotEncoded;
use crate::error::{Error, ErrorKind, NodeFailure, with_causes};
use crate::options::{Durability, Metadata};
use crate::state::EncodeError;
use crate::step::Leave;
use crate::stream::ReachedCheckpoint;

use super::driver::Driver;

impl Driver {
    /// Returns the current plan as a checkpoint stores it.
    pub(crate) fn plan(&self, updated_as: &[String]) -> Result<StoredPlan, EncodeError> {
        let next = self.tasks.iter().filter_map(|task| self.graph.names.get(task.node)).cloned().collect();
        let parent_task = self.persist.as_ref().and_then(|persist| persist.parent_task.as_ref());
        let resets = self.persist.as_ref().and_then(|persist| persist.changes.resets(self.graph.state));
        let wrote = self.persist.as_ref().and_then(|persist| persist.wrote.as_ref());
        let provenance = Provenance { updated_as, wrote, parent_task, resets };
        let progress =
            progress::encode(&self.graph, &self.tasks, &self.progress, &self.ephemerals, provenance)?;
        Ok(StoredPlan { next, progress, status: self.planned_status() })
    }

    /// Returns the records of the superstep's commands to the parent graph. They are stored as task results of the
    /// next checkpoint, which plans no task.
    pub(crate) fn command_records(&self, step: u64) -> Result<Vec<TaskRecord>, Error> {
        let mut records = Vec::new();
        let parent_commands = self.tasks.iter().zip(&self.results).filter_map(|(task, result)| {
            let result = result.as_ref()?;
            matches!(result.leave, Leave::ErasedParentCommand(_)).then_some((task, result))
        });
        for (index, (task, result)) in parent_commands.enumerate() {
            records.extend(finished_records(&self.graph, index, task, result).map_err(|source| {
                let nodes = vec![self.graph.node_name(task.node).to_owned()];
                self.error(ErrorKind::NotStorable { nodes, step, source })
            })?);
        }
        Ok(records)
    }

    /// Adds the checkpoint of the superstep that was just applied.
    pub(crate) fn checkpoint(&mut self, changes: Vec<FieldChange>) -> Result<(), Error> {
        self.last_checkpoint(changes, Vec::new())
    }

    /// Adds the checkpoint of a superstep together with records, such as commands to the parent graph.
    pub(crate) fn last_checkpoint(
        &mut self,
        changes: Vec<FieldChange>,
        mut records: Vec<TaskRecord>,
    ) -> Result<(), Error> {
        let of = self.persist.as_mut().map(|persist| std::mem::take(&mut persist.next_kind));
        let (source, names, after) = match of.unwrap_or_default() {
            CheckpointKind::Superstep => (CheckpointSource::Loop, Vec::new(), self.breakpoints_ahead()),
            CheckpointKind::Update { names, .. } => (CheckpointSource::Update, names, Vec::new()),
        };
        let plan = match self.plan(&names) {
            Ok(plan) => plan,
            Err(source) => return Err(self.not_planned(source)),
        };
        let step = i64::try_from(self.step).unwrap_or(i64::MAX);
        if let Some(persist) = &mut self.persist {
            let parent = persist.at;
            let breakpoints = StoredBreakpoints { after, ahead: true, ..StoredBreakpoints::default() };
            records.extend((!breakpoints.after.is_empty()).then(|| breakpoints.record()).flatten());
            persist.checkpoint(source, step, parent, plan, changes, records);
        }
        self.begin_superstep();
        Ok(())
    }

    /// Derives the ids of the next tasks from the checkpoint that planned them first.
    pub(crate) fn begin_superstep(&self) {
        if let Some(persist) = &self.persist
            && let Some(at) = persist.at
        {
            let planned_at = persist.shared.kept_from().unwrap_or(at);
            self.ctx.shared.memories.begin(self.step + 1, planned_at);
            if let Some(events) = &self.events {
                events.position.reaches(ReachedCheckpoint { id: at, planned_at });
            }
        }
    }

    /// Stores the breakpoints, interrupts and sleeps of a stopped run. Returns `false`, the result of the step.
    #[cold]
    pub(crate) async fn store_stop_point(&mut self) -> Result<bool, Error> {
        self.store_results();
        if let (Some(persist), Some(stop_point)) = (&self.persist, &self.stop_point)
            && !(stop_point.before.is_empty() && stop_point.after.is_empty())
        {
            let breakpoints = StoredBreakpoints {
                before: stop_point.before.clone(),
                after: stop_point.after.clone(),
                calls: if self.is_root() { stop_point.calls.clone() } else { BTreeMap::new() },
                ..StoredBreakpoints::default()
            };
            persist.records(breakpoints.record().into_iter().collect(), Vec::new());
        }
        if let Some(stop_point) = &self.stop_point {
            let stopped = Stopped::new(stop_point.requested, stop_point.wakes_at);
            self.store_stopped(&stopped);
        }
        self.stops_with_status();
        self.conclude().await?;
        Ok(false)
    }

    /// Stores the finished results of the superstep, and its open interrupts.
    fn store_results(&mut self) {
        if let Some(persist) = &mut self.persist {
            // A result that cannot be stored, because of a packet for example, is skipped: its task runs again.
            let _ = persist.store_results(&self.graph, &self.tasks, &self.results);
            persist.ask(&self.suspended);
        }
    }

    /// Returns the error of a plan that cannot be stored.
    ///
    /// Packets of tasks are checked when the tasks finish, so only packets sent by START get here. The superstep is
    /// applied but not stored, so nothing more may be written.
    fn not_planned(&self, source: EncodeError) -> Error {
        if let Some(persist) = &self.persist {
            let reason = format!("its plan: {source}");
            persist.shared.stop(CheckpointError::not_storable(Arc::clone(persist.shared.thread()), reason));
        }
        self.error(ErrorKind::NotStorable { nodes: vec![START.to_owned()], step: self.step, source })
    }

    /// Waits for the store after a superstep, as the run's durability requires.
    pub(crate) async fn store(&mut self) -> Result<(), Error> {
        let Some(persist) = &mut self.persist else { return Ok(()) };
        let written = match self.options.durability {
            Durability::Sync => Journal::flush(&persist.journal).await,
            Durability::Async => Journal::advance(&persist.journal).await,
            Durability::Exit => Ok(()),
        };
        written.map_err(|error| self.error(ErrorKind::store(error)))?;
        self.announce_checkpoints().await;
        Ok(())
    }

    /// Makes the first writes of a run durable, after which the thread belongs to the run.
    ///
    /// With `shown`, deferred writes are included, so that other runs see that this one is incomplete.
    pub(crate) async fn claim(&mut self, shown: bool) -> Result<(), Error> {
        let Some(persist) = &self.persist else { return Ok(()) };
        if shown {
            persist.shared.release();
        }
        let claimed = Journal::claim(&persist.journal).await;
        claimed.map_err(|error| self.error(ErrorKind::store(error)))
    }

    /// Returns the id of a run on a thread.
    pub(crate) fn run_id(&self) -> Option<&str> {
        self.persist.as_ref().map(|persist| &*persist.run.id)
    }

    /// Registers the run as abandoned if it is dropped before its end. Called once the thread belongs to the run.
    pub(crate) fn watch(&mut self, abandoned: &AbandonedRuns) {
        if let Some(persist) = &mut self.persist {
            persist.watch = Some(Watch {
                abandoned: abandoned.clone(),
                thread: Arc::clone(persist.shared.thread()),
                run: Arc::clone(&persist.run.id),
                epoch: persist.shared.epoch(),
                ended: false,
            });
        }
    }

    /// Waits until everything that the run has done is durable.
    pub(crate) async fn conclude(&mut self) -> Result<(), Error> {
        let Some(persist) = &self.persist else { return Ok(()) };
        persist.flush().await.map_err(|error| self.error(ErrorKind::store(error)))?;
        self.announce_checkpoints().await;
        Ok(())
    }

    async fn announce_checkpoints(&mut self) {
        let (Some(persist), Some(events)) = (&mut self.persist, &self.events) else { return };
        let epoch = persist.shared.epoch();
        for checkpoint in persist.announce() {
            events.checkpoint(checkpoint, epoch).await;
        }
    }

    /// Stores the failure of a superstep and its finished results. Returns the error of the run.
    pub(crate) async fn store_failure(&mut self, error: Error) -> Error {
        if matches!(error.kind(), ErrorKind::Conflict(_) | ErrorKind::Checkpoint(_)) {
            return error;
        }
        let records: Vec<TaskRecord> = match error.kind() {
            ErrorKind::Node { first, others } => {
                std::iter::once(&**first).chain(others).filter_map(failure_record).collect()
            }
            ErrorKind::Validation { nodes, .. } | ErrorKind::NotStorable { nodes, .. } => {
                self.refused_records(nodes, &error)
            }
            ErrorKind::Reducer { node, .. } => self.refused_records(std::slice::from_ref(node), &error),
            _ => Vec::new(),
        };
        if let Some(persist) = &mut self.persist {
            persist.records(records, Vec::new());
        }
        let cancelled = matches!(error.kind(), ErrorKind::Cancelled { .. });
        let deadline = if wait_again(error.kind()) { self.first_deadline() } else { None };
        self.store_stopped(&Stopped::new(cancelled, deadline));
        self.store_results();
        self.fails_with_status(error.kind());
        match self.conclude().await {
            Ok(()) => error.map_kind(NotEncoded::named),
            Err(store) => store,
        }
    }
}

impl Driver {
    /// Returns records of the failure for nodes whose writes were refused.
    fn refused_records(&self, nodes: &[String], error: &Error) -> Vec<TaskRecord> {
        let text = with_causes(error);
        let tasks = self.tasks.iter().zip(&self.results).zip(&self.attempts).enumerate();
        let nodes: HashSet<&str> = nodes.iter().map(String::as_str).collect();
        let refused = tasks.filter(|(_, ((task, result), _))| {
            result.is_none() && nodes.contains(self.graph.node_name(task.node))
        });
        let records = refused.filter_map(|(index, (_, &attempt))| {
            let stored = StoredFailure::refused(text.clone(), attempt);
            json_record(key(place(index), RecordKind::Failed, ""), &stored).ok()
        });
        records.collect()
    }
}

/// Returns the record of a failure.
fn failure_record(failure: &NodeFailure) -> Option<TaskRecord> {
    let stored = StoredFailure::of(failure);
    json_record(key(place(failure.task), RecordKind::Failed, ""), &stored).ok()
}

/// Creates the record of a run.
pub(crate) fn run_record(id: Arc<str>, program: Arc<str>, metadata: Metadata) -> Arc<RunRecord> {
    Arc::new(RunRecord::new(id, program).metadata(metadata))
}

impl Driver {
    /// Stores the reason for a stop of a run that could continue, or removes an earlier one.
    pub(crate) fn store_stopped(&mut self, stopped: &Stopped) {
        let Some(persist) = &mut self.persist else { return };
        if stopped.requested || stopped.wakes_at.is_some() {
            persist.has_stopped = true;
            persist.records(json_record(Stopped::key(), stopped).into_iter().collect(), Vec::new());
        } else if std::mem::take(&mut persist.has_stopped) {
            persist.records(Vec::new(), vec![Stopped::key()]);
        }
    }
}
