//! A run that begins again at a checkpoint, as a new branch.

use std::sync::Arc;

use crate::checkpoint::{CheckpointSource, RecordKind, StatusKind, TaskRecord};
use crate::engine::Driver;
use crate::engine::erased::TaskWrites;
use crate::engine::parts::Parts;
use crate::error::Error;

use super::input::{Waiting, input_not_storable, input_records};
use super::keys::step_number;
use super::opened::Opened;
use super::progress::moved;
use super::resume::behind;
use super::writer::{Persist, Plan};

impl Parts {
    /// Creates the driver of a replay, and adds the fork checkpoint.
    pub(super) fn again(
        self,
        persist: Persist,
        mut opened: Opened,
        mut update: Option<TaskWrites>,
        step: i64,
    ) -> Result<Driver, Error> {
        let from = opened.checkpoint.clone();
        let pieces = std::mem::take(&mut opened.pieces);
        // Encoded again, because the branch is written in this program's state version.
        let records = opened.input.as_ref().map(|input| input_records(&*opened.state, &opened.given, input));
        let records = records
            .transpose()
            .map_err(|(_, source)| input_not_storable(&self.graph.name, step_number(step + 1), source));
        let mut records = records?.unwrap_or_default();
        if !opened.said.is_empty() {
            let of_result =
                |record: &&TaskRecord| matches!(record.key.kind, RecordKind::Write | RecordKind::Finished);
            records.extend(opened.records.iter().filter(of_result).cloned());
        }
        // The branch keeps the plan of the checkpoint, but none of its tasks' results.
        opened.known.clear();
        opened.gate = None;
        opened.checkpoint.step = step;
        let mut persist = persist;
        persist.pieces = pieces;
        let mut driver = self.at(persist, &mut opened)?;
        if opened.input.is_none()
            && let Some(update) = update.take()
        {
            // The fork checkpoint contains the update.
            driver.update(update, 0, 0)?;
        }
        let state = Arc::clone(&driver.state);
        let graph = driver.graph.name.clone();
        let not_storable = |source| input_not_storable(&graph, step_number(step), source);
        let plan = match opened.input {
            Some(_) => {
                let under = driver.persist.as_ref().and_then(|persist| persist.under.as_ref());
                let progress = moved(from.progress.as_ref(), under).map_err(not_storable)?;
                Plan { next: from.next.clone(), progress, status: StatusKind::Running }
            }
            // Additions of a resume, such as an ephemeral field or a node, are not part of a stored plan yet.
            None => driver.plan(&[]).map_err(not_storable)?,
        };
        if let Some(persist) = &mut driver.persist {
            let pieces = if opened.fresh {
                Vec::new()
            } else {
                persist.pieces.unwritten(&*state).map_err(|(_, source)| not_storable(source))?
            };
            persist.checkpoint(CheckpointSource::Fork, step, Some(from.id), plan, pieces, records);
        }
        drop(state);
        // The tasks of the new branch have different ids from those of the old one.
        driver.begin_superstep();
        if let Some(input) = opened.input.take() {
            let given = std::mem::take(&mut opened.given);
            driver.apply_input(Waiting { input, given, step })?;
        }
        if let Some(update) = update {
            let records = driver.update(update, behind(0), 0)?;
            if let Some(persist) = &mut driver.persist {
                persist.answered(records);
            }
        }
        Ok(driver)
    }
}
