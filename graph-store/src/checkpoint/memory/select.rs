use std::ops::Bound;
use std::sync::Arc;

use super::namespace::{Entry, Namespace};
use super::thread::Thread;
use super::threads::{Listed, Threads};
use crate::checkpoint::{
    Checkpoint, CheckpointQuery, HistoryEntry, NamespaceQuery, NamespaceRecord, Page, StatusKind,
    ThreadQuery, ThreadRecord, metadata_digest,
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
        && run.has_metadata(&query.metadata)
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
    let prefix = query.prefix.as_deref().unwrap_or_default();
    let after = query.after.as_deref();
    let found = |name: &Arc<str>| {
        let is_named = name.starts_with(prefix) && after.is_none_or(|after| **name > *after);
        let thread = threads.get(name).filter(|_| is_named)?;
        let run = thread.namespace("").and_then(Namespace::head).map(|head| &*head.run);
        (query.selects(&thread.status) && query.selects_run(run)).then(|| (Arc::clone(name), thread))
    };
    let listed = listed(threads, query);
    if let Some(now) = query.due {
        let from = query.due_after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let due = merged(listed.iter().map(|listed| listed.waking.range((from, Bound::Unbounded))));
        let due = due.take_while(|at| at.wakes_at.is_none_or(|time| time <= now));
        return page(due.filter_map(|at| found(&at.thread)), query.limit, record);
    }
    if query.newest_first {
        let from = query.newest_after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let newest = merged(listed.iter().map(|listed| listed.changes.range((from, Bound::Unbounded))));
        return page(newest.filter_map(|at| found(&at.thread)), query.limit, record);
    }
    let from = after.filter(|after| *after >= prefix);
    let range = (from.map_or(Bound::Included(prefix), Bound::Excluded), Bound::Unbounded);
    let names = merged(listed.iter().map(|listed| listed.names.range::<str, _>(range)));
    page(names.take_while(|name| name.starts_with(prefix)).filter_map(found), query.limit, record)
}

/// Returns the parts of the indexes that have all threads of a query.
fn listed<'t>(threads: &'t Threads, query: &ThreadQuery) -> Vec<&'t Listed> {
    let with_metadata =
        query.metadata.iter().map(|(key, value)| threads.by_metadata(metadata_digest(key, value)));
    // The condition that the fewest threads meet.
    if let Some(fewest) = with_metadata.min_by_key(|listed| listed.map_or(0, |listed| listed.names.len())) {
        return fewest.into_iter().collect();
    }
    let by_status = threads.by_status().iter();
    let wanted = by_status.filter(|(kind, _)| {
        (query.status.is_empty() || query.status.contains(kind))
            && (!query.unfinished || **kind != StatusKind::Finished)
    });
    wanted.map(|(_, listed)| &**listed).collect()
}

/// Merges sorted iterators.
fn merged<T: Ord>(parts: impl Iterator<Item = impl Iterator<Item = T>>) -> impl Iterator<Item = T> {
    let mut parts: Vec<_> = parts.collect();
    let mut heads: Vec<Option<T>> = parts.iter_mut().map(Iterator::next).collect();
    std::iter::from_fn(move || {
        let filled = heads.iter().enumerate().filter_map(|(index, head)| Some((head.as_ref()?, index)));
        let least = filled.min()?.1;
        let next = parts.get_mut(least)?.next();
        std::mem::replace(heads.get_mut(least)?, next)
    })
}

fn record((name, thread): (Arc<str>, &Thread)) -> ThreadRecord {
    let head = thread.namespace("").and_then(Namespace::head).cloned();
    ThreadRecord { thread: name, epoch: thread.epoch, head: Ok(head), status: thread.status }
}

fn page<T, U>(mut matching: impl Iterator<Item = T>, limit: Option<usize>, item: impl Fn(T) -> U) -> Page<U> {
    let items = matching.by_ref().take(limit.unwrap_or(usize::MAX)).map(item).collect();
    Page { items, more: matching.next().is_some() }
}
