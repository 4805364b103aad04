use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use crate::store::{ItemKey, ItemWrite, Namespace, NamespaceQuery};

use super::kept::Kept;

/// All items, in the order of their names, and which of them expire when.
#[derive(Debug, Default)]
pub(super) struct Shelves {
    shelves: BTreeMap<Namespace, BTreeMap<Arc<str>, Arc<Kept>>>,
    ends: BTreeSet<(SystemTime, ItemKey)>,
}

impl Shelves {
    pub(super) fn len(&self) -> usize {
        self.shelves.values().map(BTreeMap::len).sum()
    }

    pub(super) fn find(&self, at: &ItemKey, now: SystemTime) -> Option<Arc<Kept>> {
        let kept = self.shelves.get(&at.namespace)?.get(&at.key)?;
        kept.lives(now).then(|| Arc::clone(kept))
    }

    /// The items of a namespace and those further in, in the order of their names.
    pub(super) fn within(&self, outer: &Namespace, now: SystemTime) -> Vec<(ItemKey, Arc<Kept>)> {
        let shelves = self.shelves.range(outer..).take_while(|(namespace, _)| namespace.is_within(outer));
        let items = shelves
            .flat_map(|(namespace, shelf)| shelf.iter().map(move |(key, kept)| (namespace, key, kept)));
        items
            .filter(|(_, _, kept)| kept.lives(now))
            .map(|(namespace, key, kept)| (ItemKey::new(namespace, Arc::clone(key)), Arc::clone(kept)))
            .collect()
    }

    pub(super) fn namespaces(&self, query: &NamespaceQuery) -> Vec<Namespace> {
        let shelves = self
            .shelves
            .range(&query.prefix..)
            .take_while(|(namespace, _)| namespace.is_within(&query.prefix));
        shelves
            .filter(|(_, shelf)| shelf.values().any(|kept| kept.lives(query.now)))
            .filter_map(|(namespace, _)| query.shown(namespace))
            .collect()
    }

    /// Whether an item was there before.
    pub(super) fn write(&mut self, write: ItemWrite, now: SystemTime) -> bool {
        let at = write.at().clone();
        let before = self.find(&at, now);
        match write {
            ItemWrite::Put(put) => self.keep(at, Kept::new(*put, before.as_deref(), now)),
            ItemWrite::Delete(at) => self.remove(&at),
        }
        before.is_some()
    }

    /// Lets an item begin its time to live anew, unless it is another one by now.
    pub(super) fn refresh(&mut self, at: &ItemKey, read: &Arc<Kept>, now: SystemTime) {
        let expires_at = read.refreshed(now);
        if expires_at != read.expires_at && self.find(at, now).is_some_and(|kept| Arc::ptr_eq(&kept, read)) {
            self.keep(at.clone(), Kept { expires_at, ..Kept::clone(read) });
        }
    }

    /// Takes expired items away, at most so many; how many that were.
    pub(super) fn sweep(&mut self, now: SystemTime, most: usize) -> u64 {
        let ended = self.ends.iter().take_while(|(end, _)| *end <= now).take(most);
        let ended: Vec<ItemKey> = ended.map(|(_, at)| at.clone()).collect();
        for at in &ended {
            self.remove(at);
        }
        ended.len() as u64
    }

    fn keep(&mut self, at: ItemKey, kept: Kept) {
        self.remove(&at);
        if let Some(end) = kept.expires_at {
            self.ends.insert((end, at.clone()));
        }
        self.shelves.entry(at.namespace).or_default().insert(at.key, Arc::new(kept));
    }

    fn remove(&mut self, at: &ItemKey) {
        let Some(shelf) = self.shelves.get_mut(&at.namespace) else { return };
        if let Some(end) = shelf.remove(&at.key).and_then(|kept| kept.expires_at) {
            self.ends.remove(&(end, at.clone()));
        }
        if shelf.is_empty() {
            self.shelves.remove(&at.namespace);
        }
    }
}
