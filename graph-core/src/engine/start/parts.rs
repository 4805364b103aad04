use std::sync::Arc;

use crate::engine::apply::{Ephemerals, Undos, WriteSet, own};
use crate::engine::context::{AppContext, ErasedContext, Inherited, RunShared};
use crate::engine::graph::{Compiled, Spares};
use crate::engine::run::{Driver, RunBreakpoints};
use crate::engine::task::{Failed, Suspended, start_failed};
use crate::erased::ErasedState;
use crate::error::{Error, ErrorKind, contained};
use crate::options::RunOptions;
use crate::plan::Progress;
use crate::stream::Events;

/// The parts of a driver that do not depend on its state and plan.
pub(crate) struct Parts {
    pub(crate) graph: Arc<Compiled>,
    pub(crate) ctx: Box<dyn ErasedContext>,
    pub(crate) options: RunOptions,
    pub(crate) events: Option<Events>,
}

impl Parts {
    pub(crate) fn new(
        graph: Arc<Compiled>,
        context: Arc<dyn AppContext>,
        mut shared: RunShared,
        options: RunOptions,
        events: Option<Events>,
    ) -> Result<Self, Error> {
        shared.parent_run.options = Inherited::of(&options);
        let ctx = context.into_context(Arc::new(shared));
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
    pub(crate) fn can_run(self) -> Result<Self, Error> {
        if self.graph.is_cached && self.ctx.shared.cache.is_none() {
            return Err(self.error(self.graph.no_cache()));
        }
        Ok(self)
    }

    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.graph.name, kind)
    }

    /// Makes a driver in memory, with nothing planned yet.
    pub(crate) fn driver(
        mut self,
        mut state: Arc<dyn ErasedState>,
        ephemerals: Ephemerals,
    ) -> Result<Driver, Error> {
        if let Some(state) = own(&mut state) {
            rebuild(state, self.ctx.app_context()).map_err(|kind| self.error(kind))?;
        }
        let breakpoints =
            RunBreakpoints::of(&self.graph, &self.options.breakpoints).map_err(|kind| self.error(kind))?;
        self.ctx.at.remaining = self.options.recursion_limit;
        let Self { graph, ctx, options, events } = self;
        Ok(Driver {
            state,
            progress: Progress::new(&graph.topology),
            undos: Undos::new(graph.state),
            spares: Spares::new(&graph.spares),
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
            stop_points: Vec::new(),
            stop_point: None,
            breakpoints,
            ephemerals,
            write_set: WriteSet::default(),
            persist: None,
            returned: None,
            parent_commands: Vec::new(),
            broken: None,
        })
    }
}

/// Recomputes the untracked fields that are made from the application context.
pub(crate) fn rebuild(state: &mut dyn ErasedState, context: &dyn AppContext) -> Result<(), ErrorKind> {
    match contained(|| state.rebuild(context)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(field)) => Err(ErrorKind::ContextMismatch { field: field.name, context: context.type_name() }),
        Err(panic) => Err(start_failed(Failed::Panic(panic))),
    }
}

const NO_TASK: ErrorKind = ErrorKind::Runtime("`max_concurrency(0)` lets no task run: set it to at least 1");
