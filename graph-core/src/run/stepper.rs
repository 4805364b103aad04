use std::marker::PhantomData;
use std::sync::Arc;

use crate::Outcome;
use crate::engine::Driver;
use crate::erased::{OtherState, borrowed, shared};
use crate::error::Error;
use crate::interrupt::{Answer, Pause};
use crate::options::Stop;
use crate::state::GraphState;

use super::opening::{finish_by_hand, step_by_hand};

/// A run that the caller executes superstep by superstep. Made by [`Run::start`](super::Run::start).
pub struct Stepper<S: GraphState, D = ()> {
    driver: Driver,
    /// The state at the beginning.
    begun: Arc<S>,
    context: PhantomData<fn(D)>,
}

impl<S: GraphState, D: Send + Sync + 'static> Stepper<S, D> {
    pub(crate) fn new(driver: Driver) -> Result<Self, Error> {
        match shared(Arc::clone(driver.state())) {
            Some(begun) => Ok(Self { driver, begun, context: PhantomData }),
            None => Err(Error::new(driver.name(), OtherState.into())),
        }
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    pub(crate) fn driver_mut(&mut self) -> &mut Driver {
        &mut self.driver
    }

    /// Runs one superstep. Returns `false` if the run has finished or [paused](Self::pause).
    ///
    /// # Errors
    /// Any error of a run. The stepper stays usable: the state is that after the last applied superstep, and the next call
    /// runs the unfinished tasks. Only [`Panicked`](crate::ErrorKind::Panicked) ends the run for good.
    ///
    /// # Cancel safety
    /// A dropped call leaves the state unchanged. Tasks that had finished do not run again. The questions of tasks that had
    /// not ended stay open.
    ///
    /// # Durability
    /// On a thread with [`Durability::Sync`](crate::Durability::Sync), the superstep is durable when the call returns. Pauses
    /// and errors are durable in every mode.
    pub async fn step(&mut self) -> Result<bool, Error> {
        step_by_hand(&mut self.driver).await
    }

    /// Returns the pause, if the last [`step`](Self::step) stopped at questions or breakpoints.
    ///
    /// After a step that failed or was dropped, the pause holds the open questions of the other tasks. The next step
    /// continues past the breakpoints, and runs the tasks that asked from their top.
    pub fn pause(&self) -> Option<Pause<&S>> {
        let (_, pause) = self.driver.pause()?.split();
        Some(pause.with_state(self.state()))
    }

    /// Answers one or several open questions. Either all answers are accepted, or none.
    ///
    /// # Errors
    /// [`InvalidAnswer`](crate::ErrorKind::InvalidAnswer) if an answer names no open question, if its question has changed or
    /// is answered twice, if it cannot be stored, or if its JSON does not fit the question's
    /// [`answer_schema`](crate::interrupt::OpenInterrupt::answer_schema).
    pub fn answer(&mut self, answers: impl IntoIterator<Item = Answer>) -> Result<(), Error> {
        self.driver.answer(answers.into_iter().collect())
    }

    /// Replaces the [`Stop`] of the run, for example to continue after the previous one was triggered.
    pub fn stop_by(&mut self, stop: &Stop) {
        self.driver.stop_by(stop);
    }

    /// Returns the state after the last applied superstep.
    pub fn state(&self) -> &S {
        borrowed(&**self.driver.state()).unwrap_or(&self.begun)
    }

    /// Returns the number of the last applied superstep.
    pub fn superstep(&self) -> u64 {
        self.driver.superstep()
    }

    /// Returns the nodes of the next superstep, one name for each task, in application order.
    pub fn next(&self) -> Vec<&str> {
        self.driver.next().collect()
    }

    /// Returns the nodes of [`next`](Self::next) that the next [`step`](Self::step) will run.
    ///
    /// After a failure or a dropped step, the other tasks have already finished.
    pub fn unfinished(&self) -> Vec<&str> {
        self.driver.unfinished().collect()
    }

    /// Runs the remaining supersteps until the run finishes or pauses.
    ///
    /// # Errors
    /// Any error of a run.
    ///
    /// # Cancel safety
    /// A dropped call cancels the run.
    ///
    /// # Durability
    /// On a thread, the outcome is durable when the call returns.
    pub async fn finish(self) -> Result<Outcome<S>, Error> {
        let name = self.driver.name().to_owned();
        let (_, outcome) = finish_by_hand(self.driver).await?;
        outcome.typed().map_err(|kind| Error::new(&name, kind))
    }
}

impl<S: GraphState, D: Send + Sync + 'static> std::fmt::Debug for Stepper<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stepper").field("superstep", &self.superstep()).field("next", &self.next()).finish()
    }
}
