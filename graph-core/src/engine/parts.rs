use std::any::Any;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::graph::Compiled;
use crate::plan::Progress;
use crate::state::GraphState;
use crate::stream::Events;

use super::apply::Undos;
use super::attempt::contained;
use super::begin::start_failed;
use super::cx::ContextWith;
use super::ephemeral::Ephemerals;
use super::execute::Suspended;
use super::gates::Gates;
use super::ledger::Ledger;
use super::nest::Inherited;
use super::options::RunOptions;
use super::task::Failed;
use super::{Driver, RunShared};

/// The parts of a driver that do not depend on its state and plan.
pub(super) struct Parts<S: GraphState, D> {
    pub(super) graph: Arc<Compiled<S, D>>,
    pub(super) ctx: ContextWith<D>,
    pub(super) options: RunOptions,
    pub(super) events: Option<Events<S>>,
}

impl<S: GraphState, D: Send + Sync + 'static> Parts<S, D> {
    pub(super) fn new(
        graph: Arc<Compiled<S, D>>,
        context: Arc<D>,
        mut shared: RunShared,
        options: RunOptions,
        events: Option<Events<S>>,
    ) -> Result<Self, Error> {
        shared.nest.options = Inherited::of(&options);
        let ctx = ContextWith::new(Arc::new(shared), context);
        let parts = Self { graph, ctx, options, events };
        if parts.options.max_concurrency == Some(0) {
            return Err(parts.error(NO_TASK));
        }
        Ok(parts)
    }

    /// Checks that the graph can run with these parts.
    ///
    /// # Errors
    /// A node has a cache policy, and the graph has no cache.
    pub(super) fn can_run(self) -> Result<Self, Error> {
        if self.graph.is_cached && self.ctx.shared.cache.is_none() {
            return Err(self.error(self.graph.no_cache()));
        }
        Ok(self)
    }

    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.graph.name, kind)
    }

    /// Makes a driver in memory, with nothing planned yet.
    pub(super) fn driver(mut self, mut state: S, ephemerals: Ephemerals) -> Result<Driver<S, D>, Error> {
        rebuild(&mut state, &*self.ctx.context).map_err(|kind| self.error(kind))?;
        let gates = Gates::of(&self.graph, &self.options.breakpoints).map_err(|kind| self.error(kind))?;
        self.ctx.cx.at.remaining = self.options.recursion_limit;
        let Self { graph, ctx, options, events } = self;
        Ok(Driver {
            state: Arc::new(state),
            progress: Progress::new(&graph.topology),
            graph,
            spans: ctx.shared.spans.clone(),
            ctx,
            last_step: options.recursion_limit,
            options,
            events,
            step: 0,
            tasks: Vec::new(),
            results: Vec::new(),
            attempts: Vec::new(),
            suspended: Suspended::new(),
            halted: Vec::new(),
            halt: None,
            gates,
            ephemerals,
            ledger: Ledger::default(),
            undos: Undos::new(),
            persist: None,
            returned: None,
            said: Vec::new(),
            broken: None,
        })
    }
}

/// Recomputes the untracked fields that are made from the application context.
pub(crate) fn rebuild<S: GraphState, D: Send + Sync + 'static>(
    state: &mut S,
    context: &D,
) -> Result<(), ErrorKind> {
    let any: &(dyn Any + Send + Sync) = context;
    match contained(|| state.rebuild_untracked(any)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(field)) => {
            Err(ErrorKind::ContextMismatch { field: field.name, context: std::any::type_name::<D>() })
        }
        Err(panic) => Err(start_failed(Failed::Panic(panic))),
    }
}

const NO_TASK: ErrorKind = ErrorKind::Runtime("`max_concurrency(0)` lets no task run: set it to at least 1");
