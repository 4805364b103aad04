//! Restores a driver at a checkpoint.

use std::sync::Arc;

use crate::engine::apply::Ephemerals;
use crate::engine::persist::Persist;
use crate::engine::restore::RestoredCheckpoint;
use crate::engine::run::Driver;
use crate::engine::stored::{FieldChanges, step_number};
use crate::erased::ErasedState;
use crate::error::Error;

use super::parts::Parts;

impl Parts {
    /// Restores a driver at a checkpoint.
    pub(crate) fn at(self, mut persist: Persist, restored: &mut RestoredCheckpoint) -> Result<Driver, Error> {
        persist.at = Some(restored.checkpoint.id);
        persist.keeps_tasks_of(restored.planned_at);
        if !restored.changes.is_empty() {
            persist.changes = std::mem::take(&mut restored.changes);
        }
        if restored.fresh {
            persist.changes = FieldChanges::fresh(self.graph.state);
        }
        let state = restored.state.copied();
        let ephemerals = std::mem::take(&mut restored.ephemerals);
        let mut driver = self.on(persist, state, ephemerals)?;
        driver.step = step_number(restored.checkpoint.step);
        driver.last_step = driver.step.saturating_add(driver.options.recursion_limit);
        driver.ctx.at.remaining = driver.options.recursion_limit;
        driver.progress = std::mem::take(&mut restored.progress);
        std::mem::swap(&mut driver.progress.tasks, &mut restored.tasks);
        driver.take_plan();
        driver.parent_commands = std::mem::take(&mut restored.parent_commands);
        driver.begin_superstep();
        let enter = std::mem::take(&mut restored.enter);
        driver.ctx.shared.parent_run.replays_from(restored.checkpoint.id, enter);
        if let Some(breakpoints) = restored.breakpoints.take() {
            driver.reach_breakpoints(&breakpoints.after);
            if !breakpoints.ahead {
                // The thread has stopped here before.
                driver.pass_breakpoints(breakpoints);
            }
        }
        for (index, task_progress) in restored.task_progress.iter_mut().enumerate() {
            if let Some(slot) = driver.results.get_mut(index) {
                *slot = task_progress.result.take();
            }
            let (answers, steps) =
                (std::mem::take(&mut task_progress.answers), std::mem::take(&mut task_progress.steps));
            let sleeps = std::mem::take(&mut task_progress.sleeps);
            let asked: Vec<String> = task_progress.questions.iter().map(|open| open.id.clone()).collect();
            let memories = &driver.ctx.shared.memories;
            if !answers.is_empty() {
                memories.give(driver.step + 1, index, answers);
            }
            if sleeps.iter().any(|(_, timer)| timer.fired.is_some()) {
                memories.note_firing();
            }
            if !asked.is_empty() || !steps.is_empty() || !sleeps.is_empty() {
                memories.of(driver.step + 1, index, |memory| {
                    memory.asked = asked;
                    memory.steps.extend(steps);
                    memory.sleeps.extend(sleeps);
                });
            }
            let task = driver.tasks.get(index);
            let node = driver.graph.node_name(task.map_or(usize::MAX, |task| task.node));
            let open = std::mem::take(&mut task_progress.questions);
            if !open.is_empty() {
                driver.ctx.shared.memories.of(driver.step + 1, index, |memory| {
                    memory.restored = open.iter().map(|open| (open.id.clone(), open.clone())).collect();
                });
                driver.suspended.insert(index, open);
            }
            if let (Some(slot), Some(failure)) = (driver.attempts.get_mut(index), &task_progress.failure) {
                *slot = failure.attempt;
                let tries = failure.tries(node, driver.step + 1, index, task);
                driver.ctx.shared.memories.of(driver.step + 1, index, |memory| memory.retries = tries);
            }
        }
        if let Some(persist) = &mut driver.persist {
            persist.remember(&driver.results, &restored.records);
        }
        Ok(driver)
    }

    /// Creates a driver on a thread, with nothing planned yet.
    pub(crate) fn on(
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
