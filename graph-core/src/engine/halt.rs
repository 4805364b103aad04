use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use crate::engine::erased::ErasedState;
use crate::error::{Error, ErrorKind};
use crate::interrupt::{Answer, OpenInterrupt, Pause};
use crate::run::{Outcome, Stop};

use super::Driver;
use super::clock::{from_millis, to_millis};
use super::desk::{Answered, Memo, Timer};
use super::persist::{StoredQuestion, answer_records};

/// A stop on the way: at breakpoints, at open interrupts of suspended tasks, at a sleep, or by request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Halt {
    /// The planned nodes with a breakpoint before them.
    pub(crate) before: Vec<String>,
    /// The nodes of the last superstep with a breakpoint after them.
    pub(crate) after: Vec<String>,
    /// `true` if the run was asked to stop.
    pub(crate) told: bool,
    /// The earliest time at which a sleeping task wakes.
    pub(crate) wakes_at: Option<SystemTime>,
}

impl Halt {
    /// Converts the stop of a subgraph run inside a task of `node` into a stop of the parent run.
    pub(super) fn within(&self, node: &str) -> Self {
        let inside = |nodes: &[String]| nodes.iter().map(|inner| format!("{node}/{inner}")).collect();
        Self { before: inside(&self.before), after: inside(&self.after), ..*self }
    }

    /// Merges another stop of the same run.
    fn add(&mut self, other: Self) {
        self.before.extend(other.before);
        self.after.extend(other.after);
        self.told |= other.told;
        self.wakes_at = self.wakes_at.into_iter().chain(other.wakes_at).min();
    }
}

impl Driver {
    /// Stops the run at its suspended tasks. Returns `false`, the result of [`Driver::step`] in this case.
    #[cold]
    pub(super) fn stop(&mut self) -> bool {
        let mut all = Halt { wakes_at: self.wakes_at(), ..Halt::default() };
        for halt in std::mem::take(&mut self.halted) {
            all.add(halt);
        }
        all.told |= all.wakes_at.is_some() && self.options.stop.as_ref().is_some_and(Stop::is_stopping);
        self.halt = Some(all);
        false
    }

    /// Returns `true` if the last step ended in a stop.
    pub(crate) fn has_halted(&self) -> bool {
        self.halt.is_some()
    }

    /// Returns the earliest time at which a suspended task wakes.
    fn wakes_at(&self) -> Option<SystemTime> {
        let memos = &self.ctx.shared.memos;
        let asleep = |&task: &usize| memos.of(self.step + 1, task, |memo| memo.asleep);
        // Rounded as it is stored.
        let first = self.suspended.keys().filter_map(asleep).min();
        first.and_then(|time| from_millis(to_millis(time)))
    }

    /// Returns the earliest time at which a question or a sleep of the tasks that wait for answers ends, after a failure.
    pub(super) fn first_deadline(&self) -> Option<SystemTime> {
        let memos = &self.ctx.shared.memos;
        let timers = self.suspended.keys().filter_map(|&task| {
            let first = |memo: &mut Memo| memo.sleeps.values().filter_map(Timer::pending).min();
            from_millis(memos.of(self.step + 1, task, first)?)
        });
        timers.chain(self.interrupts().filter_map(|open| open.expires_at)).min()
    }

    /// Returns the pause at which the run has stopped, with its state; `None` while it runs and when it is complete.
    ///
    /// After a failure the pause holds the interrupts that are open nevertheless.
    pub(crate) fn pause(&self) -> Option<Pause<&dyn ErasedState>> {
        let halt = self.halt.clone().or_else(|| self.interrupts().next().map(|_| Halt::default()))?;
        Some(self.paused(&*self.state, halt))
    }

    fn paused<T>(&self, state: T, halt: Halt) -> Pause<T> {
        Pause {
            state,
            interrupts: self.interrupts().cloned().collect(),
            before: halt.before,
            after: halt.after,
            next: self.next().map(str::to_owned).collect(),
            stopped: halt.told,
            wakes_at: halt.wakes_at,
        }
    }

    /// Returns the open interrupts, in application order.
    pub(crate) fn interrupts(&self) -> impl Iterator<Item = &OpenInterrupt> {
        self.suspended.values().flatten()
    }

    /// Converts the run into its outcome.
    pub(crate) fn into_outcome(mut self) -> Outcome<Arc<dyn ErasedState>> {
        if let Some(persist) = &mut self.persist {
            persist.ends_here();
        }
        match self.halt.take() {
            None => Outcome::Done(self.into_state()),
            Some(halt) => {
                let pause = self.paused((), halt);
                Outcome::Interrupted(pause.with_state(self.into_state()))
            }
        }
    }

    /// Answers open interrupts, all or none. The tasks that asked run again with the next step.
    pub(crate) fn answer(&mut self, answers: Vec<Answer>) -> Result<(), Error> {
        let asked = self.suspended.iter().flat_map(|(task, open)| open.iter().map(|open| (*task, open)));
        let mut asked: HashMap<&str, _> =
            asked.map(|(task, open)| (open.id.as_str(), (task, Some(open)))).collect();
        let mut given = Vec::new();
        let mut records = Vec::new();
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
            if self.persist.is_some() {
                records.extend(answer_records(task, &id, &StoredQuestion::of(open), (&answer, version)));
            }
            let versions = (open.version, version);
            given.push((task, id, Answered { question: open.question.clone(), answer, versions }));
        }
        if let Some(persist) = &mut self.persist {
            persist.answered(records);
        }
        let ids: HashSet<&str> = given.iter().map(|(_, id, _)| id.as_str()).collect();
        for open in self.suspended.values_mut() {
            open.retain(|open| !ids.contains(open.id.as_str()));
        }
        if !given.is_empty() {
            self.runs_again();
        }
        for (task, id, answered) in given {
            self.ctx.shared.memos.give(self.step + 1, task, [(id, answered)]);
        }
        Ok(())
    }
}
