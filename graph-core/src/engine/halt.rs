use std::time::SystemTime;

use crate::error::{Error, ErrorKind};
use crate::interrupt::{Answer, OpenInterrupt, Pause};
use crate::run::{Outcome, Stop};
use crate::state::GraphState;

use super::Driver;
use super::clock::{from_millis, to_millis};
use super::desk::Answered;
use super::persist::answer_record;

/// Where a run has stopped on the way: at breakpoints, at the questions of suspended tasks, or where it was told to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Halt {
    /// The nodes that would run next and have a breakpoint before them.
    pub(crate) before: Vec<String>,
    /// The nodes that have run last and have a breakpoint after them.
    pub(crate) after: Vec<String>,
    /// It was told to stop.
    pub(crate) told: bool,
    /// When the first of its tasks wakes up that sleep.
    pub(crate) wakes_at: Option<SystemTime>,
}

impl Halt {
    /// The same, of a run within a task of this node, as that of the task's own run.
    pub(super) fn within(&self, node: &str) -> Self {
        let inside = |nodes: &[String]| nodes.iter().map(|inner| format!("{node}/{inner}")).collect();
        Self { before: inside(&self.before), after: inside(&self.after), ..*self }
    }

    /// Adds where else the run has stopped.
    fn add(&mut self, other: Self) {
        self.before.extend(other.before);
        self.after.extend(other.after);
        self.told |= other.told;
        self.wakes_at = self.wakes_at.into_iter().chain(other.wakes_at).min();
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Driver<S, D> {
    /// Stops at the questions of suspended tasks; what stepping gives back then.
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

    /// Whether the last step came to questions or breakpoints.
    pub(crate) fn has_halted(&self) -> bool {
        self.halt.is_some()
    }

    /// When the first of the suspended tasks wakes up that sleep.
    fn wakes_at(&self) -> Option<SystemTime> {
        let memos = &self.ctx.shared.memos;
        let asleep = |&task: &usize| memos.of(self.step + 1, task, |memo| memo.asleep);
        // As it is stored.
        let first = self.suspended.keys().filter_map(asleep).min();
        first.and_then(|time| from_millis(to_millis(time)))
    }

    /// Where the run has stopped, with the state that it has; `None` while it goes on, and when it is complete. After a
    /// failure: what is asked all the same.
    pub(crate) fn pause(&self) -> Option<Pause<&S>> {
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

    /// The open questions, in application order.
    pub(crate) fn interrupts(&self) -> impl Iterator<Item = &OpenInterrupt> {
        self.suspended.values().flatten()
    }

    /// How the run has ended.
    pub(crate) fn into_outcome(mut self) -> Outcome<S> {
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

    /// Answers open questions, all or none; the tasks that asked them run again with the next step.
    pub(crate) fn answer(&mut self, answers: Vec<Answer>) -> Result<(), Error> {
        let mut given = Vec::new();
        for answer in answers {
            let changed =
                self.interrupts().any(|open| open.id == answer.id() && !answer.is_to(&open.question));
            let (id, answer) = answer.into_parts().map_err(|kind| self.error(kind))?;
            let refuse = |reason: &str| {
                self.error(ErrorKind::InvalidAnswer { id: id.clone(), reason: reason.to_owned() })
            };
            let asked = self.suspended.iter().flat_map(|(task, open)| open.iter().map(|open| (*task, open)));
            let mut asked = asked.filter(|(_, open)| open.id == id);
            let Some((task, open)) = asked.next() else {
                return Err(refuse("no open question has this id"));
            };
            if changed {
                return Err(refuse("the question has changed since it was shown"));
            }
            let question = open.question.clone();
            if given.iter().any(|(_, other, _)| *other == id) {
                return Err(refuse("it is answered twice"));
            }
            given.push((task, id, Answered { question, answer }));
        }
        for (task, id, answered) in given {
            if let Some(persist) = &mut self.persist {
                persist.answered(vec![answer_record(task, &id, &answered.answer)]);
            }
            if let Some(open) = self.suspended.get_mut(&task) {
                open.retain(|open| open.id != id);
            }
            self.ctx.cx.shared.memos.of(self.step + 1, task, |memo| memo.answers.insert(id, answered));
        }
        Ok(())
    }
}
