use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinSet;

use crate::contain::discard;
use crate::engine::erased::{ErasedContext, ErasedState, TaskWrites};
use crate::error::{NodeFailure, with_causes};
use crate::graph::Compiled;
use crate::interrupt::OpenInterrupt;
use crate::plan::Task;
use crate::stream::{Events, TaskEnd, TaskEvent};

use super::cx::At;
use super::desk::{Memo, waits_again};
use super::encoded::Keep;
use super::halt::Halt;
use super::options::{FailureMode, RunOptions};
use super::persist::Recorder;
use super::policy::Work;
use super::task::{Failed, Finished, Unfinished};

/// A superstep during its execution. Results are stored in place as they arrive, so that dropping the execution keeps
/// the finished tasks.
pub(super) struct Execution<'e> {
    pub(super) graph: &'e Arc<Compiled>,
    pub(super) state: &'e Arc<dyn ErasedState>,
    pub(super) ctx: &'e dyn ErasedContext,
    pub(super) tasks: &'e [Task],
    pub(super) results: &'e mut [Option<Finished>],
    /// The memory of applied writes.
    pub(super) spares: &'e mut Vec<TaskWrites>,
    pub(super) attempts: &'e mut [u32],
    /// Failures with their tasks, in order of arrival.
    pub(super) failures: &'e mut Vec<(usize, NodeFailure)>,
    /// The open interrupts of suspended tasks.
    pub(super) suspended: &'e mut Suspended,
    /// The stops of subgraph runs inside the tasks.
    pub(super) halted: &'e mut Vec<Halt>,
    pub(super) options: &'e RunOptions,
    pub(super) events: Option<&'e Events>,
    /// Stores results as they arrive; `None` without a store, and for a single task.
    pub(super) recorder: Option<Recorder<'e>>,
    /// The number of tasks without a result.
    pub(super) missing: usize,
    /// The tasks that were spawned on the runtime.
    pub(super) crew: Crew,
    /// By task, `true` while the task is spawned and has not begun.
    pub(super) idle: Arc<[AtomicBool]>,
}

type Crew = JoinSet<Option<(usize, Result<Finished, Box<Unfinished>>)>>;

/// The open interrupts of suspended tasks, by task.
pub(crate) type Suspended = BTreeMap<usize, Vec<OpenInterrupt>>;

impl Execution<'_> {
    fn stored(&self) -> Keep {
        if self.recorder.is_some() { Keep::All } else { Keep::Nothing }
    }

    /// Stores the result that has just arrived. The last result of a superstep is skipped: the checkpoint contains
    /// it.
    fn keep(&mut self, index: usize) {
        self.count(index);
        self.missing = self.missing.saturating_sub(1);
        let Some(recorder) = &mut self.recorder else { return };
        if let (Some(task), Some(Some(finished))) = (self.tasks.get(index), self.results.get(index))
            && self.missing > 0
        {
            recorder.record(self.graph, index, task, finished);
        }
    }

    /// Copies the number of attempts of a node with a policy.
    fn count(&mut self, index: usize) {
        let guarded = self.graph.has_policy(self.node(index));
        if let Some(attempts) = self.attempts.get_mut(index).filter(|_| guarded) {
            let memos = &self.ctx.shared.memos;
            *attempts = memos.of(self.ctx.at.step, index, |memo| memo.tries.attempt).max(*attempts);
        }
    }

    /// Returns `true` if the task's result was found in the cache.
    fn was_cached(&self, index: usize) -> bool {
        let found = |memo: &mut Memo| memo.cache.as_ref().is_some_and(|memo| memo.result.was_found());
        self.graph.cache_of(self.node(index)).is_some()
            && self.ctx.shared.memos.of(self.ctx.at.step, index, found)
    }

    fn node(&self, index: usize) -> usize {
        self.tasks.get(index).map_or(usize::MAX, |task| task.node)
    }

    fn failure(&self, index: usize, failed: Failed) -> NodeFailure {
        let attempt = self.attempts.get(index).copied().unwrap_or(1);
        let name = self.graph.node_name(self.node(index));
        let failure = failed.into_failure(name, self.ctx.at.step, attempt);
        match self.tasks.get(index) {
            Some(task) => failure.of(index, task),
            None => failure,
        }
    }

    /// Records why a task has no result, and returns its failure, if any. A suspended task is no failure, and its
    /// attempt is not counted.
    fn set_aside(&mut self, index: usize, unfinished: Unfinished) -> Option<&NodeFailure> {
        if unfinished.is_suspended() {
            self.suspended.insert(index, unfinished.open);
        }
        self.halted.extend(unfinished.halt);
        match unfinished.failed {
            Some(failed) => {
                self.count(index);
                let failure = self.failure(index, failed);
                self.failures.push((index, failure));
                self.failures.last().map(|(_, failure)| failure)
            }
            None => {
                if let Some(attempts) = self.attempts.get_mut(index) {
                    *attempts = attempts.saturating_sub(1);
                }
                None
            }
        }
    }
}

impl Drop for Execution<'_> {
    /// Keeps results that are finished and not yet collected, and aborts the other tasks.
    fn drop(&mut self) {
        self.crew.abort_all();
        while let Some(joined) = self.crew.try_join_next() {
            match joined {
                Ok(Some((index, Ok(finished)))) => {
                    if let Some(slot) = self.results.get_mut(index) {
                        *slot = Some(finished);
                    }
                    self.keep(index);
                }
                Ok(Some((index, Err(unfinished)))) => {
                    self.set_aside(index, *unfinished);
                }
                joined => discard(joined),
            }
        }
        // A spawned task that was aborted before its first poll has made no attempt.
        for (attempts, idle) in self.attempts.iter_mut().zip(&*self.idle) {
            *attempts -= u32::from(idle.load(Ordering::Relaxed));
        }
    }
}

impl Execution<'_> {
    /// Runs the tasks until all have ended or the run is cancelled.
    pub(super) async fn run_unless_cancelled(mut self) {
        match self.options.stop.clone() {
            None => self.run().await,
            Some(stop) => {
                if stop.unless_cancelled(self.run()).await.is_none() {
                    self.call_off().await;
                }
            }
        }
    }

    /// Aborts the spawned tasks and waits until all of them have ended. Results that finish in the meantime are kept,
    /// and no task outlives this call.
    async fn call_off(&mut self) {
        self.crew.abort_all();
        while let Some(joined) = self.crew.join_next().await {
            match joined {
                Ok(Some((index, result))) => self.record(index, result).await,
                joined => discard(joined),
            }
        }
    }

    /// Runs every task that has no result yet.
    async fn run(&mut self) {
        let pending = self.pending();
        let several = pending.len() > 1;
        self.missing = pending.len();
        let threads =
            || Handle::try_current().is_ok_and(|h| h.runtime_flavor() == RuntimeFlavor::MultiThread);
        if several && threads() {
            self.spawned(pending).await;
        } else {
            self.inline(pending).await;
        }
    }

    /// Returns the tasks without a result, each with its position in the run.
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

    /// Counts the attempt that is about to start, and notifies the listeners.
    async fn begin(&mut self, at: At, task: &Task) {
        if let Some(attempts) = self.attempts.get_mut(at.task) {
            *attempts = at.attempt;
        }
        if let (Some(events), Some(name)) = (self.events, self.graph.names.get(at.node)) {
            events.task_started(at.step, at.task, Arc::clone(name), task.packet.clone()).await;
        }
    }

    /// Returns `true` if a task has failed and its siblings have to stop.
    fn is_over(&self) -> bool {
        let mode = self.options.failure_mode.unwrap_or(self.graph.failure_mode);
        // A task that waits for another answer stops no sibling.
        mode == FailureMode::FailFast && self.failures.iter().any(|(_, failure)| !waits_again(failure))
    }

    /// Stores the result of a task.
    async fn record(&mut self, index: usize, result: Result<Finished, Box<Unfinished>>) {
        let result = result.map(|finished| {
            if let Some(slot) = self.results.get_mut(index) {
                *slot = Some(finished);
            }
            self.keep(index);
        });
        self.report(index, result).await;
    }

    /// Records a failure or open interrupts, and notifies the listeners of how the task ended. A result is already in
    /// its slot.
    async fn report(&mut self, index: usize, result: Result<(), Box<Unfinished>>) {
        let step = self.ctx.at.step;
        let node = self.node(index);
        let observed = self.events.is_some();
        let told = match result {
            Ok(()) => {
                let finished = self.results.get(index).and_then(Option::as_ref).filter(|_| observed);
                Ok(finished.map(|finished| finished.writes.clone()))
            }
            Err(unfinished) => {
                let failure = self.set_aside(index, *unfinished);
                Err(failure.filter(|_| observed).map(|failure| with_causes(failure)))
            }
        };
        let (Some(events), Some(name)) = (self.events, self.graph.names.get(node)) else { return };
        match told {
            Ok(writes) => {
                let (writes, cached) = (writes.unwrap_or_default(), self.was_cached(index));
                let end = TaskEnd { cached, restored: false };
                events.task_finished(step, index, Arc::clone(name), writes, end).await;
            }
            Err(text) => {
                for question in self.suspended.get(&index).into_iter().flatten() {
                    events.interrupt(step, index, Arc::clone(name), question.clone()).await;
                }
                if let Some(text) = text {
                    let event = TaskEvent::Failed { error: text };
                    events.task(step, index, Arc::clone(name), event).await;
                }
            }
        }
    }

    /// Runs all tasks on the thread that polls the run.
    async fn inline(&mut self, pending: Vec<(At, Task)>) {
        let (graph, state, keep) = (Arc::clone(self.graph), self.state, self.stored());
        let tasks: Vec<(Box<dyn ErasedContext>, Task)> =
            pending.into_iter().map(|(at, task)| (self.ctx.at(at), task)).collect();
        let mut queue = tasks.iter();
        let mut waiting = FuturesUnordered::new();
        loop {
            while waiting.len() < self.at_once() {
                let Some((ctx, task)) = queue.next() else { break };
                let Some(node) = graph.nodes.get(task.node) else { continue };
                self.begin(ctx.at, task).await;
                let work = Work::new(
                    node,
                    &**state,
                    task,
                    &**ctx,
                    keep,
                    self.events,
                    self.spares.pop().unwrap_or_default(),
                );
                let mut attempt = Indexed { index: ctx.at.task, work };
                // Polled once before it is queued: a fan-out of cheap nodes then queues nothing.
                let Some(slot) = self.results.get_mut(ctx.at.task) else { continue };
                let polled = poll_fn(|cx| {
                    Poll::Ready(attempt.work.poll_into(cx, keep, |finished| *slot = Some(finished)))
                });
                match polled.await {
                    Poll::Pending => waiting.push(attempt),
                    Poll::Ready(Ok(())) if self.events.is_none() => self.keep(ctx.at.task),
                    Poll::Ready(result) => {
                        if result.is_ok() {
                            self.keep(ctx.at.task);
                        }
                        self.report(ctx.at.task, result).await;
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

    /// Spawns each task on the runtime, so that all cores take part. This is the only place that spawns; dropping the
    /// set aborts its tasks.
    async fn spawned(&mut self, pending: Vec<(At, Task)>) {
        let mut queue = pending.into_iter();
        self.idle = self.tasks.iter().map(|_| AtomicBool::new(false)).collect();
        let (base, idle) = (self.ctx.at(self.ctx.at), Arc::clone(&self.idle));
        let keep = self.stored();
        let events = self.events.cloned();
        let board = Arc::new((Arc::clone(self.graph), Arc::clone(self.state), base, idle, events));
        loop {
            while self.crew.len() < self.at_once() {
                let Some((at, task)) = queue.next() else { break };
                self.begin(at, &task).await;
                if let Some(idle) = self.idle.get(at.task) {
                    idle.store(true, Ordering::Relaxed);
                }
                let (board, spare) = (Arc::clone(&board), self.spares.pop().unwrap_or_default());
                self.crew.spawn(self.ctx.shared.spans.carried(async move {
                    let (graph, state, base, idle, events) = &*board;
                    idle.get(at.task)?.store(false, Ordering::Relaxed);
                    let ctx = base.at(at);
                    let node = graph.nodes.get(task.node)?;
                    let work =
                        async { Work::new(node, &**state, &task, &*ctx, keep, events.as_ref(), spare).await };
                    // Outside of the attempts there is code of values only, such as the drop of an error.
                    let worked = AssertUnwindSafe(work).catch_unwind().await;
                    Some((at.task, worked.unwrap_or_else(|panic| Err(Failed::caught(panic).into()))))
                }));
            }
            let Some(joined) = self.crew.join_next().await else { return };
            match joined {
                Ok(Some((index, result))) => self.record(index, result).await,
                joined => discard(joined),
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
