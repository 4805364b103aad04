use crate::engine::Driver;
use crate::error::Error;
use crate::interrupt::{Answer, Pause};
use crate::state::GraphState;

use super::{Outcome, Stop};

/// A run that is driven by hand, one superstep at a time; made by [`Run::start`](super::Run::start).
pub struct Stepper<S: GraphState, D = ()>(Driver<S, D>);

impl<S: GraphState, D: Send + Sync + 'static> Stepper<S, D> {
    pub(crate) fn new(driver: Driver<S, D>) -> Self {
        Self(driver)
    }

    pub(crate) fn driver(&self) -> &Driver<S, D> {
        &self.0
    }

    pub(crate) fn driver_mut(&mut self) -> &mut Driver<S, D> {
        &mut self.0
    }

    /// Runs one superstep; `false` when nothing was left to run, or the run has [stopped](Self::pause) on the way.
    ///
    /// # Errors
    /// Everything that a run can fail with. The stepper stays usable: the state is that of the last good superstep,
    /// and a further call runs the tasks that have not finished.
    ///
    /// # Cancel safety
    /// A dropped call leaves the state as it was; tasks that had finished are not run again.
    pub async fn step(&mut self) -> Result<bool, Error> {
        let spans = self.0.spans.clone();
        let result = spans.around(self.0.step()).await;
        spans.stepped(&result, self.0.has_halted());
        result
    }

    /// Where the run has stopped, after a [`step`](Self::step) that came to questions or breakpoints. After one that
    /// failed: the questions that its other tasks ask.
    ///
    /// A further step goes on: past the breakpoints, and with tasks that asked from their top.
    pub fn pause(&self) -> Option<Pause<&S>> {
        self.0.pause()
    }

    /// Answers open questions: one answer, or several of them. All are taken, or none.
    ///
    /// # Errors
    /// [`Answer`](crate::ErrorKind::InvalidAnswer): no open question has the answer's id, since it was answered or withdrawn, or
    /// the answer cannot be stored.
    pub fn answer(&mut self, answers: impl IntoIterator<Item = Answer>) -> Result<(), Error> {
        self.0.answer(answers.into_iter().collect())
    }

    /// Lets this stop the run from now on, in the place of the [`Stop`] that it has: to go on by hand after that was pulled.
    pub fn stop_by(&mut self, stop: &Stop) {
        self.0.stop_by(stop);
    }

    /// The state as of the last good superstep.
    pub fn state(&self) -> &S {
        self.0.state()
    }

    /// How many supersteps have been applied.
    pub fn superstep(&self) -> u64 {
        self.0.superstep()
    }

    /// The nodes of the next superstep: one name for each task, in application order.
    pub fn next(&self) -> Vec<&str> {
        self.0.next().collect()
    }

    /// Those of [`next`](Self::next) that a further [`step`](Self::step) will run: after a failure, or a dropped step,
    /// the others have finished already.
    pub fn unfinished(&self) -> Vec<&str> {
        self.0.unfinished().collect()
    }

    /// Runs all that is left, or until the run stops on the way.
    ///
    /// # Errors
    /// Everything that a run can fail with.
    ///
    /// # Cancel safety
    /// A dropped call cancels the run.
    pub async fn finish(self) -> Result<Outcome<S>, Error> {
        let spans = self.0.spans.clone();
        let result = spans.around(self.finish_at()).await;
        spans.ended(&result);
        result.map(|(_, outcome)| outcome)
    }

    /// The same, with the number of the last superstep.
    pub(crate) async fn finish_at(mut self) -> Result<(u64, Outcome<S>), Error> {
        while self.0.step().await? {}
        self.0.conclude().await?;
        let superstep = self.0.superstep();
        Ok((superstep, self.0.into_outcome()))
    }
}

impl<S: GraphState, D: Send + Sync + 'static> std::fmt::Debug for Stepper<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stepper").field("superstep", &self.superstep()).field("next", &self.next()).finish()
    }
}
