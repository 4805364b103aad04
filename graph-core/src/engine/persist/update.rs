//! Updates from outside: a superstep whose writes no task has made.

use std::sync::Arc;

use crate::checkpoint::{Checkpoint, CheckpointId};
use crate::engine::Driver;
use crate::engine::begin::from_outside;
use crate::engine::cx::{Ctx, RunShared};
use crate::engine::encoded::Keep;
use crate::engine::options::RunOptions;
use crate::engine::task::Finished;
use crate::error::{Error, ErrorKind};
use crate::graph::Compiled;
use crate::node::Leave;
use crate::plan::Task;
use crate::reducers::Stamp;
use crate::state::{GraphState, Restore};

use super::begin::Parts;
use super::open::{Opened, START};
use super::pieces::Pieces;
use super::progress;
use super::writer::{Persist, Persisting};

/// An update from outside.
pub(crate) struct Outside<S: GraphState> {
    pub(crate) update: S::Update,
    pub(crate) place: Place,
    pub(crate) leave: Leave,
}

/// In whose place it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Start,
    Node(usize),
    End,
}

impl Place {
    /// Its number among those of nodes.
    fn number(self) -> usize {
        match self {
            Self::Start => crate::plan::START_PLACE,
            Self::Node(node) => node,
            Self::End => crate::plan::END_PLACE,
        }
    }
}

/// In whose place an update was made that led to a checkpoint.
pub(crate) fn updated_as(checkpoint: &Checkpoint) -> Vec<String> {
    progress::parse(checkpoint.progress.as_ref()).map(|progress| progress.updated_as).unwrap_or_default()
}

impl<S: GraphState, D: Send + Sync + 'static> Driver<S, D> {
    /// Makes updates, each list a superstep of its own; gives back the last checkpoint.
    #[expect(clippy::too_many_arguments, reason = "what a run is made of, and what is to be written")]
    pub(crate) async fn update_thread(
        graph: Arc<Compiled<S, D>>,
        context: Arc<D>,
        shared: RunShared,
        options: RunOptions,
        mut persist: Persist,
        opened: Option<Opened<S>>,
        is_head: bool,
        supersteps: Vec<Vec<Outside<S>>>,
    ) -> Result<CheckpointId, Error> {
        let parts = Parts { ctx: Ctx::new(Arc::new(shared), context), graph, options, events: None };
        let mut driver = match opened {
            Some(mut opened) if !opened.fresh => {
                if !is_head {
                    opened.known.clear();
                }
                parts.at(persist, &mut opened)?
            }
            opened => {
                // Nothing is stored of the state yet: it begins as if with an input that gives nothing.
                let mut restore = Restore::new(Vec::new());
                let state = S::__restore(&mut restore).map_err(|_| {
                    let thread = parts.ctx.cx.thread().unwrap_or_default().to_owned();
                    parts.error(ErrorKind::NoThread { thread })
                })?;
                persist.pieces = Pieces::fresh::<S>();
                if let Some(opened) = &opened {
                    persist.at = Some(opened.checkpoint.id);
                }
                let ephemerals = crate::engine::ephemeral::Ephemerals::new(&parts.graph.ephemeral);
                let step = opened.as_ref().map_or(0, |opened| opened.checkpoint.step + 1);
                let mut driver = parts.driver(persist, state, ephemerals)?;
                driver.step = u64::try_from(step - 1).unwrap_or_default();
                driver
            }
        };
        for updates in supersteps {
            driver.superstep_from_outside(updates)?;
        }
        driver.conclude().await?;
        match driver.persist.as_ref().and_then(|persist| persist.last()) {
            Some(id) => Ok(id),
            None => Err(driver.error(ErrorKind::Runtime("an update of no supersteps has no checkpoint"))),
        }
    }

    /// One superstep of updates, and of what had finished of the one that was planned.
    fn superstep_from_outside(&mut self, updates: Vec<Outside<S>>) -> Result<(), Error> {
        let step = self.step + 1;
        let finished = std::mem::take(&mut self.tasks).into_iter().zip(std::mem::take(&mut self.results));
        let finished = finished.filter_map(|(task, result)| Some((task, Some(result?))));
        let (mut tasks, mut results): (Vec<Task>, Vec<Option<Finished<S>>>) = finished.unzip();
        let (mut names, mut ends) = (Vec::new(), false);
        for Outside { update, place, leave } in updates {
            let name = match place {
                Place::Start => START,
                Place::Node(node) => self.graph.node_name(node),
                Place::End => "END",
            };
            ends |= place == Place::End;
            names.push(name.to_owned());
            let stamp = Stamp { thread: self.ctx.cx.thread(), ..Stamp::new(name, step, tasks.len()) };
            let made = from_outside::<S>(update, stamp, Keep::All).map_err(|kind| self.error(kind))?;
            // It stands for the task of its node, if that is planned and has not finished.
            tasks.push(Task { node: place.number(), packet: None });
            results.push(Some(Finished { leave, ..made }));
        }
        self.attempts = vec![1; tasks.len()];
        (self.tasks, self.results) = (tasks, results);
        self.ctx.cx.at.step = step;
        if let Some(persist) = &mut self.persist {
            persist.persisting = Persisting::Update { names, ends };
        }
        self.commit(step)
    }
}
