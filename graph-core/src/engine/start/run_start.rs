//! The beginning of a run on a thread: with an input, at the thread's head, or again from an old checkpoint.

use std::sync::Arc;

use crate::engine::context::{AppContext, RunShared};
use crate::engine::graph::Compiled;
use crate::engine::persist::Persist;
use crate::engine::restore::RestoredCheckpoint;
use crate::engine::run::Driver;
use crate::engine::stored::FieldChanges;
use crate::erased::{ErasedInput, TaskWrites};
use crate::error::Error;
use crate::options::RunOptions;
use crate::stream::Events;

use super::parts::Parts;
use super::resume::Resumption;

/// The start of a run on a thread.
pub(crate) enum RunStart {
    /// With an input, after a checkpoint or on a new thread.
    Input(Box<dyn ErasedInput>, Option<RestoredCheckpoint>),
    /// At the thread's head.
    Resumption(Resumption),
    /// From a checkpoint, as a new branch, optionally with an update to the state.
    Replay(RestoredCheckpoint, Option<TaskWrites>),
}

impl Driver {
    /// Creates a run on a thread, ready for its first superstep. Its writes so far are in its journal.
    pub(crate) fn on_thread(
        graph: Arc<Compiled>,
        context: Arc<dyn AppContext>,
        shared: RunShared,
        options: RunOptions,
        events: Option<Events>,
        mut persist: Persist,
        start: RunStart,
    ) -> Result<Self, Error> {
        let parts = Parts::new(graph, context, shared, options, events)?.can_run()?;
        match start {
            RunStart::Input(input, from) => parts.with_input(persist, input, from),
            RunStart::Resumption(resumption) => parts.resumption(persist, resumption),
            RunStart::Replay(restored, update) => {
                let step = restored.checkpoint.step.saturating_add(1);
                persist.changes = FieldChanges::default();
                parts.replay(persist, restored, update, step)
            }
        }
    }
}
