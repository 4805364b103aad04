use std::any::Any;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, NodeFailure};
use crate::graph::{Compiled, CompiledNode, Graph};
use crate::node::{Leave, Source};
use crate::plan::{Progress, Target, Task, plan};
use crate::reducers::Stamp;
use crate::state::{FieldWrite as _, GraphState, Input as _};
use crate::stream::Events;

use super::RunShared;
use super::apply::{Rejected, Undos, broken_rules, fold, fold_unchecked};
use super::attempt::{Attempt, contained};
use super::cx::{At, Ctx};
use super::decide::{ask, ask_all};
use super::ephemeral::Ephemerals;
use super::execute::Execution;
use super::ledger::Ledger;
use super::options::RunOptions;
use super::reject::reject;
use super::task::{Failed, Finished, prepare};

/// A run: the state, what is planned, and what has finished of it.
pub(crate) struct Driver<S: GraphState, D> {
    graph: Arc<Compiled<S, D>>,
    state: Arc<S>,
    ctx: Ctx<D>,
    options: RunOptions,
    events: Option<Events<S>>,
    /// Supersteps that have been applied.
    step: u64,
    /// The next superstep, in application order.
    tasks: Vec<Task>,
    /// What has finished of it; a superstep that failed or was dropped goes on from here.
    results: Vec<Option<Finished<S>>>,
    /// How often each task of it has been started.
    attempts: Vec<u32>,
    progress: Progress,
    ephemerals: Ephemerals,
    ledger: Ledger,
    undos: Undos<S>,
}

/// After so many supersteps a run yields, so that one whose nodes are always ready can still be cancelled and timed.
const YIELD_EVERY: u64 = 128;

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
        let writes = prepare::<S>(start.update, Stamp::new("START", 0, 0))
            .map_err(|error| refuse(start_failed(Failed::Error(error))))?;
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
        self.take_plan();
        Ok(())
    }

    /// Makes what has been planned the next superstep.
    fn take_plan(&mut self) {
        std::mem::swap(&mut self.tasks, &mut self.progress.tasks);
        self.results.clear();
        self.results.resize_with(self.tasks.len(), || None);
        self.attempts.clear();
        self.attempts.resize(self.tasks.len(), 0);
    }

    pub(crate) fn state(&self) -> &Arc<S> {
        &self.state
    }

    pub(crate) fn into_state(self) -> Arc<S> {
        self.state
    }

    /// Supersteps that have been applied.
    pub(crate) fn superstep(&self) -> u64 {
        self.step
    }

    /// The nodes that are planned, one name for each task.
    pub(crate) fn next(&self) -> impl Iterator<Item = &str> {
        self.tasks.iter().map(|task| self.graph.node_name(task.node))
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.graph.name, kind).with_state(Arc::clone(&self.state))
    }

    /// Tells the listeners the state that the run begins with.
    pub(crate) async fn announce(&mut self) {
        if let Some(events) = &self.events {
            events.values(self.step, &self.state).await;
        }
    }

    /// Runs one superstep; `false` when there is nothing left to run.
    ///
    /// After an error, and when the future is dropped, the state is that of the last good superstep; calling again
    /// runs what has not finished.
    pub(crate) async fn step(&mut self) -> Result<bool, Error> {
        if self.tasks.is_empty() {
            return self.rest();
        }
        if self.step >= self.options.recursion_limit {
            let next = self.next().map(str::to_owned).collect();
            let limit = self.options.recursion_limit;
            return Err(self.error(ErrorKind::RecursionLimit { limit, next }));
        }
        let step = self.step + 1;
        if step.is_multiple_of(YIELD_EVERY) {
            tokio::task::yield_now().await;
        }
        let remaining = self.options.recursion_limit - step;
        self.ctx.cx.at = At { node: usize::MAX, task: 0, step, remaining, attempt: 1 };
        if let [task] = self.tasks.as_slice()
            && self.events.is_none()
            && self.options.superstep_timeout.is_none()
        {
            if let [slot @ None] = self.results.as_mut_slice()
                && let Some(node) = self.graph.nodes.get(task.node)
            {
                self.ctx.cx.at.node = task.node;
                if let [attempts] = self.attempts.as_mut_slice() {
                    *attempts += 1;
                    self.ctx.cx.at.attempt = *attempts;
                }
                let stamp = Stamp::new(self.graph.node_name(task.node), step, 0);
                let source = Source { state: &*self.state, packet: task.packet.as_ref(), ctx: &self.ctx };
                match Attempt::new(node.run.call(source), stamp).await {
                    Ok(finished) => match follow_chain(node, &self.progress, &mut self.state, finished) {
                        Ok(next) => {
                            self.step = step;
                            if let [task] = self.tasks.as_mut_slice() {
                                *task = Task { node: next, packet: None };
                                self.attempts.fill(0);
                            }
                            return Ok(true);
                        }
                        Err(finished) => *slot = Some(finished),
                    },
                    Err(failed) => {
                        let attempt = self.ctx.at.attempt;
                        let first = failed.into_failure(self.graph.node_name(task.node), step, attempt);
                        return Err(self.error(ErrorKind::Node { first, others: Vec::new() }));
                    }
                }
            }
        } else {
            // In a box: the state machine of a fan-out shall not make every superstep's future large.
            Box::pin(self.execute(step)).await?;
        }
        self.commit(step)?;
        if let Some(events) = &self.events {
            events.values(step, &self.state).await;
        }
        Ok(true)
    }

    async fn execute(&mut self, step: u64) -> Result<(), Error> {
        let execution = Execution {
            graph: &self.graph,
            state: &self.state,
            ctx: &self.ctx,
            tasks: &self.tasks,
            results: &mut self.results,
            attempts: &mut self.attempts,
            options: &self.options,
            events: self.events.as_ref(),
        };
        let failures = match self.options.superstep_timeout {
            None => execution.run().await,
            Some(limit) => {
                // Tokio panics where its timer is not enabled.
                let Ok(timeout) = contained(|| tokio::time::timeout(limit, execution.run())) else {
                    return Err(self.error(ErrorKind::Runtime(
                        "a superstep timeout needs a tokio runtime with its timer enabled (`enable_time`)",
                    )));
                };
                match timeout.await {
                    Ok(failures) => failures,
                    Err(_) => {
                        let unfinished = self.unfinished();
                        return Err(self.error(ErrorKind::SuperstepTimeout { step, limit, unfinished }));
                    }
                }
            }
        };
        self.fail(failures)?;
        // Tasks vanish without a failure only when the runtime shuts down under the run.
        if self.results.iter().any(Option::is_none) {
            return Err(
                self.error(ErrorKind::Runtime("the runtime was shut down while the run was under way"))
            );
        }
        Ok(())
    }

    fn unfinished(&self) -> Vec<String> {
        let tasks = self.tasks.iter().zip(&self.results);
        let open = tasks.filter(|(_, result)| result.is_none());
        open.map(|(task, _)| self.graph.node_name(task.node).to_owned()).collect()
    }

    fn fail(&self, failures: Vec<NodeFailure>) -> Result<(), Error> {
        let mut failures = failures.into_iter();
        match failures.next() {
            None => Ok(()),
            Some(first) => Err(self.error(ErrorKind::Node { first, others: failures.collect() })),
        }
    }

    /// Applies the superstep's results, all or nothing, and plans the next.
    #[inline]
    fn commit(&mut self, step: u64) -> Result<(), Error> {
        if self.tasks.len() == 1 && self.ephemerals.is_empty() {
            self.apply_one(step)?;
        } else {
            self.apply_many(step)?;
        }
        self.undos.forget();
        self.step = step;
        let left = self.tasks.iter().zip(&self.results);
        let left = left.filter_map(|(task, result)| Some((Some(task.node), &result.as_ref()?.leave)));
        plan(&self.graph.topology, &mut self.progress, step, left);
        self.take_plan();
        Ok(())
    }

    /// One task: its route function is asked once its update has been written for good.
    fn apply_one(&mut self, step: u64) -> Result<(), Error> {
        let state = Arc::make_mut(&mut self.state);
        if let Err(rejected) = fold(state, &mut self.results, &mut self.ledger, &mut self.undos) {
            let kind = reject(&self.graph, step, &self.tasks, &mut self.results, rejected);
            // Its writes are gone with the attempt.
            self.results.fill_with(|| None);
            return Err(self.error(kind));
        }
        if let ([task], [Some(finished)]) = (self.tasks.as_slice(), self.results.as_mut_slice())
            && let Some(decide) = self.graph.nodes.get(task.node).and_then(|node| node.decide.as_ref())
        {
            let attempt = self.attempts.first().copied().unwrap_or(1);
            self.ctx.cx.at = At { node: task.node, attempt, ..self.ctx.at };
            match ask(decide, Source { state: &*state, packet: task.packet.as_ref(), ctx: &self.ctx }) {
                Ok(leave) => finished.leave = leave,
                Err(failed) => {
                    self.undos.roll_back(state);
                    let first = failed.into_failure(self.graph.node_name(task.node), step, attempt);
                    self.results.fill_with(|| None);
                    return Err(self.error(ErrorKind::Node { first, others: Vec::new() }));
                }
            }
        }
        Ok(())
    }

    /// Several tasks, or a state with ephemeral fields.
    fn apply_many(&mut self, step: u64) -> Result<(), Error> {
        let state = Arc::make_mut(&mut self.state);
        let failures = ask_all(
            &self.graph,
            state,
            &self.ctx,
            &self.tasks,
            &self.attempts,
            &mut self.results,
            &mut self.ledger,
        );
        self.fail(failures)?;
        let state = Arc::make_mut(&mut self.state);
        let cleared: Vec<usize> = self.ephemerals.due(step, &self.progress).collect();
        for &field in &cleared {
            if let Some(undo) = state.clear_ephemeral(field) {
                self.undos.push(undo);
            }
        }
        // Folding uses the writes up; what a rejected superstep keeps is kept here.
        let kept = S::FALLIBLE.then(|| self.results.clone());
        if let Err(rejected) = fold(state, &mut self.results, &mut self.ledger, &mut self.undos) {
            if let Some(kept) = kept {
                self.results = kept;
            }
            let kind = reject(&self.graph, step, &self.tasks, &mut self.results, rejected);
            return Err(self.error(kind));
        }
        let touched = self.ledger.touched();
        self.ephemerals.settle(step, &cleared, |field| touched.contains(&field));
        Ok(())
    }

    /// Nothing is planned: the run is complete, unless a join still waits.
    fn rest(&self) -> Result<bool, Error> {
        let name = |node: usize| self.graph.node_name(node).to_owned();
        match self.progress.unfilled(&self.graph.topology).next() {
            None => Ok(false),
            Some((join, missing)) => {
                let target = match join.target {
                    Target::Node(node) => name(node),
                    Target::End => "END".to_owned(),
                };
                let missing = missing.into_iter().map(name).collect();
                Err(self.error(ErrorKind::JoinNotFilled { target, missing }))
            }
        }
    }
}

/// Applies the result of a node that one other node follows, where nothing can refuse it and there is nothing to weigh:
/// what committing and planning would do, without the general case's bookkeeping. The successor, or the result back.
#[inline]
fn follow_chain<S: GraphState, D>(
    node: &CompiledNode<S, D>,
    progress: &Progress,
    state: &mut Arc<S>,
    finished: Finished<S>,
) -> Result<usize, Finished<S>> {
    match (node.chain, &finished.leave) {
        (Some(next), Leave::ByEdges)
            if !S::FALLIBLE && finished.writes.len() <= 1 && progress.waiting.is_empty() =>
        {
            for write in finished.writes {
                // Infallible, so there is nothing to take back and no error to report.
                let _ = write.apply(Arc::make_mut(state));
            }
            Ok(next)
        }
        _ => Err(finished),
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
