//! Histories: checkpoints with their records, and the changes since their nearest listed ancestors.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, params};
use superstep_store::checkpoint::{
    ChangeKind, CheckpointId, CheckpointQuery, HistoryEntry, Page, StoredChange, StoredField, TaskRecord,
};

use crate::columns::{IdText, text};
use crate::error::Error;

use super::changes::{Ancestor, ancestry, change_row, changes, missing};
use super::get::{of_field, records};
use super::list::{Listed, find_namespace, select};

/// A page with more bytes is read again with fewer checkpoints.
const MAX_BYTES: usize = 32 << 20;

/// The number of bytes that a change or a record counts in addition to its payload.
const OVERHEAD: usize = 64;

/// Lists checkpoints with their records and changes, in the order of the query.
pub(crate) fn history(db: &Connection, query: &CheckpointQuery) -> Result<Page<HistoryEntry>, Error> {
    let Some((_, namespace)) = find_namespace(db, query)? else { return Ok(Page::new(Vec::new(), false)) };
    let mut query = query.clone();
    loop {
        let page = select(db, &query)?;
        let is_smallest = page.items.len() <= 1;
        let mut reading = Reading::new(db, &page.items, if is_smallest { usize::MAX } else { MAX_BYTES })?;
        if reading.read(namespace)? {
            let parts = reading.parts;
            return Ok(Page::new(entries(page.items, parts), page.more));
        }
        query.limit = Some((page.items.len() / 4).max(1));
    }
}

/// The parts of the entries of a page.
struct Reading<'a> {
    db: &'a Connection,
    listed: &'a [Listed],
    /// The positions of the listed checkpoints of each branch, oldest first.
    by_branch: BTreeMap<i64, Vec<(CheckpointId, usize)>>,
    /// The branches that lead to a branch, its own first.
    ancestries: HashMap<i64, Vec<Ancestor>>,
    parts: Vec<Parts>,
    bytes_left: usize,
}

#[derive(Default)]
struct Parts {
    base: Option<CheckpointId>,
    fields: Vec<StoredField>,
    records: Vec<TaskRecord>,
}

impl<'a> Reading<'a> {
    fn new(db: &'a Connection, listed: &'a [Listed], bytes: usize) -> Result<Self, Error> {
        let mut by_branch: BTreeMap<i64, Vec<(CheckpointId, usize)>> = BTreeMap::new();
        let mut ancestries = HashMap::new();
        for (position, found) in listed.iter().enumerate() {
            by_branch.entry(found.branch).or_default().push((found.checkpoint.id, position));
            if let Entry::Vacant(place) = ancestries.entry(found.branch) {
                place.insert(ancestry(db, found.branch, found.checkpoint.id)?);
            }
        }
        by_branch.values_mut().for_each(|branch| branch.sort_unstable());
        let parts = listed.iter().map(|_| Parts::default()).collect();
        Ok(Self { db, listed, by_branch, ancestries, parts, bytes_left: bytes })
    }

    /// Reads everything. Returns `false` if that has too many bytes.
    fn read(&mut self, namespace: i64) -> Result<bool, Error> {
        for (found, parts) in self.listed.iter().zip(&mut self.parts) {
            let id = found.checkpoint.id;
            parts.records = records(self.db, found.row)
                .map_err(|error| error.locate(|| "the checkpoint".to_owned(), Some(id)))?;
            let bytes = parts.records.iter().map(|record| record.payload.len() + OVERHEAD).sum();
            let progress = found.checkpoint.progress.as_ref().map_or(0, |progress| progress.len());
            match self.bytes_left.checked_sub(progress.saturating_add(bytes)) {
                Some(left) => self.bytes_left = left,
                None => return Ok(false),
            }
        }
        let branches = std::mem::take(&mut self.by_branch);
        self.find_bases(&branches);
        let mut query = self.db.prepare_cached("SELECT id, name FROM field WHERE namespace = ?1")?;
        let mut rows = query.query([namespace])?;
        while let Some(row) = rows.next()? {
            let (field, name) = (row.get(0)?, text(row, 1)?.to_owned());
            for (branch, members) in &branches {
                let read = self.read_field(&branches, *branch, members, field, &name);
                if !read.map_err(|error| of_field(error, &name))? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Reads the changes of a field for the listed checkpoints of a branch.
    fn read_field(
        &mut self,
        branches: &BTreeMap<i64, Vec<(CheckpointId, usize)>>,
        branch: i64,
        members: &[(CheckpointId, usize)],
        field: i64,
        name: &str,
    ) -> Result<bool, Error> {
        let Some((first, oldest)) = members.first() else { return Ok(true) };
        let mut path = self.ancestries.get(&branch).cloned().unwrap_or_default();
        if let Some(own) = path.first_mut() {
            own.until = *first;
        }
        let found = match nearest_listed(branches, &path) {
            Some((ancestor, base)) => {
                let mut found = vec![Vec::new()];
                for (position, part) in path.iter().enumerate().take(ancestor + 1).rev() {
                    let after = (position == ancestor).then_some(base);
                    if !self.scan(part.branch, field, after, &[part.until], &mut found)? {
                        return Ok(false);
                    }
                }
                found.pop().unwrap_or_default()
            }
            None => changes(self.db, &path, field)?,
        };
        if !self.put(*oldest, name, found) {
            return Ok(false);
        }
        let Some(rest) = members.get(1..).filter(|rest| !rest.is_empty()) else { return Ok(true) };
        let ids: Vec<_> = rest.iter().map(|(id, _)| *id).collect();
        let mut found = vec![Vec::new(); rest.len()];
        if !self.scan(branch, field, Some(*first), &ids, &mut found)? {
            return Ok(false);
        }
        Ok(rest.iter().zip(found).all(|((_, position), found)| self.put(*position, name, found)))
    }

    fn find_bases(&mut self, branches: &BTreeMap<i64, Vec<(CheckpointId, usize)>>) {
        for (branch, members) in branches {
            let path = self.ancestries.get(branch).map(Vec::as_slice).unwrap_or_default();
            let mut base = nearest_listed(branches, path).map(|(_, base)| base);
            for (id, position) in members {
                if let Some(parts) = self.parts.get_mut(*position) {
                    parts.base = base;
                }
                base = Some(*id);
            }
        }
    }

    /// Adds the changes of a field to an entry. Returns `false` if the page has too many bytes.
    fn put(&mut self, position: usize, name: &str, changes: Vec<StoredChange>) -> bool {
        if changes.is_empty() {
            return true;
        }
        let bytes: usize = changes.iter().map(|change| change.payload.len() + OVERHEAD).sum();
        if let Some(parts) = self.parts.get_mut(position) {
            parts.fields.push(StoredField::new(name, changes));
        }
        match self.bytes_left.checked_sub(bytes.saturating_add(name.len())) {
            Some(left) => {
                self.bytes_left = left;
                true
            }
            None => false,
        }
    }

    /// Reads the changes of a field on a branch after a checkpoint, and adds each to the first of `ends` that sees it.
    /// Returns `false` if they have too many bytes.
    fn scan(
        &self,
        branch: i64,
        field: i64,
        after: Option<CheckpointId>,
        ends: &[CheckpointId],
        found: &mut [Vec<StoredChange>],
    ) -> Result<bool, Error> {
        let Some(last) = ends.last() else { return Ok(true) };
        // The scan begins with the row that may have changes on both sides of `after`.
        let mut query = self.db.prepare_cached(
            "SELECT id, first, whole, before, loose, encoding, entries, data FROM piece \
             WHERE line = ?1 AND field = ?2 AND first <= ?4 AND first >= coalesce( \
                 (SELECT max(first) FROM piece WHERE line = ?1 AND field = ?2 AND first <= ?3), '') \
             ORDER BY first",
        )?;
        let after_text = after.map(|after| after.to_string()).unwrap_or_default();
        let mut rows = query.query(params![branch, field, after_text, IdText::from(*last)])?;
        let mut expected = None;
        let mut bytes = 0_usize;
        while let Some(row) = rows.next()? {
            let row = change_row(row)?;
            let first = row.changes.first().map(|change| change.checkpoint);
            // Each row has the number of entries before it, which reveals a missing row.
            let expected_before = match expected {
                _ if row.head.starts_with_value => 0,
                Some(end) => end,
                None if first <= after => row.head.before,
                None => 0,
            };
            if row.head.before != expected_before {
                return Err(missing(first));
            }
            expected = Some(row.head.end());
            for change in row.changes {
                if Some(change.checkpoint) <= after {
                    continue;
                }
                let end = ends.partition_point(|end| *end < change.checkpoint);
                let Some(changes) = found.get_mut(end) else { break };
                if change.kind == ChangeKind::Value {
                    changes.clear();
                }
                bytes = bytes.saturating_add(change.payload.len() + OVERHEAD);
                changes.push(change);
            }
            if bytes > self.bytes_left {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn entries(listed: Vec<Listed>, parts: Vec<Parts>) -> Vec<HistoryEntry> {
    let entry = |(found, parts): (Listed, Parts)| {
        HistoryEntry::new(found.checkpoint, parts.fields, parts.records).base(parts.base)
    };
    listed.into_iter().zip(parts).map(entry).collect()
}

/// Returns the newest listed checkpoint on the way to a checkpoint, with the position of its branch in `path`.
fn nearest_listed(
    branches: &BTreeMap<i64, Vec<(CheckpointId, usize)>>,
    path: &[Ancestor],
) -> Option<(usize, CheckpointId)> {
    path.iter().enumerate().skip(1).find_map(|(position, part)| {
        let members = branches.get(&part.branch)?;
        let before = members.partition_point(|(id, _)| *id <= part.until);
        members.get(before.checked_sub(1)?).map(|(id, _)| (position, *id))
    })
}
