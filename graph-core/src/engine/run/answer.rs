//! Answers to the open interrupts of a run that is still in memory.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::engine::stored::GivenAnswer;
use crate::error::{Error, ErrorKind};
use crate::interrupt::Answer;

use super::driver::Driver;

impl Driver {
    /// Answers open interrupts, all or none. The tasks that asked run again with the next step.
    pub(crate) fn answer(&mut self, answers: Vec<Answer>) -> Result<(), Error> {
        let asked = self.suspended.iter().flat_map(|(task, open)| open.iter().map(|open| (*task, open)));
        let mut asked: HashMap<&str, _> =
            asked.map(|(task, open)| (open.id.as_str(), (task, Some(open)))).collect();
        let mut given = Vec::new();
        for answer in answers {
            let id = answer.id().to_owned();
            let found = asked.get_mut(answer.id()).map(|(task, open)| (*task, open.take()));
            let changed =
                found.is_some_and(|(_, open)| open.is_some_and(|open| open.as_answered(&answer).is_none()));
            let refuse = |reason: &str| {
                self.error(ErrorKind::InvalidAnswer { id: id.clone(), reason: reason.to_owned() })
            };
            let (task, open) = match found {
                None => return Err(refuse("no open interrupt has this id")),
                Some(_) if changed => return Err(refuse("the question has changed since it was shown")),
                Some((_, None)) => return Err(refuse("the same call answers it twice")),
                Some((task, Some(open))) => (task, open),
            };
            let form = open.as_answered(&answer).unwrap_or(Cow::Borrowed(open));
            let (answer, version) = answer.checked(&form).map_err(|kind| self.error(kind))?;
            given.push(GivenAnswer { task, open: open.clone(), answer, version });
        }
        if let Some(persist) = &mut self.persist {
            persist.answered(given.iter().flat_map(GivenAnswer::records).collect());
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
