use std::sync::Arc;

use crate::cache::{Cache, EntryKey};
use crate::engine::context::{CacheMemory, CacheResult};
use crate::engine::graph::{ErasedSource, NodeCache, StepFuture};
use crate::engine::task::cache::{contained_call, keep, read};
use crate::engine::task::task::{Failed, Finished, Unfinished, finish_cached};
use crate::error::{NodeError, contained, with_causes};
use crate::options::now;
use crate::step::ErasedStep;
use crate::stream::TaskEvent;

use super::guarded::Guarded;

impl Guarded<'_> {
    /// Executes a task of a node with a cache policy: finds its result, or computes it and keeps it until it is
    /// applied.
    pub(crate) async fn cached(&self, policy: &NodeCache) -> Result<Finished, Box<Unfinished>> {
        let Some(cache) = &self.ctx.shared.cache else {
            return Err(Failed::Fault(NodeError::msg(NO_CACHE)).into());
        };
        let at = self.entry(policy).map_err(|failed| self.failed(failed))?;
        let is_new = self.is_new();
        self.remember(at.clone(), CacheResult::None);
        if is_new && let Some(step) = self.found(&**cache, policy, &at).await {
            self.made(CacheResult::Found);
            self.ctx.shared.spans.node(self.ctx.node(), self.ctx.at.get()).cached();
            let prepared = contained(|| finish_cached(step, self.ctx, self.keep));
            let prepared = prepared.unwrap_or_else(|panic| Err(Failed::Panic(panic)));
            return prepared.map_err(|failed| self.failed(failed));
        }
        let finished = self.tried().await?;
        if let Some(reason) = self.unfit() {
            self.not_cached(reason).await;
        }
        Ok(finished)
    }

    /// Returns the key of the task's cache entry. A key function is not retried, because it would fail the same way
    /// again.
    fn entry(&self, policy: &NodeCache) -> Result<EntryKey, Failed> {
        let from = ErasedSource { state: self.state, packet: self.task.packet.as_ref(), ctx: self.ctx };
        let key = match contained(|| (policy.key)(from)) {
            Ok(key) => key.map_err(Failed::Fault)?,
            Err(panic) => return Err(Failed::Panic(panic)),
        };
        let NodeCache { graph, node, state, .. } = policy;
        let [graph, node, state] = [graph, node, state].map(Arc::clone);
        Ok(EntryKey::new(graph, node, state, key))
    }

    /// Returns `true` if nothing was done for the task before.
    ///
    /// The node itself runs if an earlier result was refused, or if the task has taken durable steps, slept, or been
    /// answered.
    fn is_new(&self) -> bool {
        let first = self.ctx.at.attempt() <= 1;
        self.ctx.memory(|memory| {
            let begun = memory.retries.attempt > 0 || memory.retries.handling.is_some();
            // A run that was dropped earlier may have looked the result up and found nothing.
            let looked =
                memory.cache.as_ref().map_or(!first, |cache| !matches!(cache.result, CacheResult::None));
            let done = memory.steps.len() + memory.sleeps.len() + memory.answers.len();
            !begun && !looked && done == 0
        })
    }

    async fn found(&self, cache: &dyn Cache, policy: &NodeCache, at: &EntryKey) -> Option<ErasedStep> {
        let found = match contained_call(|| cache.get(at.clone(), now())).await {
            Ok(found) => {
                found.map(|payload| read(self.state.state_type(), &payload, &policy.exits)).transpose()
            }
            Err(error) => Err(with_causes(&error)),
        };
        match found {
            Ok(step) => step,
            Err(reason) => {
                self.not_cached(reason).await;
                None
            }
        }
    }

    /// Wraps the node's future to record its result for the cache.
    pub(crate) fn watched<'f>(&'f self, policy: &'f NodeCache, future: StepFuture<'f>) -> StepFuture<'f> {
        Box::pin(async move {
            let returned = future.await;
            if let Ok(step) = &returned {
                self.made(match keep(self.state.state_type(), step, &policy.exits) {
                    Ok(payload) => CacheResult::Made(payload),
                    Err(reason) => CacheResult::Unfit(reason),
                });
            }
            returned
        })
    }

    fn remember(&self, at: EntryKey, result: CacheResult) {
        self.ctx.memory(|memory| memory.cache = Some(Box::new(CacheMemory { at, result })));
    }

    /// Records the outcome of an attempt.
    pub(crate) fn made(&self, result: CacheResult) {
        self.ctx.memory(|memory| {
            if let Some(cache) = &mut memory.cache {
                cache.result = result;
            }
        });
    }

    /// Returns the reason why the task's result is not cached, if it is not.
    fn unfit(&self) -> Option<String> {
        self.ctx.memory(|memory| {
            let cache = memory.cache.as_mut()?;
            if !memory.answers.is_empty() && matches!(cache.result, CacheResult::Made(_)) {
                cache.result = CacheResult::Unfit(ANSWERED.to_owned());
            }
            match &cache.result {
                CacheResult::Unfit(reason) => Some(reason.clone()),
                CacheResult::None | CacheResult::Found | CacheResult::Made(_) => None,
            }
        })
    }

    async fn not_cached(&self, reason: String) {
        if let Some(events) = self.events {
            let at = self.ctx.at.get();
            let event = TaskEvent::NotCached { reason };
            events.task(at.step, at.task, Arc::from(self.ctx.node()), event).await;
        }
    }

    fn failed(&self, failed: Failed) -> Box<Unfinished> {
        let at = self.ctx.at.get();
        let failure = failed.into_failure(self.ctx.node(), at.step, at.attempt);
        self.final_failure(failure.of(at.task, self.task.packet.as_ref()), Vec::new())
    }
}

const ANSWERED: &str = "the result depends on an answer that was given to this task";
const NO_CACHE: &str =
    "the node has a cache policy, and the graph has no cache: add one with `graph.with_cache(..)`";
