use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::apply::{CallWrites, Ephemerals, Undos, WriteSet};
use crate::engine::context::{ErasedContext, StopPoint};
use crate::engine::graph::{Compiled, Spares};
use crate::engine::persist::Persist;
use crate::engine::spans::RunSpan;
use crate::engine::task::{Failed, Finished, NO_TIMER, Suspended, Unfinished, start_failed, timer};
use crate::erased::{ErasedState, Packet};
use crate::error::{Error, ErrorKind, NodeFailure, contained};
use crate::options::RunOptions;
use crate::plan::{Progress, Target, Task};
use crate::step::ErasedParentCommand;
use crate::stream::{Events, TaskEnd};

use super::breakpoints::RunBreakpoints;
use super::execute::Execution;

/// A run: its state, its planned tasks, and the results that have come in so far.
pub(crate) struct Driver {
    pub(crate) graph: Arc<Compiled>,
    pub(crate) state: Arc<dyn ErasedState>,
    pub(crate) ctx: Box<dyn ErasedContext>,
    pub(crate) options: RunOptions,
    pub(crate) events: Option<Events>,
    /// The number of supersteps that have been applied.
    pub(crate) step: u64,
    /// The tasks of the next superstep, in application order.
    pub(crate) tasks: Vec<Task>,
    /// Their results so far. A superstep that failed or was dropped continues from here.
    pub(crate) results: Vec<Option<Finished>>,
    /// The memory of applied writes, for those of the next superstep.
    pub(crate) spares: Spares,
    /// The number of attempts that each task has started.
    pub(crate) attempts: Vec<u32>,
    /// The open interrupts of suspended tasks, and those whose answer could not be read.
    pub(crate) suspended: Suspended,
    /// The stops of subgraph runs inside these tasks.
    pub(crate) stop_points: Vec<StopPoint>,
    /// The place at which the run has stopped, after a step that ended in a stop.
    pub(crate) stop_point: Option<StopPoint>,
    /// The breakpoints; `None` for a run without breakpoints.
    pub(crate) breakpoints: Option<Box<RunBreakpoints>>,
    pub(crate) progress: Progress,
    pub(crate) ephemerals: Ephemerals,
    pub(crate) write_set: WriteSet,
    pub(crate) undos: Undos,
    /// The connection to the thread; `None` for a run in memory.
    pub(crate) persist: Option<Box<Persist>>,
    /// The writes so far, for a subgraph run that works on the parent state.
    pub(crate) returned: Option<Box<CallWrites>>,
    /// The commands of its nodes to the parent graph. The first superstep that returns any ends the run.
    pub(crate) parent_commands: Vec<ErasedParentCommand>,
    /// The last superstep that the recursion limit allows.
    pub(crate) last_step: u64,
    /// The message of the panic after which the run cannot continue.
    pub(crate) broken: Option<String>,
    /// A copy of the run's span, so that each step reaches it without an indirection.
    pub(crate) spans: RunSpan,
}

/// Clears a map that is nearly always empty. `clear` takes even an empty map apart, so this checks first.
#[inline]
fn forget(suspended: &mut Suspended) {
    #[cold]
    #[inline(never)]
    fn clear(suspended: &mut Suspended) {
        suspended.clear();
    }
    if !suspended.is_empty() {
        clear(suspended);
    }
}

impl Driver {
    /// Turns the plan into the next superstep.
    pub(crate) fn take_plan(&mut self) {
        std::mem::swap(&mut self.tasks, &mut self.progress.tasks);
        for finished in self.results.drain(..).flatten() {
            self.spares.give(finished.into_writes());
        }
        // An attempt under a policy takes none, so the number would grow with the supersteps.
        self.spares.limit(self.progress.tasks.len());
        self.results.resize_with(self.tasks.len(), || None);
        self.attempts.fill(0);
        self.attempts.resize(self.tasks.len(), 0);
        forget(&mut self.suspended);
    }

    /// Returns the name of the graph.
    pub(crate) fn name(&self) -> &str {
        &self.graph.name
    }

    pub(crate) fn state(&self) -> &Arc<dyn ErasedState> {
        &self.state
    }

    /// Returns the state.
    pub(crate) fn into_state(self) -> Arc<dyn ErasedState> {
        self.state
    }

    /// Returns the number of supersteps that have been applied.
    pub(crate) fn superstep(&self) -> u64 {
        self.step
    }

    /// Returns the names of the planned nodes, one for each task.
    pub(crate) fn next(&self) -> impl Iterator<Item = &str> {
        self.tasks.iter().map(|task| self.graph.node_name(task.node))
    }

    /// Returns the planned task's node and packet; `None` unless exactly one task, with a packet, is planned.
    pub(crate) fn planned(&self) -> Option<(&str, &Packet)> {
        let [task] = self.tasks.as_slice() else { return None };
        Some((self.graph.node_name(task.node), task.packet.as_ref()?))
    }

    /// Returns the names of the planned nodes whose tasks have not finished.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &str> {
        let open = self.tasks.iter().zip(&self.results).filter(|(_, result)| result.is_none());
        open.map(|(task, _)| self.graph.node_name(task.node))
    }

    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.graph.name, kind).with_state(self.state.clone())
    }

    /// Sends the listeners the state with which the run begins.
    ///
    /// With `restored`, also sends the results of planned tasks that finished before this run.
    pub(crate) async fn announce(&mut self, restored: bool) {
        let Some(events) = &self.events else { return };
        events.values(self.step, &self.state).await;
        if restored && self.results.iter().any(Option::is_some) {
            Box::pin(self.announce_results()).await;
        }
    }

    /// Sends the results of planned tasks that finished before this run.
    async fn announce_results(&mut self) {
        let Some(events) = &self.events else { return };
        for (index, task) in self.tasks.iter().enumerate() {
            let finished = self.results.get(index).and_then(Option::as_ref);
            if let (Some(finished), Some(name)) = (finished, self.graph.names.get(task.node)) {
                let subgraph = self.graph.is_subgraph(task.node);
                let end = TaskEnd { cached: false, restored: true, subgraph };
                let writes = finished.writes.clone();
                events.task_finished(self.step + 1, index, Arc::clone(name), writes, end).await;
            }
        }
    }

    /// Executes the superstep in a box, so that the state machine of a fan-out does not enlarge the future of every
    /// superstep.
    #[inline(never)]
    pub(crate) fn boxed(
        &mut self,
        step: u64,
    ) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send + '_>> {
        Box::pin(self.execute(step))
    }

    fn over_the_limit(&self) -> Error {
        let next = self.next().map(str::to_owned).collect();
        self.error(ErrorKind::RecursionLimit { limit: self.options.recursion_limit, next })
    }

    /// Handles a superstep's only task that failed or is suspended.
    #[cold]
    #[inline(never)]
    pub(crate) fn lone_unfinished(&mut self, unfinished: Unfinished, step: u64) -> Result<bool, Error> {
        if unfinished.is_suspended() {
            self.suspended.insert(0, unfinished.open);
        }
        self.stop_points.extend(unfinished.stop_point);
        match unfinished.failed {
            Some(failed) => Err(self.lone_failure(failed, step)),
            None => {
                // A suspended attempt is not counted.
                self.attempts.iter_mut().for_each(|attempts| *attempts = attempts.saturating_sub(1));
                Ok(self.stop())
            }
        }
    }

    /// Returns the error for the failure of a superstep's only task.
    #[cold]
    #[inline(never)]
    pub(crate) fn lone_failure(&self, failed: Failed, step: u64) -> Error {
        let Some(task) = self.tasks.first() else { return self.error(start_failed(failed)) };
        let attempt = self.attempts.first().copied().unwrap_or(1);
        let name = self.graph.node_name(task.node);
        let first = failed.into_failure(name, step, attempt).of(0, task.packet.as_ref());
        self.error(ErrorKind::Node { first: Box::new(first), others: Vec::new() })
    }

    /// Checks for a timer before any task starts.
    ///
    /// # Errors
    /// The policy of a planned node may have to wait, and the runtime has no timer.
    fn has_timer(&self) -> Result<(), Error> {
        let policies = self.tasks.iter().filter_map(|task| self.graph.nodes.get(task.node)?.policy.as_ref());
        let mut needing_timer = policies.filter(|policy| policy.limits.needs_timer());
        match needing_timer.next().map(|_| timer(Duration::ZERO)) {
            Some(Err(_)) => Err(self.error(ErrorKind::Runtime(NO_TIMER))),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    async fn execute(&mut self, step: u64) -> Result<(), Error> {
        self.has_timer()?;
        let (mut failures, mut has_unfinished) = (Vec::new(), false);
        self.stop_points.clear();
        let mut execution = Execution {
            graph: &self.graph,
            state: &self.state,
            ctx: &*self.ctx,
            tasks: &self.tasks,
            results: &mut self.results,
            spares: &mut self.spares,
            attempts: &mut self.attempts,
            failures: &mut failures,
            has_unfinished: &mut has_unfinished,
            waited: std::mem::take(&mut self.suspended),
            suspended: &mut self.suspended,
            stop_points: &mut self.stop_points,
            options: &self.options,
            events: self.events.as_ref(),
            recorder: self.persist.as_mut().map(|persist| persist.recorder(self.tasks.len())),
            missing: 0,
            pool: None,
        };
        let running = execution.run_unless_cancelled();
        let late = match self.options.superstep_timeout {
            None => {
                running.await;
                Ok(None)
            }
            // Tokio panics where its timer is not enabled.
            Some(limit) => match contained(|| tokio::time::timeout(limit, running)) {
                Ok(timeout) => Ok(timeout.await.is_err().then_some(limit)),
                Err(panic) => Err(panic),
            },
        };
        drop(execution);
        let Ok(late) = late else {
            return Err(self.error(ErrorKind::Runtime(
                "a superstep timeout needs a tokio runtime with its timer enabled (`enable_time`)",
            )));
        };
        // Failures are reported first. A superstep that failed can be late as well: a sibling kept running, or did
        // not react to its cancellation.
        self.fail(failures.into_iter().map(|(_, failure)| failure).collect())?;
        if let Some(limit) = late {
            let unfinished = self.unfinished().map(str::to_owned).collect();
            return Err(self.error(ErrorKind::SuperstepTimeout { step, limit, unfinished }));
        }
        if !has_unfinished {
            return Ok(());
        }
        // Without a failure, tasks stay unfinished only if the run is cancelled or the runtime shuts down.
        Err(self.cancelled().unwrap_or_else(|| {
            self.error(ErrorKind::Runtime("the tokio runtime was shut down during the run"))
        }))
    }

    pub(crate) fn fail(&self, failures: Vec<NodeFailure>) -> Result<(), Error> {
        let mut failures = failures.into_iter();
        match failures.next() {
            None => Ok(()),
            Some(first) => {
                Err(self.error(ErrorKind::Node { first: Box::new(first), others: failures.collect() }))
            }
        }
    }

    /// Returns why no superstep begins: a breakpoint, a stop, the recursion limit, or the end of the run.
    ///
    /// A run that ends while a required join still waits is an error.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_without_superstep(&self) -> Result<bool, Error> {
        if self.stop_point.is_some() {
            return Ok(false);
        }
        if !self.tasks.is_empty() {
            return Err(self.cancelled().unwrap_or_else(|| self.over_the_limit()));
        }
        not_filled(&self.graph, &self.progress).map_or(Ok(false), |kind| Err(self.error(kind)))
    }
}

/// Returns the error of a run that has nothing left to run while a required join still waits.
pub(crate) fn not_filled(graph: &Compiled, progress: &Progress) -> Option<ErrorKind> {
    let (join, missing) = progress.incomplete_joins(&graph.topology).next()?;
    let name = |node: usize| graph.node_name(node).to_owned();
    let target = match join.target {
        Target::Node(node) => name(node),
        Target::End => "END".to_owned(),
    };
    Some(ErrorKind::JoinNotFilled { target, missing: missing.into_iter().map(name).collect() })
}
