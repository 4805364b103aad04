use crate::checkpoint::CheckpointId;
use crate::error::Error;
use crate::run::{NeedsContext, Run};
use crate::state::{GraphState, IntoInput, IntoUpdate};

use super::load::load;
use super::run::{IntoAnswers, OnThread, Resuming, RunAgain, WithInput};
use super::{IntoAsNode, Snapshot, Thread, UpdateThread};

/// A thread at one of its checkpoints, to read it or to branch from it. Made by [`Thread::at`].
#[derive(Debug)]
pub struct ThreadAt<S: GraphState, D = ()> {
    thread: Thread<S, D>,
    checkpoint: CheckpointId,
}

impl<S: GraphState, D: Send + Sync + 'static> Thread<S, D> {
    /// Returns the thread at one of its checkpoints, for time travel: read its state, run it again, or branch from it.
    pub fn at(&self, checkpoint: CheckpointId) -> ThreadAt<S, D> {
        ThreadAt { thread: self.clone(), checkpoint }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> ThreadAt<S, D> {
    /// Returns the snapshot of the checkpoint, or `None` if it does not exist.
    ///
    /// # Errors
    /// As [`Thread::state`].
    ///
    /// # Cancel safety
    /// Cancel safe: the call only reads.
    pub async fn state(&self) -> Result<Option<Snapshot<S>>, Error> {
        load(self.thread.erased(), Some(self.checkpoint)).await
    }

    /// Creates a run that repeats the superstep planned at the checkpoint, on a new branch (replay).
    ///
    /// All planned tasks run again, including those that had finished, and ask their questions again. At a final checkpoint
    /// nothing runs and nothing is written. [`update`](Run::update) changes the state on which the tasks run.
    ///
    /// # Errors
    /// Awaiting the run fails like [`Thread::resume`], and with [`NoCheckpoint`](crate::ErrorKind::NoCheckpoint) if the
    /// checkpoint does not exist.
    ///
    /// # Durability
    /// As [`Thread::run`].
    pub fn run_again(&self) -> Run<S, D, NeedsContext, OnThread<S, RunAgain<S>>> {
        self.thread.run_from(Some(self.checkpoint), RunAgain::new())
    }

    /// Creates a run with new input on the state of the checkpoint, on a new branch.
    ///
    /// If the checkpoint has pending tasks, the run requires [`abandon_pending`](Run::abandon_pending): the input replaces
    /// the tasks on the new branch. To run the tasks instead, use [`run_again`](Self::run_again). Existing branches do not
    /// change.
    ///
    /// # Errors
    /// As [`Thread::run`]. A checkpoint with pending tasks fails with
    /// [`PendingTasks`](crate::ErrorKind::PendingTasks) even under [`OnConflict::Wait`](super::OnConflict::Wait), because a
    /// checkpoint never changes.
    ///
    /// # Durability
    /// As [`Thread::run`].
    pub fn run(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext, OnThread<S, WithInput<S>>> {
        self.thread.run_from(Some(self.checkpoint), WithInput::new(input.into_input()))
    }

    /// Creates a run like [`Thread::resume`], but only if the checkpoint is still the thread's head.
    ///
    /// # Errors
    /// As [`Thread::resume`], and [`NotHead`](crate::ErrorKind::NotHead) if the checkpoint is not the head.
    ///
    /// # Durability
    /// As [`Thread::run`].
    pub fn resume(&self, answers: impl IntoAnswers) -> Run<S, D, NeedsContext, OnThread<S, Resuming<S>>> {
        self.thread.run_from(Some(self.checkpoint), Resuming::new(answers.into_answers()))
    }

    /// Writes an update to the state of the checkpoint, on a new branch; see [`Thread::update`].
    ///
    /// If the checkpoint is the thread's head, this is the same as [`Thread::update`].
    ///
    /// # Errors
    /// As [`Thread::update`], and [`NoCheckpoint`](crate::ErrorKind::NoCheckpoint) if the checkpoint does not exist.
    ///
    /// # Durability
    /// The update is durable when awaiting it returns.
    pub fn update(
        &self,
        update: impl IntoUpdate<S>,
        place: impl IntoAsNode,
    ) -> UpdateThread<S, D, NeedsContext> {
        let updates = vec![vec![(update.into_update(), place.into_place())]];
        UpdateThread::new(self.thread.erased(), Some(self.checkpoint), updates)
    }

    /// Writes several updates on a new branch; each inner list is one superstep. See [`Thread::bulk_update`].
    pub fn bulk_update<U: IntoUpdate<S>, P: IntoAsNode>(
        &self,
        supersteps: impl IntoIterator<Item = impl IntoIterator<Item = (U, P)>>,
    ) -> UpdateThread<S, D, NeedsContext> {
        UpdateThread::bulk(self.thread.erased(), Some(self.checkpoint), supersteps)
    }
}
