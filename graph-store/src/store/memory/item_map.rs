use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::time::SystemTime;

use crate::store::{ItemKey, ItemWrite, Namespace, NamespaceQuery};

use super::stored_item::StoredItem;

/// All items in the order of their names, and their expiration times.
#[derive(Debug, Default)]
pub(super) struct ItemMap {
    namespaces: BTreeMap<Namespace, BTreeMap<Arc<str>, Arc<StoredItem>>>,
    expirations: BTreeSet<(SystemTime, ItemKey)>,
}

impl ItemMap {
    pub(super) fn len(&self) -> usize {
        self.namespaces.values().map(BTreeMap::len).sum()
    }

    pub(super) fn find(&self, at: &ItemKey, now: SystemTime) -> Option<Arc<StoredItem>> {
        let item = self.namespaces.get(&at.namespace)?.get(&at.key)?;
        item.exists(now).then(|| Arc::clone(item))
    }

    /// Returns the items inside a namespace and after a name, in the order of their names.
    pub(super) fn within(
        &self,
        outer: &Namespace,
        after: Option<&ItemKey>,
        now: SystemTime,
    ) -> Vec<(ItemKey, Arc<StoredItem>)> {
        let first = after.map_or(outer, |after| outer.max(&after.namespace));
        let namespaces =
            self.namespaces.range(first..).take_while(|(namespace, _)| namespace.is_within(outer));
        let items = namespaces.flat_map(|(namespace, items)| {
            let after = after.filter(|after| after.namespace == *namespace);
            let start = after.map_or(Bound::Unbounded, |after| Bound::Excluded(&*after.key));
            let items = items.range::<str, _>((start, Bound::Unbounded));
            items.map(move |(key, item)| (namespace, key, item))
        });
        items
            .filter(|(_, _, item)| item.exists(now))
            .map(|(namespace, key, item)| (ItemKey::new(namespace, Arc::clone(key)), Arc::clone(item)))
            .collect()
    }

    pub(super) fn namespaces(&self, query: &NamespaceQuery) -> Vec<Namespace> {
        let namespaces = self
            .namespaces
            .range(&query.prefix..)
            .take_while(|(namespace, _)| namespace.is_within(&query.prefix));
        namespaces
            .filter(|(_, items)| items.values().any(|item| item.exists(query.now)))
            .filter_map(|(namespace, _)| query.shown(namespace))
            .collect()
    }

    /// Makes a write. Returns `true` if an item existed before.
    pub(super) fn write(&mut self, write: ItemWrite, now: SystemTime) -> bool {
        let at = write.at().clone();
        let before = self.find(&at, now);
        match write {
            ItemWrite::Put(put) => self.insert(at, StoredItem::new(*put, before.as_deref(), now)),
            ItemWrite::Delete(at) => self.remove(&at),
        }
        before.is_some()
    }

    /// Restarts the time to live of an item, unless the item was replaced after it was read.
    pub(super) fn refresh(&mut self, at: &ItemKey, read: &Arc<StoredItem>, now: SystemTime) {
        let expires_at = read.refreshed(now);
        if expires_at != read.expires_at && self.find(at, now).is_some_and(|item| Arc::ptr_eq(&item, read)) {
            self.insert(at.clone(), StoredItem { expires_at, ..StoredItem::clone(read) });
        }
    }

    /// Deletes at most `limit` expired items, and returns their number.
    pub(super) fn delete_expired(&mut self, now: SystemTime, limit: usize) -> u64 {
        let expired = self.expirations.iter().take_while(|(end, _)| *end <= now).take(limit);
        let expired: Vec<ItemKey> = expired.map(|(_, at)| at.clone()).collect();
        for at in &expired {
            self.remove(at);
        }
        expired.len() as u64
    }

    fn insert(&mut self, at: ItemKey, item: StoredItem) {
        self.remove(&at);
        if let Some(end) = item.expires_at {
            self.expirations.insert((end, at.clone()));
        }
        self.namespaces.entry(at.namespace).or_default().insert(at.key, Arc::new(item));
    }

    fn remove(&mut self, at: &ItemKey) {
        let Some(items) = self.namespaces.get_mut(&at.namespace) else { return };
        if let Some(end) = items.remove(&at.key).and_then(|item| item.expires_at) {
            self.expirations.remove(&(end, at.clone()));
        }
        if items.is_empty() {
            self.namespaces.remove(&at.namespace);
        }
    }
}
