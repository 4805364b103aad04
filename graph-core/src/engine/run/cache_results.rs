use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::cache::NewEntry;
use crate::engine::context::CacheResult;
use crate::engine::run::Driver;
use crate::engine::task::contained_call;
use crate::error::with_causes;
use crate::options::now;
use crate::stream::TaskEvent;

/// The results of a superstep that will be put into the cache once it is applied, each with its task and node.
pub(crate) struct ToPut {
    step: u64,
    puts: Vec<(usize, usize, NewEntry)>,
}

impl Driver {
    /// Returns the superstep's results for the cache. Called before the superstep is applied, because applying it
    /// consumes them.
    #[inline]
    pub(crate) fn to_put(&self, step: u64) -> Option<ToPut> {
        if self.graph.is_cached { self.made(step) } else { None }
    }

    #[cold]
    #[inline(never)]
    fn made(&self, step: u64) -> Option<ToPut> {
        let mut puts = Vec::new();
        for (index, task) in self.tasks.iter().enumerate() {
            let Some(policy) = self.graph.cache_of(task.node) else { continue };
            let made = self.ctx.shared.memories.of(step, index, |memory| {
                let cache = memory.cache.as_ref()?;
                let CacheResult::Made(value) = &cache.result else { return None };
                Some(NewEntry::new(cache.at.clone(), value.clone()).ttl(policy.ttl))
            });
            puts.extend(made.map(|put| (index, task.node, put)));
        }
        (!puts.is_empty()).then_some(ToPut { step, puts })
    }

    /// Puts the results into the cache. If the future is dropped, each result was put or not; the run does not depend
    /// on it.
    ///
    /// Boxed so that runs without a cache do not carry it along.
    #[cold]
    #[inline(never)]
    pub(crate) fn put(&mut self, made: ToPut) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            let ToPut { step, puts } = made;
            let Some(cache) = &self.ctx.shared.cache else { return };
            let all: Vec<NewEntry> = puts.iter().map(|(.., put)| put.clone()).collect();
            let Err(error) = contained_call(|| cache.put(all, now())).await else { return };
            let Some(events) = &self.events else { return };
            let reason = with_causes(&error);
            for (task, node, _) in puts {
                let Some(name) = self.graph.names.get(node) else { continue };
                let event = TaskEvent::NotCached { reason: reason.clone() };
                events.task(step, task, Arc::clone(name), event).await;
            }
        })
    }
}
