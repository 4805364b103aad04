//! A run that resumes a thread at its head, with answers, an update, or additional nodes.

use crate::checkpoint::{RecordKey, RecordKind, TaskRecord};
use crate::engine::apply::{Undos, fold, own, rejection};
use crate::engine::persist::Persist;
use crate::engine::restore::{RestoredCheckpoint, patch_records};
use crate::engine::run::Driver;
use crate::engine::stored::{GivenAnswer, START, key, ordinal};
use crate::engine::task::{Finished, Keep};
use crate::erased::TaskWrites;
use crate::error::Error;
use crate::payload::Payload;
use crate::plan::Task;
use crate::reducers::Stamp;

use super::initial_state::from_outside;
use super::input::input_not_storable;
use super::parts::Parts;

/// A checkpoint to resume from, and the additions of the resume.
pub(crate) struct Resumption {
    pub(crate) restored: RestoredCheckpoint,
    pub(crate) answers: Vec<GivenAnswer>,
    pub(crate) update: Option<TaskWrites>,
    /// Additional tasks to run.
    pub(crate) goto: Vec<AddedTask>,
    /// The record of the request, if the caller has given it an idempotency key.
    pub(crate) request: Option<TaskRecord>,
}

/// A task that a resumption adds, with its stored form.
pub(crate) struct AddedTask {
    pub(crate) task: Task,
    pub(crate) stored: Payload,
}

impl Resumption {
    /// Resumes without additions.
    pub(crate) fn at(restored: RestoredCheckpoint) -> Self {
        Self { restored, answers: Vec::new(), update: None, goto: Vec::new(), request: None }
    }
}

impl Parts {
    /// Creates the driver of a resumed run.
    pub(crate) fn resumption(self, persist: Persist, resumption: Resumption) -> Result<Driver, Error> {
        let Resumption { mut restored, answers, update, goto, request } = resumption;
        let mut driver = self.at(persist, &mut restored)?;
        if let Some(input) = restored.pending_input() {
            driver.apply_input(input)?;
        }
        let persist = driver.persist.as_ref();
        let mut records = persist.map(|persist| persist.answer_records(&answers)).unwrap_or_default();
        if let Some(update) = update {
            let earlier =
                restored.records.iter().filter(|record| record.key.kind == RecordKind::Patch).count();
            records.extend(driver.update(update, place_after(earlier), earlier)?);
        }
        let earlier = restored.records.iter().filter(|record| record.key.kind == RecordKind::Goto).count();
        for (index, AddedTask { task, stored }) in goto.into_iter().enumerate() {
            let at = key(RecordKey::NO_TASK, RecordKind::Goto, &ordinal(earlier + index));
            records.push(TaskRecord::new(at, stored));
            driver.tasks.push(task);
            driver.results.push(None);
            driver.attempts.push(0);
        }
        records.extend(request);
        driver.deliver(answers);
        let stopped = restored.records.iter().find(|record| record.key.kind == RecordKind::Stopped);
        if let Some(persist) = &mut driver.persist {
            persist.records(Vec::new(), stopped.map(|record| record.key.clone()).into_iter().collect());
            persist.answered(records);
        }
        Ok(driver)
    }
}

impl Driver {
    /// Applies an update from outside before the superstep's tasks run, and returns its records.
    ///
    /// `earlier` is the number of earlier records of this kind. `place` distinguishes the update from all other
    /// writes by START in the step.
    pub(crate) fn update(
        &mut self,
        update: TaskWrites,
        place: usize,
        earlier: usize,
    ) -> Result<Vec<TaskRecord>, Error> {
        let stamp = Stamp { thread: self.ctx.stamp_thread(), ..Stamp::new(START, self.step, place) };
        let patch = from_outside(update, stamp, Keep::All).map_err(|kind| self.error(kind))?;
        let records = match &patch.encoded {
            Some(encoded) => patch_records(self.graph.state, earlier, encoded),
            None => Ok(Vec::new()),
        };
        let records = records.map_err(|source| input_not_storable(&self.graph.name, self.step, source))?;
        self.patch(patch)?;
        Ok(records)
    }

    /// Applies an update before the superstep's tasks run. It is stored with the next checkpoint.
    pub(super) fn patch(&mut self, patch: Finished) -> Result<(), Error> {
        let mut results = vec![Some(patch)];
        let Some(state) = own(&mut self.state) else { return Ok(()) };
        fold(state, &mut results, &mut self.write_set, &mut Undos::new(self.graph.state))
            .map_err(|rejected| rejection(self.graph.state, &[], self.step, &[], &mut results, rejected))
            .map_err(|kind| Error::new(&self.graph.name, kind))?;
        let touched = self.write_set.touched();
        // The tasks that run next can read the field, as if the previous superstep had written it.
        self.ephemerals.record_writes(self.step, &[], |field| touched.contains(&field));
        let encoded = results.first().and_then(|result| result.as_ref()?.encoded.as_deref());
        if let Some(persist) = &mut self.persist {
            persist
                .carry(&*self.state, encoded, touched)
                .map_err(|(_, source)| input_not_storable(&self.graph.name, self.step, source))?;
        }
        Ok(())
    }
}

/// Returns the place of an update that comes after `earlier` records of earlier updates.
///
/// No task and no other write from outside has this place in the superstep.
pub(crate) fn place_after(earlier: usize) -> usize {
    usize::try_from(RecordKey::NO_TASK).unwrap_or(usize::MAX).saturating_sub(earlier)
}
