use superstep_store::checkpoint::CheckpointError;
use tokio::sync::oneshot;

use crate::error::{Error, Operation};

use super::Session;
use super::failure::Failure;

/// A write with any result type.
pub(crate) trait Write: Send {
    /// Writes its part of the current transaction. May run again from the beginning after a rollback.
    fn run(&mut self, session: &mut Session) -> Vote;
    /// Records that the transaction failed.
    fn fail(&mut self, failure: &Failure);
    /// Returns `true` if the write needs another transaction.
    fn has_more(&self) -> bool;
    /// Returns `true` if the write may take long.
    fn is_long(&self) -> bool;
    /// Returns `true` if the caller has dropped its future.
    fn is_abandoned(&self) -> bool;
    /// Sends the result to the caller.
    fn reply(self: Box<Self>);
}

/// The vote of a write on its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    /// The write is done, or was refused before it wrote anything.
    Commit,
    /// The write stopped midway: the transaction must be rolled back.
    RollBack,
}

/// The status of a write at the end of a transaction.
#[derive(Debug)]
pub(crate) enum WriteStatus<T> {
    Done(T),
    More,
}

pub(super) struct SubmittedWrite<T, F> {
    pub(super) operation: Operation,
    pub(super) run: F,
    pub(super) long: bool,
    pub(super) outcome: Option<Result<T, CheckpointError>>,
    pub(super) reply: oneshot::Sender<Reply<T, F>>,
}

/// The result of a write, and the closure that made it. The closure goes back to the caller, so that the caller's
/// thread frees its memory and not the writing thread.
pub(super) type Reply<T, F> = (Result<T, CheckpointError>, F);

impl<T, F> Write for SubmittedWrite<T, F>
where
    T: Send,
    F: FnMut(&mut Session) -> Result<WriteStatus<T>, Error> + Send,
{
    fn run(&mut self, session: &mut Session) -> Vote {
        let (outcome, vote) = match (self.run)(session) {
            Ok(WriteStatus::Done(value)) => (Some(Ok(value)), Vote::Commit),
            Ok(WriteStatus::More) => (None, Vote::Commit),
            Err(Error::Refused(error)) => (Some(Err(error)), Vote::Commit),
            Err(error) => (Some(Err(error.into_error(&self.operation))), Vote::RollBack),
        };
        self.outcome = outcome;
        vote
    }

    fn fail(&mut self, failure: &Failure) {
        self.outcome = Some(Err(failure.of(self.operation.name)));
    }

    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn has_more(&self) -> bool {
        self.outcome.is_none()
    }

    fn is_long(&self) -> bool {
        self.long
    }

    fn reply(self: Box<Self>) {
        if let Some(outcome) = self.outcome {
            // The caller may have dropped its future.
            drop(self.reply.send((outcome, self.run)));
        }
    }
}
