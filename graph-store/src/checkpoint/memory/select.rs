use std::ops::Bound;
use std::sync::Arc;

use super::namespace::Namespace;
use super::thread::Thread;
use super::threads::Threads;
use crate::checkpoint::{
    Checkpoint, CheckpointQuery, NamespaceQuery, NamespaceRecord, Page, ThreadQuery, ThreadRecord,
};

/// Returns the checkpoints that match a query, in the order of the query.
pub(super) fn checkpoints(threads: &Threads, query: &CheckpointQuery) -> Page<Checkpoint> {
    let Some(namespace) = threads.get(&query.thread).and_then(|thread| thread.namespace(&query.namespace))
    else {
        return Page { items: Vec::new(), more: false };
    };
    let end = query.before.map_or(namespace.entries.len(), |id| namespace.count_before(id));
    let start = query.after.map_or(0, |id| namespace.count_to(id));
    let entries = namespace.entries.get(start..end).unwrap_or_default();
    let checkpoints = entries.iter().map(|entry| &entry.checkpoint);
    let matching = checkpoints.filter(|checkpoint| matches(checkpoint, query));
    match query.oldest_first {
        true => page(matching, query.limit, Checkpoint::clone),
        false => page(matching.rev(), query.limit, Checkpoint::clone),
    }
}

fn matches(checkpoint: &Checkpoint, query: &CheckpointQuery) -> bool {
    let run = &checkpoint.run;
    query.source.is_none_or(|source| source == checkpoint.source)
        && query.run.as_ref().is_none_or(|id| *id == run.id)
        // `Value` compares strictly: an integer never equals a float.
        && query.metadata.iter().all(|(key, value)| run.metadata.get(key) == Some(value))
}

/// Returns the namespaces that match a query, by name.
pub(super) fn namespaces(threads: &Threads, query: &NamespaceQuery) -> Page<NamespaceRecord> {
    let Some(thread) = threads.get(&query.thread) else { return Page { items: Vec::new(), more: false } };
    let prefix = query.prefix.as_deref().unwrap_or_default();
    let after = query.after.as_deref().filter(|after| *after >= prefix);
    let range = (after.map_or(Bound::Included(prefix), Bound::Excluded), Bound::Unbounded);
    let named = thread.namespaces.range::<str, _>(range).take_while(|(name, _)| name.starts_with(prefix));
    let heads = named.filter_map(|(name, namespace)| Some((name, namespace.head()?)));
    page(heads, query.limit, |(name, head)| NamespaceRecord::new(Arc::clone(name), Ok(head.clone())))
}

/// Returns the threads that match a query, in the order of the query.
pub(super) fn threads(threads: &Threads, query: &ThreadQuery) -> Page<ThreadRecord> {
    let named = |name: &Arc<str>| Some((Arc::clone(name), threads.get(name)?));
    let selected = |(_, thread): &(Arc<str>, &Thread)| query.selects(&thread.status);
    let prefix = query.prefix.as_deref().unwrap_or_default();
    if let Some(now) = query.due {
        let from = query.due_after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let due = threads.waking().range((from, Bound::Unbounded));
        let due = due.take_while(|at| at.wakes_at.is_none_or(|time| time <= now)).map(|at| &at.thread);
        let after = |name: &&Arc<str>| query.after.as_ref().is_none_or(|after| **name > *after);
        let matching = due.filter(|name| name.starts_with(prefix)).filter(after);
        return page(matching.filter_map(named).filter(selected), query.limit, record);
    }
    let after = query.after.as_deref().filter(|after| *after >= prefix);
    let range = (after.map_or(Bound::Included(prefix), Bound::Excluded), Bound::Unbounded);
    if query.unfinished {
        let names = threads.unfinished().range::<str, _>(range);
        let matching = names.take_while(|name| name.starts_with(prefix)).filter_map(named);
        return page(matching, query.limit, record);
    }
    let all = threads.by_name().range::<str, _>(range).take_while(|(name, _)| name.starts_with(prefix));
    page(all.map(|(name, thread)| (Arc::clone(name), thread)), query.limit, record)
}

fn record((name, thread): (Arc<str>, &Thread)) -> ThreadRecord {
    let head = thread.namespace("").and_then(Namespace::head).cloned();
    ThreadRecord { thread: name, epoch: thread.epoch, head: Ok(head), status: thread.status }
}

fn page<T, U>(mut matching: impl Iterator<Item = T>, limit: Option<usize>, item: impl Fn(T) -> U) -> Page<U> {
    let items = matching.by_ref().take(limit.unwrap_or(usize::MAX)).map(item).collect();
    Page { items, more: matching.next().is_some() }
}
