use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::error::{Error, ErrorKind, NodeFailure};
use crate::graph::Compiled;
use crate::node::{Outward, Packet};
use crate::plan::{Progress, Target, Task};
use crate::run::Stop;
use crate::state::GraphState;
use crate::stream::Events;

use super::apply::{Rejected, Undos};
use super::attempt::{LoneAttempt, contained};
use super::begin::start_failed;
use super::child::Returned;
use super::commit::follow_chain;
use super::cx::{At, ContextWith};
use super::ephemeral::Ephemerals;
use super::execute::{Execution, Suspended};
use super::gates::Gates;
use super::halt::Halt;
use super::ledger::Ledger;
use super::options::RunOptions;
use super::persist::Persist;
use super::policy::{NO_TIMER, timer};
use super::reject::reject;
use super::spans::RunSpan;
use super::task::{Failed, Finished, Unfinished};

/// A run: the state, what is planned, and what has finished of it.
pub(crate) struct Driver<S: GraphState, D> {
    pub(super) graph: Arc<Compiled<S, D>>,
    pub(super) state: Arc<S>,
    pub(super) ctx: ContextWith<D>,
    pub(super) options: RunOptions,
    pub(super) events: Option<Events<S>>,
    /// Supersteps that have been applied.
    pub(super) step: u64,
    /// The next superstep, in application order.
    pub(super) tasks: Vec<Task>,
    /// What has finished of it; a superstep that failed or was dropped goes on from here.
    pub(super) results: Vec<Option<Finished<S>>>,
    /// How often each task of it has been started.
    pub(super) attempts: Vec<u32>,
    /// What tasks of it wait for, or could not read the answer to.
    pub(super) suspended: Suspended,
    /// Where runs within tasks of it have stopped.
    pub(super) halted: Vec<Halt>,
    /// Where the run has stopped, after a step that came to a stop.
    pub(super) halt: Option<Halt>,
    /// Where it is to stop before or after nodes.
    pub(super) gates: Option<Box<Gates>>,
    pub(super) progress: Progress,
    pub(super) ephemerals: Ephemerals,
    pub(super) ledger: Ledger,
    pub(super) undos: Undos<S>,
    /// The thread that the run is on; none for a run in memory.
    pub(super) persist: Option<Box<Persist>>,
    /// What a run that goes on with the state of the run around it has written so far.
    pub(super) returned: Option<Box<Returned<S>>>,
    /// What its nodes have said to the graph around it, which ends it.
    pub(super) said: Vec<Outward>,
    /// The superstep after which the run has had as many as it may.
    pub(super) last_step: u64,
    /// What all its tasks tell `tracing`, at hand.
    pub(crate) spans: RunSpan,
}

/// Clears a map that is nearly always empty: `clear` takes it apart even then.
#[inline]
pub(super) fn forget(suspended: &mut Suspended) {
    #[cold]
    #[inline(never)]
    fn clear(suspended: &mut Suspended) {
        suspended.clear();
    }
    if !suspended.is_empty() {
        clear(suspended);
    }
}

/// After so many supersteps a run yields, so that one whose nodes are always ready can still be cancelled and timed.
pub(super) const YIELD_EVERY: u64 = 512;

impl<S: GraphState, D: Send + Sync + 'static> Driver<S, D> {
    /// Makes what has been planned the next superstep.
    pub(super) fn take_plan(&mut self) {
        std::mem::swap(&mut self.tasks, &mut self.progress.tasks);
        self.results.fill_with(|| None);
        self.results.resize_with(self.tasks.len(), || None);
        self.attempts.fill(0);
        self.attempts.resize(self.tasks.len(), 0);
        forget(&mut self.suspended);
    }

    pub(crate) fn state(&self) -> &Arc<S> {
        &self.state
    }

    /// The state; a copy of it while a listener still holds it.
    pub(crate) fn into_state(self) -> S {
        Arc::try_unwrap(self.state).unwrap_or_else(|state| state.__duplicate())
    }

    /// Supersteps that have been applied.
    pub(crate) fn superstep(&self) -> u64 {
        self.step
    }

    /// The nodes that are planned, one name for each task.
    pub(crate) fn next(&self) -> impl Iterator<Item = &str> {
        self.tasks.iter().map(|task| self.graph.node_name(task.node))
    }

    /// The only node that is planned, and what it is sent.
    pub(crate) fn planned(&self) -> Option<(&str, &Packet)> {
        let [task] = self.tasks.as_slice() else { return None };
        Some((self.graph.node_name(task.node), task.packet.as_ref()?))
    }

    /// Those of them that have not finished.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &str> {
        let open = self.tasks.iter().zip(&self.results).filter(|(_, result)| result.is_none());
        open.map(|(task, _)| self.graph.node_name(task.node))
    }

    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.graph.name, kind).with_state(Arc::clone(&self.state))
    }

    /// Tells the listeners the state that the run begins with.
    pub(crate) async fn announce(&mut self) {
        if let Some(events) = &self.events {
            events.values(self.step, &self.state).await;
        }
    }

    /// Runs one superstep; `false` when there is nothing left to run, and when the run has come to a [`Halt`].
    ///
    /// After an error, and when the future is dropped, the state is that of the last good superstep; calling again
    /// runs what has not finished.
    pub(crate) async fn step(&mut self) -> Result<bool, Error> {
        if self.persist.is_some() {
            return self.step_on_thread().await;
        }
        if self.spans.is_on() {
            return self.traced_step().await;
        }
        let Some(step) = self.enter() else { return self.rest() };
        if step.is_multiple_of(YIELD_EVERY) {
            tokio::task::yield_now().await;
        }
        if let [task] = self.tasks.as_slice()
            && self.events.is_none()
            && self.options.superstep_timeout.is_none()
            && self.options.stop.is_none()
            && !self.graph.has_policy(task.node)
        {
            if let [slot @ None] = self.results.as_mut_slice()
                && let Some(node) = self.graph.nodes.get(task.node)
            {
                self.ctx.cx.clear_desk();
                forget(&mut self.suspended);
                self.ctx.cx.at.node = task.node;
                if let [attempts] = self.attempts.as_mut_slice() {
                    *attempts += 1;
                    self.ctx.cx.at.attempt = *attempts;
                }
                let future = node.run.call(&self.state, task.packet.as_ref(), &self.ctx);
                let attempt = LoneAttempt::new(future, &self.ctx, slot);
                if let Err(unfinished) = attempt.await {
                    return self.lone_unfinished(*unfinished, step);
                }
                let followed = match self.returned {
                    None => follow_chain(node, &self.progress, &mut self.state, slot),
                    Some(_) => Ok(None),
                };
                if let Some(next) = followed.map_err(|rejected| self.lone_rejection(rejected, step))? {
                    self.step = step;
                    if let ([task], [attempts]) = (self.tasks.as_mut_slice(), self.attempts.as_mut_slice()) {
                        *task = Task { node: next, packet: None };
                        *attempts = 0;
                    }
                    return Ok(true);
                }
            }
        } else {
            self.boxed(step).await?;
            if !self.suspended.is_empty() {
                return Ok(self.stop());
            }
        }
        let made = self.to_put(step);
        self.commit(step)?;
        if let Some(made) = made {
            self.put(made).await;
        }
        if let Some(events) = &self.events {
            events.values(step, &self.state).await;
        }
        Ok(true)
    }

    /// Begins the next superstep, and says its number; `None` where the run [rests](Self::rest).
    #[inline]
    pub(super) fn enter(&mut self) -> Option<u64> {
        if self.halt.is_some() {
            self.halt = None;
        }
        if self.tasks.is_empty()
            || (self.gates.is_some() && self.stops_at_gate())
            || (self.options.stop.is_some() && self.is_told_to_stop())
            || self.step >= self.last_step
        {
            return None;
        }
        let step = self.step + 1;
        let remaining = self.last_step - step;
        self.ctx.cx.at = At { node: usize::MAX, task: 0, step, remaining, attempt: 1 };
        Some(step)
    }

    /// Executes in a box: the state machine of a fan-out shall not make every superstep's future large.
    #[inline(never)]
    pub(super) fn boxed(
        &mut self,
        step: u64,
    ) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send + '_>> {
        Box::pin(self.execute(step))
    }

    fn over_the_limit(&self) -> Error {
        let next = self.next().map(str::to_owned).collect();
        self.error(ErrorKind::RecursionLimit { limit: self.options.recursion_limit, next })
    }

    /// The refusal of what a superstep's only task wrote; it runs again.
    #[cold]
    #[inline(never)]
    fn lone_rejection(&mut self, rejected: Rejected, step: u64) -> Error {
        let kind = reject(&self.graph.names, step, &self.tasks, &mut self.results, rejected);
        self.results.fill_with(|| None);
        self.error(kind)
    }

    /// A superstep's only task has failed, or waits for answers.
    #[cold]
    #[inline(never)]
    pub(super) fn lone_unfinished(&mut self, unfinished: Unfinished, step: u64) -> Result<bool, Error> {
        if unfinished.is_suspended() {
            self.suspended.insert(0, unfinished.open);
        }
        self.halted.extend(unfinished.halt);
        match unfinished.failed {
            Some(failed) => Err(self.lone_failure(failed, step)),
            None => {
                // Being suspended uses up no attempt.
                self.attempts.iter_mut().for_each(|attempts| *attempts = attempts.saturating_sub(1));
                Ok(self.stop())
            }
        }
    }

    /// The failure of a superstep's only task.
    #[cold]
    #[inline(never)]
    pub(super) fn lone_failure(&self, failed: Failed, step: u64) -> Error {
        let Some(task) = self.tasks.first() else { return self.error(start_failed(failed)) };
        let attempt = self.attempts.first().copied().unwrap_or(1);
        let name = self.graph.node_name(task.node);
        let first = failed.into_failure(name, step, attempt).of(0, task);
        self.error(ErrorKind::Node { first, others: Vec::new() })
    }

    /// # Errors
    /// A policy may have to wait, and the runtime has no timer.
    fn has_timer(&self) -> Result<(), Error> {
        let policies = self.tasks.iter().filter_map(|task| self.graph.nodes.get(task.node)?.policy.as_ref());
        let mut needed = policies.filter(|policy| policy.limits.needs_timer());
        match needed.next().map(|_| timer(Duration::ZERO)) {
            Some(Err(_)) => Err(self.error(ErrorKind::Runtime(NO_TIMER))),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    async fn execute(&mut self, step: u64) -> Result<(), Error> {
        self.has_timer()?;
        let mut failures = Vec::new();
        self.halted.clear();
        let waited = std::mem::take(&mut self.suspended);
        let execution = Execution {
            graph: &self.graph,
            state: &self.state,
            ctx: &self.ctx,
            tasks: &self.tasks,
            results: &mut self.results,
            attempts: &mut self.attempts,
            failures: &mut failures,
            suspended: &mut self.suspended,
            halted: &mut self.halted,
            options: &self.options,
            events: self.events.as_ref(),
            recorder: self.persist.as_mut().map(|persist| persist.recorder(self.tasks.len())),
            crew: JoinSet::new(),
            idle: Arc::default(),
        };
        let running = execution.run_unless_cancelled();
        let late = match self.options.superstep_timeout {
            None => {
                running.await;
                None
            }
            Some(limit) => {
                // Tokio panics where its timer is not enabled.
                let Ok(timeout) = contained(|| tokio::time::timeout(limit, running)) else {
                    return Err(self.error(ErrorKind::Runtime(
                        "a superstep timeout needs a tokio runtime with its timer enabled (`enable_time`)",
                    )));
                };
                timeout.await.is_err().then_some(limit)
            }
        };
        let vanished =
            |(task, result): (usize, &Option<_>)| result.is_none() && !self.suspended.contains_key(&task);
        let vanished = self.results.iter().enumerate().any(vanished);
        let cancelled = self.options.stop.as_ref().is_some_and(Stop::is_cancelled);
        if !failures.is_empty() || late.is_some() || cancelled {
            // Whoever was told to stop waits for what it waited for before.
            let stopped = |task: &usize| {
                self.results.get(*task).is_some_and(Option::is_none)
                    && failures.iter().all(|(failed, _)| failed != task)
            };
            for (task, open) in waited.into_iter().filter(|(task, _)| stopped(task)) {
                self.suspended.entry(task).or_insert(open);
            }
        }
        // A superstep that has failed may be late as well: a sibling went on, or did not listen when it was told to stop.
        failures.sort_by_key(|(index, _)| *index);
        self.fail(failures.into_iter().map(|(_, failure)| failure).collect())?;
        if let Some(limit) = late {
            let unfinished = self.unfinished().map(str::to_owned).collect();
            return Err(self.error(ErrorKind::SuperstepTimeout { step, limit, unfinished }));
        }
        if !vanished {
            return Ok(());
        }
        // Without a failure they vanish only when the run is cancelled, or the runtime shuts down under it.
        Err(self.cancelled().unwrap_or_else(|| {
            self.error(ErrorKind::Runtime("the runtime was shut down while the run was under way"))
        }))
    }

    pub(super) fn fail(&self, failures: Vec<NodeFailure>) -> Result<(), Error> {
        let mut failures = failures.into_iter();
        match failures.next() {
            None => Ok(()),
            Some(first) => Err(self.error(ErrorKind::Node { first, others: failures.collect() })),
        }
    }

    /// Why no superstep begins: the run is at a breakpoint, was told to stop, has had as many as it may, or is complete,
    /// unless a join still waits.
    #[cold]
    #[inline(never)]
    pub(super) fn rest(&self) -> Result<bool, Error> {
        if self.halt.is_some() {
            return Ok(false);
        }
        if !self.tasks.is_empty() {
            return Err(self.cancelled().unwrap_or_else(|| self.over_the_limit()));
        }
        not_filled(&self.graph, &self.progress).map_or(Ok(false), |kind| Err(self.error(kind)))
    }
}

/// What a run ends with that comes to rest while a join waits.
pub(crate) fn not_filled<S: GraphState, D>(graph: &Compiled<S, D>, progress: &Progress) -> Option<ErrorKind> {
    let (join, missing) = progress.unfilled(&graph.topology).next()?;
    let name = |node: usize| graph.node_name(node).to_owned();
    let target = match join.target {
        Target::Node(node) => name(node),
        Target::End => "END".to_owned(),
    };
    Some(ErrorKind::JoinNotFilled { target, missing: missing.into_iter().map(name).collect() })
}
