use std::any::Any;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::node::{Leave, Source};
use crate::plan::{Progress, plan};
use crate::reducers::Stamp;
use crate::state::{FieldWrite as _, GraphState, Input as _};
use crate::stream::Events;

use super::apply::{Rejected, Undos, broken_rules, fold_unchecked};
use super::attempt::contained;
use super::cx::Ctx;
use super::decide::ask;
use super::ephemeral::Ephemerals;
use super::ledger::Ledger;
use super::options::RunOptions;
use super::reject::reject;
use super::task::{Failed, Finished, prepare};
use super::{Driver, RunShared};

impl<S: GraphState, D: Send + Sync + 'static> Driver<S, D> {
    /// Applies the input and plans the first superstep.
    pub(crate) fn start(
        graph: &Graph<S, D>,
        input: S::Input,
        context: Arc<D>,
        shared: RunShared,
        options: RunOptions,
        events: Option<Events<S>>,
    ) -> Result<Self, Error> {
        let graph = Arc::clone(&graph.0);
        let refuse = |kind| Error::new(&graph.name, kind);
        if options.max_concurrency == Some(0) {
            return Err(refuse(ErrorKind::Runtime("a run with `max_concurrency(0)` could never run a task")));
        }
        let start = input.into_start();
        let (mut state, mut given) = (start.state, start.given);
        let (mut ledger, mut undos) = (Ledger::default(), Undos::new());
        let writes = contained(|| prepare::<S>(start.update, Stamp::new("START", 0, 0)))
            .map_err(Failed::Panic)
            .and_then(|prepared| prepared.map_err(Failed::Error))
            .map_err(|failed| refuse(start_failed(failed)))?;
        given.extend(writes.iter().map(|write| write.field()));
        let mut results = vec![Some(Finished { writes, leave: Leave::ByEdges })];
        // The input's rules are those of the given fields: a state that is still to be filled need not hold its invariant.
        fold_unchecked(&mut state, &mut results, &mut ledger, &mut undos)
            .and_then(|()| match broken_rules(&state, &given) {
                broken if broken.is_empty() => Ok(()),
                broken => Err(Rejected::Rules(broken)),
            })
            .map_err(|rejected| refuse(start_rejected(reject(&graph, 0, &[], &mut results, rejected))))?;
        undos.forget();
        let any: &(dyn Any + Send + Sync) = &*context;
        if let Err(field) = contained(|| state.rebuild_untracked(any))
            .map_err(|panic| refuse(start_failed(Failed::Panic(panic))))?
        {
            let context = std::any::type_name::<D>();
            return Err(refuse(ErrorKind::Context { field: field.name, context }));
        }
        let mut ctx = Ctx::new(Arc::new(shared), context);
        ctx.cx.at.remaining = options.recursion_limit;
        let mut ephemerals = Ephemerals::new(&graph.ephemeral);
        ephemerals.settle(0, &[], |field| given.contains(&field));
        let mut driver = Self {
            state: Arc::new(state),
            progress: Progress::new(&graph.topology),
            graph,
            ctx,
            options,
            events,
            step: 0,
            tasks: Vec::new(),
            results: Vec::new(),
            attempts: Vec::new(),
            ephemerals,
            ledger,
            undos,
        };
        driver.leave_start()?;
        Ok(driver)
    }

    fn leave_start(&mut self) -> Result<(), Error> {
        let leave = match &self.graph.start {
            None => Leave::ByEdges,
            Some(decide) => ask(decide, Source { state: &*self.state, packet: None, ctx: &self.ctx })
                .map_err(|failed| self.error(start_failed(failed)))?,
        };
        plan(&self.graph.topology, &mut self.progress, 0, std::iter::once((None, &leave)));
        self.ephemerals.keep(0, &self.progress);
        self.take_plan();
        Ok(())
    }
}

fn start_failed(failed: Failed) -> ErrorKind {
    ErrorKind::Node { first: failed.into_failure("START", 0, 1), others: Vec::new() }
}

fn start_rejected(kind: ErrorKind) -> ErrorKind {
    match kind {
        ErrorKind::Validation { step, violations, .. } => {
            ErrorKind::Validation { nodes: vec!["START".to_owned()], step, violations }
        }
        kind => kind,
    }
}
