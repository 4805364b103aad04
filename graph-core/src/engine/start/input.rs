//! A run on a thread that begins with an input. The input is stored before it is applied.

use std::sync::Arc;

use crate::checkpoint::{CheckpointId, CheckpointSource, FieldChange, RecordKind, StatusKind, TaskRecord};
use crate::engine::apply::{Ephemerals, Rejection, Undos, broken_rules, fold_unchecked, own, rejection};
use crate::engine::persist::{Persist, StoredPlan};
use crate::engine::restore::RestoredCheckpoint;
use crate::engine::run::Driver;
use crate::engine::stored::{
    FieldChanges, NotStored, Provenance, START, encode, is_delta, key, progress, step_number,
    without_authors, write_key, write_records,
};
use crate::engine::task::{Finished, Keep};
use crate::erased::{ErasedInput, ErasedState};
use crate::error::{Error, ErrorKind};
use crate::plan::Progress;
use crate::reducers::Stamp;
use crate::state::EncodeError;
use crate::state::Form;

use super::initial_state::from_outside;
use super::parts::Parts;

/// A pending input: stored, but not applied yet.
pub(crate) struct PendingInput {
    pub(crate) input: Finished,
    /// The fields that the input has set directly.
    pub(crate) given: Vec<usize>,
    /// The step of the checkpoint that contains the input.
    pub(crate) step: i64,
}

impl RestoredCheckpoint {
    /// Takes the pending input, if there is one.
    pub(super) fn pending_input(&mut self) -> Option<PendingInput> {
        let input = self.input.take()?;
        Some(PendingInput { input, given: std::mem::take(&mut self.given), step: self.checkpoint.step })
    }
}

impl Parts {
    /// Creates the driver of a run with an input.
    pub(crate) fn with_input(
        self,
        mut persist: Persist,
        input: Box<dyn ErasedInput>,
        from: Option<RestoredCheckpoint>,
    ) -> Result<Driver, Error> {
        let parent = from.as_ref().map(|from| from.checkpoint.id);
        let step = from.as_ref().map_or(-1, |from| from.checkpoint.step.saturating_add(1));
        let thread = self.ctx.stamp_thread().map(str::to_owned);
        let stamp =
            Stamp { thread: thread.as_deref(), ..Stamp::new(START, step_number(step.saturating_add(1)), 0) };
        let fresh = from.as_ref().is_none_or(|from| from.fresh);
        let (state, given, update, ephemerals, changes) = match from {
            Some(RestoredCheckpoint { fresh: false, state, ephemerals, changes, .. }) => {
                (state, Vec::new(), input.into_update(), ephemerals, changes)
            }
            // Nothing of the state is stored yet, so an earlier pending input is dropped.
            _ => {
                let start = input.into_start();
                let ephemerals = Ephemerals::new(&self.graph.ephemeral);
                (start.state, start.given, start.writes, ephemerals, FieldChanges::fresh(self.graph.state))
            }
        };
        let input = from_outside(update, stamp, Keep::All).map_err(|kind| self.error(kind))?;
        let not_storable = |(_, source): NotStored| {
            input_not_storable(&self.graph.name, step_number(step.saturating_add(1)), source)
        };
        let records = input_records(&*state, &given, &input).map_err(not_storable)?;
        persist.changes = changes;
        // This checkpoint includes everything that was written since the previous one. Only the input is still to be
        // applied.
        let carried = match fresh {
            true => Vec::new(),
            false => persist.changes.unwritten(&*state).map_err(not_storable)?,
        };
        let mut driver = self.on(persist, state, ephemerals)?;
        driver.input_checkpoint(step, parent, carried, records)?;
        driver.abandons_tasks(parent);
        // If the input is refused, none of these writes reaches the store: the run has not begun.
        driver.apply_input(PendingInput { input, given, step })?;
        Ok(driver)
    }
}

impl Driver {
    /// Adds the checkpoint of a pending input, with all changes since the previous checkpoint.
    fn input_checkpoint(
        &mut self,
        step: i64,
        parent: Option<CheckpointId>,
        changes: Vec<FieldChange>,
        records: Vec<TaskRecord>,
    ) -> Result<(), Error> {
        let parent_task = self.persist.as_ref().and_then(|persist| persist.parent_task.as_ref());
        let provenance = Provenance { parent_task, ..Provenance::default() };
        let progress = progress::encode(&self.graph, &[], &self.progress, &self.ephemerals, provenance)
            .map_err(|source| {
                input_not_storable(&self.graph.name, step_number(step.saturating_add(1)), source)
            })?;
        let plan = StoredPlan { next: vec![Arc::from(START)], progress, status: StatusKind::Running };
        if let Some(persist) = &mut self.persist {
            persist.checkpoint(CheckpointSource::Input, step, parent, plan, changes, records);
        }
        Ok(())
    }

    /// Keeps the last checkpoint, which abandons the tasks of `parent`, apart from those after it. Merged
    /// with them, it would look like the superstep of these tasks, and subgraphs would continue from their abandoned calls.
    fn abandons_tasks(&self, parent: Option<CheckpointId>) {
        if let Some(persist) = &self.persist
            && parent.is_some()
            && self.graph.kept_states.may_exist()
        {
            persist.shared.keep();
        }
    }

    /// Applies a pending input, plans the first superstep, and adds the checkpoint after it.
    pub(crate) fn apply_input(&mut self, waiting: PendingInput) -> Result<(), Error> {
        let PendingInput { input, given, step } = waiting;
        self.step = step_number(step.saturating_add(1));
        self.last_step = self.step.saturating_add(self.options.recursion_limit);
        self.ctx.at.step = self.step;
        self.ctx.at.remaining = self.options.recursion_limit;
        let mut cleared = Vec::new();
        let mut results = vec![Some(input)];
        if let Some(state) = own(&mut self.state) {
            for (field, ..) in self.ephemerals.alive() {
                self.undos.clear_field(state, field);
                cleared.push(field);
            }
            let folded =
                fold_unchecked(state, &mut results, &mut self.write_set, &mut Undos::new(self.graph.state));
            let mut written = given;
            written.extend_from_slice(self.write_set.touched());
            folded
                .and_then(|()| match broken_rules(&*state, &written) {
                    broken if broken.is_empty() => Ok(()),
                    broken => Err(Rejection::Rules(broken)),
                })
                .map_err(|rejected| rejection(self.graph.state, &[], self.step, &[], &mut results, rejected))
                .map_err(|kind| Error::new(&self.graph.name, kind))?;
            self.ephemerals.record_writes(self.step, &cleared, |field| written.contains(&field));
            self.progress = Progress::new(&self.graph.topology);
        }
        self.leave_start()?;
        let (step, touched) = (self.step, self.write_set.touched());
        if let Some(persist) = &mut self.persist {
            let changes = persist.changes.of_superstep(&*self.state, &results, touched, &cleared);
            let changes =
                changes.map_err(|(_, source)| input_not_storable(&self.graph.name, step, source))?;
            self.checkpoint(without_authors(changes))?;
        }
        Ok(())
    }
}

pub(crate) fn input_not_storable(graph: &str, step: u64, source: EncodeError) -> Error {
    Error::new(graph, ErrorKind::NotStorable { nodes: vec![START.to_owned()], step, source })
}

/// Returns the records of an input: the fields that it sets directly, and its writes.
pub(crate) fn input_records(
    state: &dyn ErasedState,
    given: &[usize],
    input: &Finished,
) -> Result<Vec<TaskRecord>, NotStored> {
    let (mut records, mut buffer) = (Vec::new(), Vec::new());
    for (ordinal, &field) in given.iter().enumerate() {
        if let (Some(spec), Some(payload)) =
            (state.state_type().field(field), encode(state, field, &mut buffer)?)
        {
            let name = write_key(ordinal, Form::Overwrite, spec.name);
            records.push(TaskRecord::new(key(0, RecordKind::Write, &name), payload));
        }
    }
    if let Some(encoded) = &input.encoded {
        let mut writes = write_records(state.state_type(), 0, RecordKind::Write, encoded);
        // An input that was read back has the directly set fields among its writes as well.
        writes.retain(is_delta);
        for record in &mut writes {
            // Sorted after the directly set fields.
            record.key.key = Arc::from(format!("1{}", record.key.key));
        }
        records.extend(writes);
    }
    Ok(records)
}
