use std::ops::Bound;
use std::sync::Arc;

use super::namespace::{Entry, Namespace};
use super::thread::Thread;
use super::threads::Threads;
use crate::checkpoint::{
    Checkpoint, CheckpointQuery, HistoryEntry, NamespaceQuery, NamespaceRecord, Page, ThreadQuery,
    ThreadRecord,
};

/// Returns the checkpoints that match a query, in the order of the query.
pub(super) fn checkpoints(threads: &Threads, query: &CheckpointQuery) -> Page<Checkpoint> {
    match find_namespace(threads, query) {
        Some(namespace) => {
            let Page { items, more } = entries(namespace, query);
            Page { items: items.into_iter().map(|entry| entry.checkpoint.clone()).collect(), more }
        }
        None => Page { items: Vec::new(), more: false },
    }
}

/// Returns the checkpoints that match a query, with their records and fields.
pub(super) fn history(threads: &Threads, query: &CheckpointQuery) -> Page<HistoryEntry> {
    match find_namespace(threads, query) {
        Some(namespace) => {
            let Page { items, more } = entries(namespace, query);
            Page { items: namespace.history(&items), more }
        }
        None => Page { items: Vec::new(), more: false },
    }
}

fn find_namespace<'t>(threads: &'t Threads, query: &CheckpointQuery) -> Option<&'t Namespace> {
    threads.get(&query.thread)?.namespace(&query.namespace)
}

fn entries<'n>(namespace: &'n Namespace, query: &CheckpointQuery) -> Page<&'n Entry> {
    let is_listed = |entry: &&Entry| matches(&entry.checkpoint, query);
    if let Some(key) = &query.request {
        let is_between = |entry: &&Entry| {
            let id = entry.checkpoint.id;
            query.before.is_none_or(|before| id < before) && query.after.is_none_or(|after| id > after)
        };
        let accepted = namespace.with_request(key).filter(is_between).filter(is_listed);
        return ordered(accepted, query);
    }
    let end = query.before.map_or(namespace.entries.len(), |id| namespace.count_before(id));
    let start = query.after.map_or(0, |id| namespace.count_to(id));
    let entries = namespace.entries.get(start..end).unwrap_or_default();
    ordered(entries.iter().filter(is_listed), query)
}

fn ordered<'n>(
    matching: impl DoubleEndedIterator<Item = &'n Entry>,
    query: &CheckpointQuery,
) -> Page<&'n Entry> {
    match query.oldest_first {
        true => page(matching, query.limit, |entry| entry),
        false => page(matching.rev(), query.limit, |entry| entry),
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
