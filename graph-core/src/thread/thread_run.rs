//! The ways in which a run on a thread begins.

use std::sync::Arc;

use crate::checkpoint::CheckpointId;
use crate::engine::About;
use crate::erased::{ErasedInput, TaskWrites};
use crate::run::{ErasedTarget, Opening, OpeningRun};

use super::erased::{OnErasedThread, Resume};
use super::resuming::open_resumed;
use super::run_again::open_again;
use super::with_input::open_with_input;

/// The way in which a run on a thread begins.
pub(super) enum How {
    Input { input: Box<dyn ErasedInput>, abandon_pending: bool },
    Resume(Resume),
    Replay { update: Option<TaskWrites>, enter: Option<(Vec<Arc<str>>, CheckpointId)> },
}

/// A run on a thread.
pub(super) struct ThreadRun {
    pub(super) on: OnErasedThread,
    pub(super) how: How,
}

impl ErasedTarget for ThreadRun {
    fn about(&self) -> About<'_> {
        let begin = match self.how {
            How::Input { .. } => "input",
            How::Resume(_) => "resume",
            How::Replay { .. } => "again",
        };
        About { begin, thread: Some(&self.on.thread.name), run_id: self.on.run_id.as_deref() }
    }

    fn open(self: Box<Self>, opening: Opening) -> OpeningRun {
        let Self { on, how } = *self;
        match how {
            How::Input { input, abandon_pending } => {
                Box::pin(open_with_input(on, input, abandon_pending, opening))
            }
            How::Resume(how) => Box::pin(open_resumed(on, how, opening)),
            How::Replay { update, enter } => Box::pin(open_again(on, update, enter, opening)),
        }
    }
}
