use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use crate::engine::at::At;
use crate::engine::context::{ErasedContext, StopPoint, waits_again};
use crate::engine::graph::{Compiled, Spares};
use crate::engine::persist::Recorder;
use crate::engine::task::{Finished, Keep, Suspended, Unfinished, Work};
use crate::erased::ErasedState;
use crate::error::NodeFailure;
use crate::options::{FailureMode, RunOptions};
use crate::plan::Task;
use crate::stream::Events;

use super::task_pool::{CollectedTask, TaskInputs, TaskPool, send_start, workers};

/// A superstep during its execution. Results are stored in place as they arrive, so that dropping the execution keeps
/// the finished tasks.
pub(crate) struct Execution<'e> {
    pub(crate) graph: &'e Arc<Compiled>,
    pub(crate) state: &'e Arc<dyn ErasedState>,
    pub(crate) ctx: &'e dyn ErasedContext,
    pub(crate) tasks: &'e [Task],
    pub(crate) results: &'e mut [Option<Finished>],
    /// The memory of applied writes.
    pub(crate) spares: &'e mut Spares,
    pub(crate) attempts: &'e mut [u32],
    /// Failures with their tasks: in order of arrival, and at the end in the order of the tasks.
    pub(crate) failures: &'e mut Vec<(usize, NodeFailure)>,
    /// `true` at the end if the attempt of a task did not end, or failed.
    pub(crate) has_unfinished: &'e mut bool,
    /// The interrupts that were open before.
    pub(crate) waited: Suspended,
    /// The open interrupts of suspended tasks.
    pub(crate) suspended: &'e mut Suspended,
    /// The stops of subgraph runs inside the tasks.
    pub(crate) stop_points: &'e mut Vec<StopPoint>,
    pub(crate) options: &'e RunOptions,
    pub(crate) events: Option<&'e Events>,
    /// Stores results as they arrive; `None` without a store, and for a single task.
    pub(crate) recorder: Option<Recorder<'e>>,
    /// The number of tasks without a result.
    pub(crate) missing: usize,
    /// The tasks on other threads; `None` if all tasks run on the thread that polls the run.
    pub(crate) pool: Option<TaskPool>,
}

impl Execution<'_> {
    fn stored(&self) -> Keep {
        if self.recorder.is_some() { Keep::All } else { Keep::Nothing }
    }
}

impl Execution<'_> {
    /// Runs the tasks until all have ended or the run is cancelled.
    pub(crate) async fn run_unless_cancelled(&mut self) {
        match self.options.stop.clone() {
            None => self.run().await,
            Some(stop) => {
                let ended = {
                    // By reference: a future that is an argument takes its room several times.
                    let run = pin!(self.run());
                    stop.unless_cancelled(run).await
                };
                if ended.is_none() {
                    Box::pin(self.call_off()).await;
                }
            }
        }
    }

    /// Aborts the tasks on other threads and waits until all of them have ended. Results that finish in the meantime are
    /// kept, and no task outlives this call.
    async fn call_off(&mut self) {
        let Some(pool) = &self.pool else { return };
        let ended = pool.call_off().await;
        self.collect(ended).await;
    }

    /// Stores the outcomes of tasks that have begun on other threads, and then notifies the listeners of them.
    async fn collect(&mut self, ended: Vec<CollectedTask>) {
        let mut reports = Vec::new();
        for CollectedTask { at, outcome } in ended {
            self.note_attempt(at);
            if let Some(outcome) = outcome {
                let outcome = outcome.map(|finished| self.store_result(at.task, finished));
                reports.extend(self.end_task(at.task, outcome));
            }
        }
        for report in reports {
            self.send_report(report).await;
        }
    }

    /// Runs every task that has no result yet.
    async fn run(&mut self) {
        let pending = self.pending();
        self.missing = pending.len();
        self.spares.reserve(pending.len());
        match workers().filter(|_| pending.len() > 1) {
            Some(workers) => self.on_workers(&pending, workers).await,
            None => self.in_place(&pending).await,
        }
    }

    /// Returns the positions of the tasks without a result.
    fn pending(&self) -> Vec<At> {
        let base = self.ctx.at;
        let tasks = self.tasks.iter().zip(self.results.iter()).zip(self.attempts.iter()).enumerate();
        tasks
            .filter(|(_, ((_, result), _))| result.is_none())
            .map(|(index, ((task, _), attempts))| At {
                node: task.node,
                task: index,
                attempt: attempts.saturating_add(1),
                ..base
            })
            .collect()
    }

    /// Returns `true` if a task has failed and its siblings have to stop.
    fn is_over(&self) -> bool {
        let mode = self.options.failure_mode.unwrap_or(self.graph.failure_mode);
        // A task that waits for another answer stops no sibling.
        mode == FailureMode::FailFast && self.failures.iter().any(|(_, failure)| !waits_again(failure))
    }

    /// Runs all tasks on the thread that polls the run.
    async fn in_place(&mut self, pending: &[At]) {
        let (graph, state, tasks, keep) = (Arc::clone(self.graph), self.state, self.tasks, self.stored());
        let contexts = self.ctx.at_each(pending);
        let mut queue = pending.iter().enumerate();
        let mut waiting = FuturesUnordered::new();
        loop {
            while waiting.len() < self.at_once() {
                let Some((nth, &at)) = queue.next() else { break };
                let (Some(task), Some(ctx)) = (tasks.get(at.task), contexts.nth(nth)) else { continue };
                let Some(node) = graph.nodes.get(at.node) else { continue };
                self.note_attempt(at);
                if let Some(events) = self.events {
                    send_start(&graph, events, at, task).await;
                }
                let spare = self.spares.take();
                let work = Work::new(node, &**state, task, ctx, keep, self.events, spare);
                let mut attempt = Indexed { index: at.task, work };
                // Polled once before it is queued: a fan-out of cheap nodes then queues nothing.
                let Some(slot) = self.results.get_mut(at.task) else { continue };
                let polled = poll_fn(|cx| {
                    Poll::Ready(attempt.work.poll_into(cx, keep, |finished| *slot = Some(finished)))
                });
                match polled.await {
                    Poll::Pending => waiting.push(attempt),
                    Poll::Ready(Ok(())) if self.events.is_none() => self.result_arrived(at.task),
                    Poll::Ready(result) => {
                        if result.is_ok() {
                            self.result_arrived(at.task);
                        }
                        self.report(at.task, result).await;
                        if self.is_over() {
                            return;
                        }
                    }
                }
            }
            let Some((index, result)) = waiting.next().await else { return };
            self.record(index, result).await;
            if self.is_over() {
                return;
            }
        }
    }

    /// Runs the tasks on the runtime's workers, so that all cores take part. Dropping the pool aborts its tasks.
    async fn on_workers(&mut self, pending: &[At], workers: usize) {
        let (keep, spans) = (self.stored(), &self.ctx.shared.spans);
        let inputs = TaskInputs {
            graph: Arc::clone(self.graph),
            state: Arc::clone(self.state),
            contexts: self.ctx.at_each(pending),
            events: self.events.cloned(),
            keep,
        };
        let tasks = pending.iter().map(|at| {
            let task = self.tasks.get(at.task).cloned();
            (*at, task, self.spares.take())
        });
        let is_eager = self.events.is_some() || self.recorder.is_some();
        let pool = TaskPool::new(inputs, tasks.collect(), spans.clone(), is_eager, self.at_once());
        let pool = self.pool.insert(pool);
        pool.start(workers);
        loop {
            let Some(pool) = &self.pool else { return };
            let ended = pool.next_outcomes().await;
            let is_last = ended.is_none();
            let ended = match ended {
                Some(ended) => ended,
                None => pool.abort(),
            };
            self.collect(ended).await;
            if is_last {
                self.pool = None;
                return;
            }
            if self.is_over() {
                self.call_off().await;
                return;
            }
        }
    }

    fn at_once(&self) -> usize {
        self.options.max_concurrency.unwrap_or(usize::MAX)
    }
}

struct Indexed<'a> {
    index: usize,
    work: Work<'a>,
}

impl Future for Indexed<'_> {
    type Output = (usize, Result<Finished, Box<Unfinished>>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let index = self.index;
        Pin::new(&mut self.work).poll(cx).map(|result| (index, result))
    }
}
