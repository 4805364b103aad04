//! Updates from outside that keep the plan: the tasks stay planned, with their progress.

use std::collections::BTreeMap;

use crate::checkpoint::{CheckpointId, CheckpointSource, RecordKind, StoredStatus, TaskRecord};
use crate::engine::persist::CheckpointKind;
use crate::engine::restore::RestoredCheckpoint;
use crate::engine::run::Driver;
use crate::engine::stored::{entering, keeping};
use crate::engine::task::Keep;
use crate::error::Error;
use crate::reducers::Stamp;

use super::initial_state::from_outside;
use super::input::input_not_storable;
use super::outside::Outside;

/// The progress of a plan that an update keeps.
pub(super) struct KeptPlan {
    /// The records of the tasks.
    records: Vec<TaskRecord>,
    /// The checkpoint that first planned the tasks, if their ids stay.
    planned_at: Option<CheckpointId>,
    /// The checkpoints from which planned subgraph calls continue.
    enter: BTreeMap<String, CheckpointId>,
    /// The status of the thread; `None` for one with work for the next run.
    status: Option<StoredStatus>,
}

impl RestoredCheckpoint {
    /// Forgets the progress of the tasks, for another branch. They begin anew there.
    pub(super) fn forget_progress(&mut self) {
        self.task_progress.clear();
        self.breakpoints = None;
        self.planned_at = self.checkpoint.id;
    }
}

impl KeptPlan {
    /// Returns the progress of a plan no task of which has started.
    pub(super) fn unstarted() -> Self {
        Self { records: Vec::new(), planned_at: None, enter: BTreeMap::new(), status: None }
    }

    /// Takes the progress of a checkpoint. `status` is that of the thread if the checkpoint is its head.
    pub(super) fn of(restored: &mut RestoredCheckpoint, status: Option<StoredStatus>) -> Self {
        let enter = restored.enter.clone();
        if status.is_none() {
            return Self { enter, ..Self::unstarted() };
        }
        let records = restored.records.iter().filter(|record| match record.key.kind {
            RecordKind::Write
            | RecordKind::Finished
            | RecordKind::Failed
            | RecordKind::Interrupt
            | RecordKind::Answer
            | RecordKind::Step
            | RecordKind::Sleep
            | RecordKind::Breakpoint
            | RecordKind::Stopped => true,
            // Earlier updates and added nodes become a part of the new checkpoint.
            _ => false,
        });
        let records = records.cloned().collect();
        Self { records, planned_at: Some(restored.planned_at), enter, status }
    }
}

impl Driver {
    /// Applies updates to the state, and adds a checkpoint with the same plan.
    pub(super) fn keep_plan(
        &mut self,
        step: u64,
        updates: Vec<Outside>,
        kept: &KeptPlan,
    ) -> Result<(), Error> {
        let planned = self.tasks.len();
        self.step = step;
        for (at, Outside { update, place, .. }) in updates.into_iter().enumerate() {
            let name = place.name(&self.graph).to_owned();
            let stamp = Stamp { thread: self.ctx.stamp_thread(), ..Stamp::new(&name, step, planned + at) };
            let made = from_outside(update, stamp, Keep::All).map_err(|kind| self.error(kind))?;
            self.patch(made)?;
        }
        let not_storable = |source| input_not_storable(&self.graph.name, step, source);
        let mut plan = self.plan(&[]).map_err(not_storable)?;
        plan.progress = entering(plan.progress, &kept.enter).map_err(not_storable)?;
        let planned_at = kept.planned_at.filter(|_| planned > 0);
        if let Some(planned_at) = planned_at {
            let answers = kept.records.iter().filter(|record| record.key.kind == RecordKind::Answer);
            let answers = answers.map(|record| record.key.key.to_string()).collect();
            plan.progress = keeping(plan.progress, planned_at, answers).map_err(not_storable)?;
        }
        let Some(persist) = &mut self.persist else { return Ok(()) };
        let changes = persist.changes.unwritten(&*self.state);
        let changes = changes.map_err(|(_, source)| input_not_storable(&self.graph.name, step, source))?;
        persist.next_kind = CheckpointKind::Superstep;
        let parent = persist.at;
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        persist.checkpoint(CheckpointSource::Update, step, parent, plan, changes, kept.records.clone());
        if let Some(planned_at) = planned_at {
            persist.keeps_tasks_of(planned_at);
        }
        if let Some(status) = kept.status {
            persist.set_status(status);
        }
        Ok(())
    }
}
