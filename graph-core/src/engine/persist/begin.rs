//! The beginning of a run on a thread: with an input, at the thread's head, or again from an old checkpoint.

use std::sync::Arc;

use crate::engine::Driver;
use crate::engine::cx::RunShared;
use crate::engine::erased::{AppContext, ErasedInput, TaskWrites};
use crate::engine::options::RunOptions;
use crate::engine::parts::Parts;
use crate::error::Error;
use crate::graph::Compiled;
use crate::stream::Events;

use super::opened::Opened;
use super::pieces::Pieces;
use super::resume::GoOn;
use super::writer::Persist;

/// The way in which a run on a thread begins.
pub(crate) enum Begin {
    /// With an input, after a checkpoint or on a new thread.
    Input(Box<dyn ErasedInput>, Option<Opened>),
    /// At the thread's head.
    GoOn(GoOn),
    /// From a checkpoint, as a new branch, optionally with an update to the state.
    Again(Opened, Option<TaskWrites>),
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
        begin: Begin,
    ) -> Result<Self, Error> {
        let parts = Parts::new(graph, context, shared, options, events)?.can_run()?;
        match begin {
            Begin::Input(input, from) => parts.with_input(persist, input, from),
            Begin::GoOn(go_on) => parts.go_on(persist, go_on),
            Begin::Again(opened, update) => {
                let step = opened.checkpoint.step + 1;
                persist.pieces = Pieces::default();
                parts.again(persist, opened, update, step)
            }
        }
    }
}
