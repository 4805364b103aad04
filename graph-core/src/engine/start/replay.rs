//! A run that begins again at a checkpoint, as a new branch.

use std::sync::Arc;

use crate::checkpoint::{CheckpointSource, RecordKind, StatusKind, TaskRecord};
use crate::engine::persist::{Persist, StoredPlan};
use crate::engine::restore::RestoredCheckpoint;
use crate::engine::run::Driver;
use crate::engine::stored::{entering, moved, step_number};
use crate::erased::TaskWrites;
use crate::error::Error;

use super::input::{PendingInput, input_not_storable, input_records};
use super::parts::Parts;
use super::resume::place_after;

impl Parts {
    /// Creates the driver of a replay, and adds the fork checkpoint.
    pub(crate) fn replay(
        self,
        persist: Persist,
        mut restored: RestoredCheckpoint,
        mut update: Option<TaskWrites>,
        step: i64,
    ) -> Result<Driver, Error> {
        let from = restored.checkpoint.clone();
        let changes = std::mem::take(&mut restored.changes);
        let enter = std::mem::take(&mut restored.enter);
        // Encoded again, because the branch is written in this program's state version.
        let records =
            restored.input.as_ref().map(|input| input_records(&*restored.state, &restored.given, input));
        let records = records.transpose().map_err(|(_, source)| {
            input_not_storable(&self.graph.name, step_number(step.saturating_add(1)), source)
        });
        let mut records = records?.unwrap_or_default();
        if !restored.parent_commands.is_empty() {
            let of_result =
                |record: &&TaskRecord| matches!(record.key.kind, RecordKind::Write | RecordKind::Finished);
            records.extend(restored.records.iter().filter(of_result).cloned());
        }
        // The branch keeps the plan of the checkpoint, but none of its tasks' results.
        restored.task_progress.clear();
        restored.breakpoints = None;
        restored.checkpoint.step = step;
        let mut persist = persist;
        persist.changes = changes;
        let mut driver = self.at(persist, &mut restored)?;
        if restored.input.is_none()
            && let Some(update) = update.take()
        {
            // The fork checkpoint contains the update.
            driver.update(update, 0, 0)?;
        }
        let state = Arc::clone(&driver.state);
        let graph = driver.graph.name.clone();
        let not_storable = |source| input_not_storable(&graph, step_number(step), source);
        let mut plan = match restored.input {
            Some(_) => {
                let parent_task = driver.persist.as_ref().and_then(|persist| persist.parent_task.as_ref());
                let progress = moved(from.progress.as_ref(), parent_task).map_err(not_storable)?;
                StoredPlan { next: from.next.clone(), progress, status: StatusKind::Running }
            }
            // Additions of a resume, such as an ephemeral field or a node, are not part of a stored plan yet.
            None => driver.plan(&[]).map_err(not_storable)?,
        };
        plan.progress = entering(plan.progress, &enter).map_err(not_storable)?;
        if let Some(persist) = &mut driver.persist {
            let changes = if restored.fresh {
                Vec::new()
            } else {
                persist.changes.unwritten(&*state).map_err(|(_, source)| not_storable(source))?
            };
            let id = persist.checkpoint(CheckpointSource::Fork, step, Some(from.id), plan, changes, records);
            driver.ctx.shared.parent_run.replays_from(id, enter);
        }
        drop(state);
        // The tasks of the new branch have different ids from those of the old one.
        driver.begin_superstep();
        if let Some(input) = restored.input.take() {
            let given = std::mem::take(&mut restored.given);
            driver.apply_input(PendingInput { input, given, step })?;
        }
        if let Some(update) = update {
            let records = driver.update(update, place_after(0), 0)?;
            if let Some(persist) = &mut driver.persist {
                persist.answered(records);
            }
        }
        Ok(driver)
    }
}
