//! Answers to the open interrupts of a run that is still in memory.

use std::collections::HashSet;

use crate::engine::stored::{GivenAnswer, RefusedAnswer, check_answers};
use crate::error::{Error, ErrorKind};
use crate::interrupt::Answer;

use super::driver::Driver;

impl Driver {
    /// Answers open interrupts, all or none. The tasks that asked run again with the next step.
    pub(crate) fn answer(&mut self, answers: Vec<Answer>) -> Result<(), Error> {
        let open = self.suspended.iter().flat_map(|(task, open)| open.iter().map(|open| (*task, open)));
        let given = check_answers(open, answers).map_err(|refused| {
            let (id, reason) = match refused {
                RefusedAnswer::NotOpen { id } => (id, "no open interrupt has this id"),
                RefusedAnswer::Changed { id } => (id, "the question has changed since it was shown"),
                RefusedAnswer::Repeated { id } => (id, "the same call answers it twice"),
                RefusedAnswer::Invalid(kind) => return self.error(kind),
            };
            self.error(ErrorKind::InvalidAnswer { id, reason: reason.to_owned() })
        })?;
        if let Some(persist) = &mut self.persist {
            let records = persist.answer_records(&given);
            persist.answered(records);
        }
        if !given.is_empty() {
            self.runs_again();
        }
        self.deliver(given);
        Ok(())
    }

    /// Passes answers to the tasks that asked. Their interrupts are no longer open.
    pub(crate) fn deliver(&mut self, given: Vec<GivenAnswer>) {
        let ids: HashSet<&str> = given.iter().map(|given| given.open.id.as_str()).collect();
        if ids.is_empty() {
            return;
        }
        for open in self.suspended.values_mut() {
            open.retain(|open| !ids.contains(open.id.as_str()));
        }
        for given in given {
            self.ctx.shared.memories.give(self.step + 1, given.task, [given.into_answered()]);
        }
    }
}
