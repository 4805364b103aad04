use superstep_store::checkpoint::CheckpointError;
use tokio::sync::oneshot;

use crate::trouble::{About, Trouble};

use super::Session;

/// A write, whatever it gives back.
pub(crate) trait Work: Send {
    /// Does its part of a transaction. It may be done again from the beginning after the transaction was rolled back.
    fn run(&mut self, session: &mut Session) -> Course;
    /// The transaction failed.
    fn fail(&mut self, error: &rusqlite::Error);
    /// Whether it has more to do, in another transaction.
    fn goes_on(&self) -> bool;
    /// Whether it may take long.
    fn is_long(&self) -> bool;
    /// Tells who waits for it what came of it.
    fn answer(self: Box<Self>);
}

/// How a write went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// It is done, or was refused before it had written anything.
    Whole,
    /// It has stopped midway: the transaction must not be committed.
    Broken,
}

/// What a long write comes to in one transaction.
#[derive(Debug)]
pub(crate) enum Turn<T> {
    Done(T),
    More,
}

pub(super) struct Call<T, F> {
    pub(super) about: About,
    pub(super) run: F,
    pub(super) long: bool,
    pub(super) outcome: Option<Result<T, CheckpointError>>,
    pub(super) answer: oneshot::Sender<Answer<T, F>>,
}

/// What came of a write. What was written goes back with it: memory is given back by the thread that took it, and not by
/// the one that everybody waits for.
pub(super) type Answer<T, F> = (Result<T, CheckpointError>, F);

impl<T, F> Work for Call<T, F>
where
    T: Send,
    F: FnMut(&mut Session) -> Result<Turn<T>, Trouble> + Send,
{
    fn run(&mut self, session: &mut Session) -> Course {
        let (outcome, course) = match (self.run)(session) {
            Ok(Turn::Done(value)) => (Some(Ok(value)), Course::Whole),
            Ok(Turn::More) => (None, Course::Whole),
            Err(Trouble::Refused(error)) => (Some(Err(error)), Course::Whole),
            Err(broken) => (Some(Err(broken.into_error(&self.about))), Course::Broken),
        };
        self.outcome = outcome;
        course
    }

    fn fail(&mut self, error: &rusqlite::Error) {
        let error = match error {
            rusqlite::Error::SqliteFailure(code, text) => {
                crate::trouble::backend(self.about.what, rusqlite::Error::SqliteFailure(*code, text.clone()))
            }
            other => CheckpointError::backend(self.about.what, other.to_string()),
        };
        self.outcome = Some(Err(error));
    }

    fn goes_on(&self) -> bool {
        self.outcome.is_none()
    }

    fn is_long(&self) -> bool {
        self.long
    }

    fn answer(self: Box<Self>) {
        if let Some(outcome) = self.outcome {
            // Whoever asked may be gone.
            drop(self.answer.send((outcome, self.run)));
        }
    }
}
