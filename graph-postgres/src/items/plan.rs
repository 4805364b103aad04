use superstep_store::payload::Payload;
use superstep_store::store::{Embedding, ItemWrite, ItemWrites};

use crate::columns::millis;

use super::name::name;

/// The net effect of the writes of a call on each item, and the answers of the call.
///
/// Each item is written once, in the order of the names: two calls that lock items in the same order never wait for each
/// other.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) now: i64,
    pub(super) items: Vec<PlannedWrite>,
    answers: Vec<Answer>,
}

/// The last write of a call to an item.
#[derive(Debug)]
pub(super) struct PlannedWrite {
    pub(super) name: Vec<u8>,
    /// `None` deletes the item.
    pub(super) value: Option<Payload>,
    /// `true` if the call deletes the item before it puts it.
    pub(super) anew: bool,
    pub(super) ttl: Option<i64>,
    pub(super) ends: Option<i64>,
    pub(super) embedding: Option<Embedding>,
}

/// The answer to a write: `true` if its item existed.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// As the item at this position of the plan existed before the call.
    Before(usize),
    /// As the write before it of the same call has left the item.
    Known(bool),
}

impl Plan {
    pub(crate) fn new(writes: ItemWrites) -> Self {
        let now = millis(writes.now);
        let mut answers = vec![Answer::Known(false); writes.writes.len()];
        let mut named: Vec<(Vec<u8>, usize, ItemWrite)> = Vec::with_capacity(writes.writes.len());
        named
            .extend(writes.writes.into_iter().enumerate().map(|(nth, write)| (name(write.at()), nth, write)));
        // A stable sort: the writes to one item stay in their order.
        named.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let mut items: Vec<PlannedWrite> = Vec::new();
        for (name, nth, write) in named {
            let before = items.pop_if(|before| before.name == name);
            let existed = before.as_ref().map(|before| before.value.is_some());
            if let Some(answer) = answers.get_mut(nth) {
                *answer = existed.map_or(Answer::Before(items.len()), Answer::Known);
            }
            let anew = before.is_some_and(|before| before.anew || before.value.is_none());
            items.push(PlannedWrite::new(name, write, now, anew));
        }
        Self { now, items, answers }
    }

    /// Returns the answers to the writes. `existed` has one entry for each item.
    pub(super) fn answers(&self, existed: &[bool]) -> Vec<bool> {
        let answer = |answer: &Answer| match *answer {
            Answer::Before(item) => existed.get(item).copied().unwrap_or_default(),
            Answer::Known(existed) => existed,
        };
        self.answers.iter().map(answer).collect()
    }
}

impl PlannedWrite {
    fn new(name: Vec<u8>, write: ItemWrite, now: i64, anew: bool) -> Self {
        let ItemWrite::Put(put) = write else {
            return Self { name, value: None, anew, ttl: None, ends: None, embedding: None };
        };
        let ttl = put.ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
        let ends = ttl.and_then(|ttl| now.checked_add(ttl));
        Self { name, value: Some(put.value), anew, ttl, ends, embedding: put.embedding }
    }

    /// Returns the approximate number of bytes of the write in a statement.
    pub(super) fn len(&self) -> usize {
        self.name.len() + self.value.as_ref().map_or(0, Payload::len)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use superstep_store::store::ItemKey;

    use super::*;

    fn plan(writes: &[(&str, Option<&str>)]) -> Plan {
        let write = |(key, value): &(&str, Option<&str>)| {
            let at = ItemKey::new("n", *key);
            value.map_or_else(
                || ItemWrite::Delete(at.clone()),
                |json| ItemWrite::put(at.clone(), Payload::json(json)),
            )
        };
        Plan::new(ItemWrites::new(UNIX_EPOCH + Duration::from_millis(7), writes.iter().map(write).collect()))
    }

    #[test]
    fn each_item_is_written_once_in_name_order() {
        let plan = plan(&[
            ("b", Some("1")),
            ("a", None),
            ("b", None),
            ("c", Some("2")),
            ("a", Some("3")),
            ("a", Some("4")),
        ]);
        let items: Vec<_> =
            plan.items.iter().map(|item| (item.name.as_slice(), item.value.is_some(), item.anew)).collect();
        assert_eq!(
            items,
            [
                (&b"n\0\x01\0\0a"[..], true, true),
                (b"n\0\x01\0\0b", false, false),
                (b"n\0\x01\0\0c", true, false)
            ]
        );
        assert_eq!(plan.items[0].value, Some(Payload::json("4")));
        assert_eq!(plan.answers(&[true, false, true]), [false, true, true, true, false, true]);
    }
}
