use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinSet;

use crate::error::NodeFailure;
use crate::graph::Compiled;
use crate::node::Source;
use crate::plan::Task;
use crate::reducers::Stamp;
use crate::state::GraphState;
use crate::stream::Events;

use super::attempt::Attempt;
use super::cx::{At, Ctx};
use super::options::{FailureMode, RunOptions};
use super::task::{Failed, Finished};

/// A superstep that is being executed. Results are kept as they come in: whoever drops the execution keeps what has
/// finished.
pub(super) struct Execution<'e, S: GraphState, D> {
    pub(super) graph: &'e Arc<Compiled<S, D>>,
    pub(super) state: &'e Arc<S>,
    pub(super) ctx: &'e Ctx<D>,
    pub(super) tasks: &'e [Task],
    pub(super) results: &'e mut [Option<Finished<S>>],
    pub(super) attempts: &'e mut [u32],
    pub(super) options: &'e RunOptions,
    pub(super) events: Option<&'e Events<S>>,
    /// Tasks that the runtime was given.
    pub(super) crew: Crew<S>,
}

type Crew<S> = JoinSet<Option<(usize, Result<Finished<S>, Failed>)>>;

impl<S: GraphState, D> Drop for Execution<'_, S, D> {
    /// What has finished and was not asked for yet is kept when an execution is dropped; the rest is aborted.
    fn drop(&mut self) {
        while let Some(joined) = self.crew.try_join_next() {
            if let Ok(Some((index, Ok(finished)))) = joined
                && let Some(slot) = self.results.get_mut(index)
            {
                *slot = Some(finished);
            }
        }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Execution<'_, S, D> {
    /// Runs every task that has no result yet; gives back the failures in the order of the tasks.
    pub(super) async fn run(mut self) -> Vec<NodeFailure> {
        let pending = self.pending();
        let several = pending.len() > 1;
        let threads =
            || Handle::try_current().is_ok_and(|h| h.runtime_flavor() == RuntimeFlavor::MultiThread);
        let mut failures =
            if several && threads() { self.spawned(pending).await } else { self.inline(pending).await };
        failures.sort_by_key(|(index, _)| *index);
        failures.into_iter().map(|(_, failure)| failure).collect()
    }

    /// The tasks that have no result yet, each with where it stands.
    fn pending(&self) -> Vec<(At, Task)> {
        let base = self.ctx.at;
        let tasks = self.tasks.iter().zip(self.results.iter()).zip(self.attempts.iter()).enumerate();
        tasks
            .filter(|(_, ((_, result), _))| result.is_none())
            .map(|(index, ((task, _), attempts))| {
                (At { node: task.node, task: index, attempt: attempts + 1, ..base }, task.clone())
            })
            .collect()
    }

    /// Counts the attempt that is about to start, and tells the listeners.
    async fn begin(&mut self, at: At, task: &Task) {
        if let Some(attempts) = self.attempts.get_mut(at.task) {
            *attempts = at.attempt;
        }
        if let (Some(events), Some(name)) = (self.events, self.graph.names.get(at.node)) {
            events.task_started(at.step, at.task, Arc::clone(name), task.packet.clone()).await;
        }
    }

    fn fails_fast(&self) -> bool {
        self.options.failure_mode == FailureMode::FailFast
    }

    /// Takes a task's result in.
    async fn record(
        &mut self,
        index: usize,
        result: Result<Finished<S>, Failed>,
        failures: &mut Vec<(usize, NodeFailure)>,
    ) {
        let step = self.ctx.at.step;
        let node = self.tasks.get(index).map_or(usize::MAX, |task| task.node);
        let attempt = self.attempts.get(index).copied().unwrap_or(1);
        let told = match result {
            Ok(finished) => {
                let update = self.events.map(|_| finished.writes.clone());
                if let Some(slot) = self.results.get_mut(index) {
                    *slot = Some(finished);
                }
                Ok(update)
            }
            Err(failed) => {
                let mut failure = failed.into_failure(self.graph.node_name(node), step, attempt);
                if let Some(task) = self.tasks.get(index) {
                    failure = failure.of(index, task);
                }
                let text = self.events.map(|_| failure_text(&failure));
                failures.push((index, failure));
                Err(text)
            }
        };
        let (Some(events), Some(name)) = (self.events, self.graph.names.get(node)) else { return };
        match told {
            Ok(writes) => {
                events.task_finished(step, index, Arc::clone(name), writes.unwrap_or_default()).await
            }
            Err(text) => events.task_failed(step, index, Arc::clone(name), text.unwrap_or_default()).await,
        }
    }

    /// All tasks on the thread that polls the run.
    async fn inline(&mut self, pending: Vec<(At, Task)>) -> Vec<(usize, NodeFailure)> {
        let mut failures = Vec::new();
        let (graph, state) = (Arc::clone(self.graph), self.state);
        let tasks: Vec<(Ctx<D>, Task)> =
            pending.into_iter().map(|(at, task)| (self.ctx.at(at), task)).collect();
        let mut queue = tasks.iter();
        let mut waiting = FuturesUnordered::new();
        loop {
            while waiting.len() < self.at_once() {
                let Some((ctx, task)) = queue.next() else { break };
                let Some(node) = graph.nodes.get(task.node) else { continue };
                self.begin(ctx.at, task).await;
                let source = Source { state: &**state, packet: task.packet.as_ref(), ctx };
                let stamp = Stamp::new(graph.node_name(task.node), ctx.at.step, ctx.at.task);
                let mut attempt =
                    Indexed { index: ctx.at.task, attempt: Attempt::new(node.run.call(source), stamp) };
                // Polled once before it is queued: in a fan-out of cheap nodes nothing is ever queued.
                match poll_fn(|cx| Poll::Ready(Pin::new(&mut attempt).poll(cx))).await {
                    Poll::Pending => waiting.push(attempt),
                    Poll::Ready((index, result)) => {
                        self.record(index, result, &mut failures).await;
                        if !failures.is_empty() && self.fails_fast() {
                            return failures;
                        }
                    }
                }
            }
            let Some((index, result)) = waiting.next().await else { return failures };
            self.record(index, result, &mut failures).await;
            if !failures.is_empty() && self.fails_fast() {
                return failures;
            }
        }
    }

    /// Each task as one of the runtime's own, so that all cores take part. This is the one place that spawns; the set
    /// aborts what is left in it when it is dropped.
    async fn spawned(&mut self, pending: Vec<(At, Task)>) -> Vec<(usize, NodeFailure)> {
        let mut failures = Vec::new();
        let mut queue = pending.into_iter();
        let board = Arc::new((Arc::clone(self.graph), Arc::clone(self.state), self.ctx.at(self.ctx.at)));
        loop {
            while self.crew.len() < self.at_once() {
                let Some((at, task)) = queue.next() else { break };
                self.begin(at, &task).await;
                let board = Arc::clone(&board);
                self.crew.spawn(async move {
                    let (graph, state, base) = &*board;
                    let ctx = base.at(at);
                    let node = graph.nodes.get(task.node)?;
                    let source = Source { state: &**state, packet: task.packet.as_ref(), ctx: &ctx };
                    let stamp = Stamp::new(graph.node_name(task.node), at.step, at.task);
                    Some((at.task, Attempt::new(node.run.call(source), stamp).await))
                });
            }
            let Some(joined) = self.crew.join_next().await else { return failures };
            if let Ok(Some((index, result))) = joined {
                self.record(index, result, &mut failures).await;
            }
            if !failures.is_empty() && self.fails_fast() {
                // Those that are told to stop are waited for: what has finished meanwhile is kept, and nothing of
                // them is left when the run goes on.
                self.crew.abort_all();
                while let Some(joined) = self.crew.join_next().await {
                    if let Ok(Some((index, result))) = joined {
                        self.record(index, result, &mut failures).await;
                    }
                }
                return failures;
            }
        }
    }

    fn at_once(&self) -> usize {
        self.options.max_concurrency.unwrap_or(usize::MAX)
    }
}

/// A failure and its causes in one line, for events.
fn failure_text(failure: &NodeFailure) -> String {
    let mut text = failure.to_string();
    let mut cause = std::error::Error::source(failure);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

struct Indexed<'a, S: GraphState> {
    index: usize,
    attempt: Attempt<'a, S>,
}

impl<S: GraphState> Future for Indexed<'_, S> {
    type Output = (usize, Result<Finished<S>, Failed>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let index = self.index;
        Pin::new(&mut self.attempt).poll(cx).map(|result| (index, result))
    }
}
