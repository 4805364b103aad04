use crate::checkpoint::CheckpointId;
use crate::error::Error;
use crate::run::{NeedsContext, Run};
use crate::state::{GraphState, IntoInput, IntoUpdate};

use super::load::load;
use super::run::{Again, IntoAnswers, OnThread, Resuming, WithInput};
use super::{IntoAsNode, Snapshot, Thread, UpdateThread};

/// A thread at one of its checkpoints; made by [`Thread::at`].
#[derive(Debug)]
pub struct At<S: GraphState, D = ()> {
    pub(super) thread: Thread<S, D>,
    pub(super) checkpoint: CheckpointId,
}

impl<S: GraphState, D: Send + Sync + 'static> At<S, D> {
    /// The thread as it was then; `None` if there is no such checkpoint.
    ///
    /// # Errors
    /// As [`Thread::state`].
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn state(&self) -> Result<Option<Snapshot<S>>, Error> {
        load(&self.thread, Some(self.checkpoint)).await
    }

    /// Runs everything that was planned then once again, as a new branch: all its tasks, those that had finished too, with
    /// their questions. At a final checkpoint nothing is run and nothing written.
    ///
    /// With [`update`](Run::update) it runs them on another state.
    pub fn run_again(&self) -> Run<S, D, NeedsContext, OnThread<S, D, Again<S>>> {
        self.thread.run_from(Some(self.checkpoint), Again::new())
    }

    /// A run with new input on the state as it was then, as a new branch.
    ///
    /// What was planned there does not run on the branch: the input takes its place. The call has to say so, with
    /// [`abandon_pending`](Run::abandon_pending), as everywhere where something is planned: whoever wants it to run wants
    /// [`run_again`](Self::run_again). Nothing is lost on the branches that are there.
    ///
    /// # Errors
    /// As [`Thread::run`]; [`Pending`](crate::ErrorKind::PendingTasks) when something is planned at the checkpoint, also with
    /// [`OnConflict::Wait`](super::OnConflict::Wait): no checkpoint changes.
    pub fn run(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext, OnThread<S, D, WithInput<S>>> {
        self.thread.run_from(Some(self.checkpoint), WithInput::new(input.into_input()))
    }

    /// The same as [`Thread::resume`], if this is still where the thread is; otherwise
    /// [`NotHead`](crate::ErrorKind::NotHead).
    pub fn resume(&self, answers: impl IntoAnswers) -> Run<S, D, NeedsContext, OnThread<S, D, Resuming<S>>> {
        self.thread.run_from(Some(self.checkpoint), Resuming::new(answers.into_answers()))
    }

    /// Writes to the state as it was then, as a new branch; as [`Thread::update`].
    pub fn update(
        &self,
        update: impl IntoUpdate<S>,
        place: impl IntoAsNode,
    ) -> UpdateThread<S, D, NeedsContext> {
        let updates = vec![vec![(update.into_update(), place.into_place())]];
        UpdateThread::new(self.thread.clone(), Some(self.checkpoint), updates)
    }

    /// The same for several updates: each inner list is one superstep; as [`Thread::bulk_update`].
    pub fn bulk_update<U: IntoUpdate<S>, P: IntoAsNode>(
        &self,
        supersteps: impl IntoIterator<Item = impl IntoIterator<Item = (U, P)>>,
    ) -> UpdateThread<S, D, NeedsContext> {
        UpdateThread::bulk(self.thread.clone(), Some(self.checkpoint), supersteps)
    }
}
