//! Restores a driver at a checkpoint.

use crate::engine::Driver;
use crate::engine::desk::Answered;
use crate::engine::ephemeral::Ephemerals;
use crate::engine::erased::ErasedState;
use crate::engine::halt::Halt;
use crate::engine::parts::Parts;
use crate::error::Error;
use std::sync::Arc;

use super::gate::Gate;
use super::keys::step_number;
use super::opened::Opened;
use super::pieces::Pieces;
use super::writer::Persist;

impl Parts {
    /// Restores a driver at a checkpoint.
    pub(super) fn at(self, mut persist: Persist, opened: &mut Opened) -> Result<Driver, Error> {
        persist.at = Some(opened.checkpoint.id);
        if !opened.pieces.is_empty() {
            persist.pieces = std::mem::take(&mut opened.pieces);
        }
        if opened.fresh {
            persist.pieces = Pieces::fresh(self.graph.state);
        }
        let state = opened.state.copied();
        let ephemerals = std::mem::take(&mut opened.ephemerals);
        let mut driver = self.on(persist, state, ephemerals)?;
        driver.step = step_number(opened.checkpoint.step);
        driver.last_step = driver.step.saturating_add(driver.options.recursion_limit);
        driver.ctx.at.remaining = driver.options.recursion_limit;
        driver.progress = std::mem::take(&mut opened.progress);
        std::mem::swap(&mut driver.progress.tasks, &mut opened.tasks);
        driver.take_plan();
        driver.said = std::mem::take(&mut opened.said);
        driver.begin_superstep();
        match opened.gate.take() {
            Some(gate) if gate.ahead => driver.come_to_gate(&gate.after),
            // The thread has stopped here before, so the run passes this breakpoint.
            Some(Gate { before, after, .. }) => {
                driver.halt = Some(Halt { before, after, ..Halt::default() });
                driver.pass_gate();
            }
            None => {}
        }
        for (index, known) in opened.known.iter_mut().enumerate() {
            if let Some(slot) = driver.results.get_mut(index) {
                *slot = known.result.take();
            }
            let (answers, steps) = (std::mem::take(&mut known.answers), std::mem::take(&mut known.steps));
            let sleeps = std::mem::take(&mut known.sleeps);
            let asked: Vec<String> = known.questions.iter().map(|(id, _)| id.clone()).collect();
            let memos = &driver.ctx.shared.memos;
            if !answers.is_empty() {
                let answers = answers.into_iter().map(|(id, question, answer)| {
                    let versions = (question.version(), question.answer_version());
                    (id, Answered { question: question.question, answer, versions })
                });
                memos.give(driver.step + 1, index, answers);
            }
            if sleeps.iter().any(|(_, timer)| timer.fired.is_some()) {
                memos.note_firing();
            }
            if !asked.is_empty() || !steps.is_empty() || !sleeps.is_empty() {
                memos.of(driver.step + 1, index, |memo| {
                    memo.asked = asked;
                    memo.steps.extend(steps);
                    memo.sleeps.extend(sleeps);
                });
            }
            let task = driver.tasks.get(index);
            let node = driver.graph.node_name(task.map_or(usize::MAX, |task| task.node));
            let open = std::mem::take(&mut known.questions).into_iter();
            let open: Vec<_> = open.map(|(id, question)| question.open(id, node, index)).collect();
            if !open.is_empty() {
                driver.ctx.shared.memos.of(driver.step + 1, index, |memo| {
                    memo.restored = open.iter().map(|open| (open.id.clone(), open.clone())).collect();
                });
                driver.suspended.insert(index, open);
            }
            if let (Some(slot), Some(failure)) = (driver.attempts.get_mut(index), &known.failure) {
                *slot = failure.attempt;
                let tries = failure.tries(node, driver.step + 1, index, task);
                driver.ctx.shared.memos.of(driver.step + 1, index, |memo| memo.tries = tries);
            }
        }
        if let Some(persist) = &mut driver.persist {
            persist.remember(&driver.results, &opened.records);
        }
        Ok(driver)
    }

    /// Creates a driver on a thread, with nothing planned yet.
    pub(super) fn on(
        self,
        persist: Persist,
        state: Arc<dyn ErasedState>,
        ephemerals: Ephemerals,
    ) -> Result<Driver, Error> {
        let observed = self.events.is_some();
        let mut driver = self.driver(state, ephemerals)?;
        driver.persist = Some(Box::new(Persist { observed, ..persist }));
        Ok(driver)
    }
}
