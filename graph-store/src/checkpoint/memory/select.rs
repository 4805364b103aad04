use std::ops::Bound;
use std::sync::Arc;

use super::Threads;
use super::namespace::Namespace;
use super::thread::Thread;
use crate::checkpoint::{Checkpoint, CheckpointQuery, Page, ThreadQuery, ThreadRecord};

/// Returns the checkpoints that match a query, newest first.
pub(super) fn checkpoints(threads: &Threads, query: &CheckpointQuery) -> Page<Checkpoint> {
    let Some(namespace) = threads.get(&query.thread).and_then(|thread| thread.namespace(&query.namespace))
    else {
        return Page { items: Vec::new(), more: false };
    };
    let end = query.before.map_or(namespace.entries.len(), |id| namespace.count_before(id));
    let entries = namespace.entries.get(..end).unwrap_or_default();
    let matching =
        entries.iter().rev().map(|entry| &entry.checkpoint).filter(|checkpoint| matches(checkpoint, query));
    page(matching, query.limit, Checkpoint::clone)
}

fn matches(checkpoint: &Checkpoint, query: &CheckpointQuery) -> bool {
    let run = &checkpoint.run;
    query.source.is_none_or(|source| source == checkpoint.source)
        && query.run.as_ref().is_none_or(|id| *id == run.id)
        // `Value` compares strictly: an integer never equals a float.
        && query.metadata.iter().all(|(key, value)| run.metadata.get(key) == Some(value))
}

/// Returns the threads that match a query, by name.
pub(super) fn threads(threads: &Threads, query: &ThreadQuery) -> Page<ThreadRecord> {
    let prefix = query.prefix.as_deref().unwrap_or_default();
    let after = query.after.as_deref().filter(|after| *after >= prefix);
    let from = after.map_or(Bound::Included(prefix), Bound::Excluded);
    let matching = threads
        .range::<str, _>((from, Bound::Unbounded))
        .take_while(|(name, _)| name.starts_with(prefix))
        .filter(|(_, thread)| !query.unfinished || is_unfinished(thread));
    page(matching, query.limit, |(name, thread): (&Arc<str>, &Thread)| ThreadRecord {
        thread: name.clone(),
        epoch: thread.epoch,
        head: Ok(head(thread).cloned()),
        unfinished: is_unfinished(thread),
    })
}

fn head(thread: &Thread) -> Option<&Checkpoint> {
    thread.namespace("").and_then(Namespace::head)
}

fn is_unfinished(thread: &Thread) -> bool {
    thread.namespace("").is_some_and(Namespace::is_unfinished)
}

fn page<T, U>(mut matching: impl Iterator<Item = T>, limit: Option<usize>, item: impl Fn(T) -> U) -> Page<U> {
    let items = matching.by_ref().take(limit.unwrap_or(usize::MAX)).map(item).collect();
    Page { items, more: matching.next().is_some() }
}
