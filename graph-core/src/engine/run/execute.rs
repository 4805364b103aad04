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

use super::lent_contexts::LentContexts;
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
        self.missing = self.results.iter().filter(|result| result.is_none()).count();
        self.spares.reserve(self.missing);
        match workers().filter(|_| self.missing > 1) {
            Some(workers) => self.on_workers(workers).await,
            None => self.in_place().await,
        }
    }

    /// Returns the positions of the tasks without a result, from the task with this index on.
    fn pending(&self, first: usize) -> Vec<At> {
        let base = self.ctx.at.get();
        (first..self.tasks.len()).filter_map(|index| self.position(index, base)).collect()
    }

    /// Returns the position of the first of them in the queue, which then begins there.
    #[inline]
    fn first_pending(&self, queue: &mut Queue, base: At) -> Option<At> {
        let found = (queue.next..self.tasks.len()).find_map(|index| self.position(index, base));
        // Tasks with a result are passed once.
        queue.next = found.map_or(self.tasks.len(), |at| at.task);
        found
    }

    /// Returns the position of a task without a result.
    #[inline]
    fn position(&self, index: usize, base: At) -> Option<At> {
        let (task, attempts) = (self.tasks.get(index)?, self.attempts.get(index)?);
        let is_pending = self.results.get(index)?.is_none();
        let attempt = attempts.saturating_add(1);
        is_pending.then_some(At { node: task.node, task: index, attempt, ..base })
    }

    /// Returns `true` if a task has failed and its siblings have to stop.
    fn is_over(&self) -> bool {
        let mode = self.options.failure_mode.unwrap_or(self.graph.failure_mode);
        // A task that waits for another answer stops no sibling.
        mode == FailureMode::FailFast && self.failures.iter().any(|(_, failure)| !waits_again(failure))
    }

    /// Runs all tasks on the thread that polls the run.
    async fn in_place(&mut self) {
        let (graph, state, keep) = (Arc::clone(self.graph), self.state, self.stored());
        let contexts = LentContexts::new(self.ctx);
        let start =
            TaskStart { graph: &graph, state: &**state, tasks: self.tasks, contexts: &contexts, keep };
        let mut queue = Queue::default();
        let mut waiting = FuturesUnordered::new();
        loop {
            while waiting.len() < self.at_once() {
                if let Some(events) = self.events
                    && let Some(at) = self.first_pending(&mut queue, self.ctx.at.get())
                    && let Some(task) = self.tasks.get(at.task)
                {
                    self.note_attempt(at);
                    queue.announced = Some(at);
                    send_start(&graph, events, at, task).await;
                }
                // Polled once before it is queued: a fan-out of cheap nodes then queues nothing.
                match poll_fn(|cx| Poll::Ready(self.poll_queue(cx, start, &mut queue))).await {
                    None => break,
                    Some(Polled::Pending(attempt)) => waiting.push(attempt),
                    Some(Polled::Ended(index, result)) => {
                        self.report(index, result).await;
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

    /// Begins one task after the other, until one is pending or its end has to be reported. Returns it; `None` if all
    /// tasks have begun.
    fn poll_queue<'s>(
        &mut self,
        cx: &mut Context<'_>,
        start: TaskStart<'s>,
        queue: &mut Queue,
    ) -> Option<Polled<'s>>
    where
        Self: 's,
    {
        let base = self.ctx.at.get();
        while let Some(at) = queue.announced.take().or_else(|| self.first_pending(queue, base)) {
            queue.next = at.task + 1;
            let ctx = start.contexts.of(at, queue.kept, || self.pending(at.task));
            let (Some(task), Some(ctx)) = (start.tasks.get(at.task), ctx) else { continue };
            let Some(node) = start.graph.nodes.get(at.node) else { continue };
            self.note_attempt(at);
            let spare = self.spares.take();
            let mut work = Work::new(node, start.state, task, ctx, start.keep, self.events, spare);
            let Some(slot) = self.results.get_mut(at.task) else { continue };
            let polled = work.poll_into(cx, start.keep, |finished| *slot = Some(finished));
            if polled.is_pending() || ctx.used_scratch().is_some() {
                queue.kept += 1;
            }
            match polled {
                Poll::Pending => return Some(Polled::Pending(Indexed { index: at.task, work })),
                Poll::Ready(result) => {
                    if result.is_ok() {
                        self.result_arrived(at.task);
                    }
                    if result.is_err() || self.events.is_some() {
                        return Some(Polled::Ended(at.task, result));
                    }
                }
            }
        }
        None
    }

    /// Runs the tasks on the runtime's workers, so that all cores take part. Dropping the pool aborts its tasks.
    async fn on_workers(&mut self, workers: usize) {
        let pending = self.pending(0);
        let (keep, spans) = (self.stored(), &self.ctx.shared.spans);
        let inputs = TaskInputs {
            graph: Arc::clone(self.graph),
            state: Arc::clone(self.state),
            contexts: self.ctx.at_each(&pending),
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

/// Everything with which tasks begin.
#[derive(Clone, Copy)]
struct TaskStart<'a> {
    graph: &'a Compiled,
    state: &'a dyn ErasedState,
    tasks: &'a [Task],
    contexts: &'a LentContexts<'a>,
    keep: Keep,
}

/// The tasks that have not begun.
#[derive(Default)]
struct Queue {
    /// The index of the first of them, or of one before it.
    next: usize,
    /// The first of them, once the listeners know that it starts.
    announced: Option<At>,
    /// The number of contexts that their tasks keep.
    kept: usize,
}

/// A task that was polled once.
enum Polled<'a> {
    Pending(Indexed<'a>),
    Ended(usize, Result<(), Box<Unfinished>>),
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
