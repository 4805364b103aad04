//! A run that resumes a thread at its head, with answers, an update, or additional nodes.

use std::collections::HashMap;

use crate::checkpoint::{RecordKey, RecordKind, TaskRecord};
use crate::engine::Driver;
use crate::engine::apply::{Undos, fold};
use crate::engine::begin::from_outside;
use crate::engine::commit::own;
use crate::engine::desk::Answered;
use crate::engine::encoded::Keep;
use crate::engine::erased::TaskWrites;
use crate::engine::parts::Parts;
use crate::engine::reject::reject;
use crate::engine::task::Finished;
use crate::error::Error;
use crate::interrupt::OpenInterrupt;
use crate::payload::{Encoding, Payload};
use crate::plan::Task;
use crate::reducers::Stamp;

use super::input::{Waiting, input_not_storable};
use super::keys::{key, place};
use super::opened::Opened;
use super::patches::patch_records;
use super::progress::START;
use super::question::StoredQuestion;
use super::writer::Persist;

/// A checkpoint to resume from, and the additions of the resume.
pub(crate) struct GoOn {
    pub(crate) opened: Opened,
    /// Answers to open interrupts, as records.
    pub(crate) answers: Vec<TaskRecord>,
    pub(crate) update: Option<TaskWrites>,
    /// Additional nodes to run.
    pub(crate) goto: Vec<usize>,
}

impl GoOn {
    /// Resumes without additions.
    pub(crate) fn at(opened: Opened) -> Self {
        Self { opened, answers: Vec::new(), update: None, goto: Vec::new() }
    }
}

impl Parts {
    /// Creates the driver of a resumed run.
    pub(super) fn go_on(self, persist: Persist, go_on: GoOn) -> Result<Driver, Error> {
        let GoOn { mut opened, answers, update, goto } = go_on;
        let mut driver = self.at(persist, &mut opened)?;
        if let Some(input) = opened.input.take() {
            let waiting =
                Waiting { input, given: std::mem::take(&mut opened.given), step: opened.checkpoint.step };
            driver.apply_input(waiting)?;
        }
        let mut records = answers;
        if let Some(update) = update {
            let earlier = opened.records.iter().filter(|record| record.key.kind == RecordKind::Patch).count();
            records.extend(driver.update(update, behind(earlier), earlier)?);
        }
        let earlier = opened.records.iter().filter(|record| record.key.kind == RecordKind::Goto).count();
        for (index, node) in goto.into_iter().enumerate() {
            let at = key(RecordKey::NO_TASK, RecordKind::Goto, &format!("{:04}", earlier + index));
            let payload = Payload::new(Encoding::Bytes, driver.graph.node_name(node).as_bytes());
            records.push(TaskRecord::new(at, payload));
            driver.tasks.push(Task { node, packet: None });
            driver.results.push(None);
            driver.attempts.push(0);
        }
        driver.take_given(&records);
        let stopped = opened.records.iter().find(|record| record.key.kind == RecordKind::Stopped);
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
    pub(super) fn update(
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

    /// Takes over the answers that came with the resume.
    fn take_given(&mut self, records: &[TaskRecord]) {
        let of = |kind| {
            let records = records.iter().filter(move |record| record.key.kind == kind);
            records.map(|record| ((record.key.task, &*record.key.key), &record.payload))
        };
        let answers: HashMap<(u32, &str), &Payload> = of(RecordKind::Answer).collect();
        if answers.is_empty() {
            return;
        }
        // An answer of another version than its question has changed the question's record.
        let questions: HashMap<(u32, &str), &Payload> = of(RecordKind::Interrupt).collect();
        for (&task, open) in &mut self.suspended {
            let given = |open: &mut OpenInterrupt| answers.contains_key(&(place(task), open.id.as_str()));
            for open in open.extract_if(.., given) {
                let at = (place(task), open.id.as_str());
                let json = answers.get(&at);
                let question =
                    questions.get(&at).map(|json| serde_json::from_slice::<StoredQuestion>(json.bytes()));
                let version = question.and_then(Result::ok).map(|question| question.answer_version());
                if let Some(answer) = json.and_then(|json| serde_json::from_slice(json.bytes()).ok()) {
                    let versions = (open.version, version.unwrap_or(open.version));
                    let answered = Answered { question: open.question, answer, versions };
                    self.ctx.shared.memos.give(self.step + 1, task, [(open.id, answered)]);
                }
            }
        }
    }

    /// Applies an update before the superstep's tasks run. It is stored with the checkpoint that follows them.
    fn patch(&mut self, patch: Finished) -> Result<(), Error> {
        let mut results = vec![Some(patch)];
        let Some(state) = own(&mut self.state) else { return Ok(()) };
        fold(state, &mut results, &mut self.ledger, &mut Undos::new(self.graph.state))
            .map_err(|rejected| reject(self.graph.state, &[], self.step, &[], &mut results, rejected))
            .map_err(|kind| Error::new(&self.graph.name, kind))?;
        let touched = self.ledger.touched();
        // The tasks that run next can read the field, as if the previous superstep had written it.
        self.ephemerals.settle(self.step, &[], |field| touched.contains(&field));
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
pub(super) fn behind(earlier: usize) -> usize {
    usize::try_from(RecordKey::NO_TASK).unwrap_or(usize::MAX).saturating_sub(earlier)
}
