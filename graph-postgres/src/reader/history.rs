//! Histories: checkpoints with their records, and the changes since their nearest listed ancestors.

use std::collections::{BTreeMap, HashMap};
use std::pin::pin;

use futures_util::TryStreamExt as _;
use superstep_store::checkpoint::{
    ChangeKind, CheckpointId, CheckpointQuery, HistoryEntry, Page, StoredChange, StoredField, TaskRecord,
};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::{Id, name};
use crate::database::{Connection, Database, Param, query};
use crate::error::Error;
use crate::transaction::Open;

use super::changes::{ChangeRow, Rows, missing, of_field};
use super::get::record_of;
use super::list::{Listed, select};

/// A page with more bytes is read again with fewer checkpoints.
const MAX_BYTES: usize = 32 << 20;

/// The number of bytes that a row counts in addition to its data.
const OVERHEAD: usize = 64;

/// Lists checkpoints with their records and changes, in the order of the query, as of one moment.
pub(crate) async fn history(
    connection: Connection,
    database: &Database,
    wanted: &CheckpointQuery,
) -> Result<Page<HistoryEntry>, Error> {
    let open = Open::new(connection);
    open.client()?.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let page = read(open.client()?, database, wanted).await;
    // It has only read, so nothing depends on its end.
    open.roll_back().await;
    page
}

async fn read(
    client: &Client,
    database: &Database,
    wanted: &CheckpointQuery,
) -> Result<Page<HistoryEntry>, Error> {
    let mut limit = wanted.limit;
    loop {
        let page = select(client, database, wanted, limit).await?;
        let Some(first) = page.items.first() else { return Ok(Page::new(Vec::new(), page.more)) };
        let max_bytes = if page.items.len() == 1 { usize::MAX } else { MAX_BYTES };
        let mut reading = Reading::new(client, database, first.namespace, &page.items).await?;
        if reading.read(max_bytes).await? {
            let parts = reading.parts;
            return Ok(Page::new(entries(page.items, parts), page.more));
        }
        limit = Some((page.items.len() / 4).max(1));
    }
}

/// The part of a branch that a checkpoint sees.
#[derive(Clone, Copy, Debug)]
struct Ancestor {
    branch: i64,
    until: CheckpointId,
}

/// Positions of listed checkpoints, oldest first, by branch.
type Members = BTreeMap<i64, Vec<(CheckpointId, usize)>>;

/// Rows of changes to read from a branch.
#[derive(Clone, Copy, Debug)]
struct Request {
    branch: i64,
    /// Only changes after this checkpoint.
    after: Option<CheckpointId>,
    until: CheckpointId,
    /// Only changes since the last value.
    since_value: bool,
}

/// The parts of the entries of a page.
struct Reading<'a> {
    client: &'a Client,
    database: &'a Database,
    namespace: i64,
    listed: &'a [Listed],
    members: Members,
    /// The parent of each branch, and the checkpoint where the branch begins.
    parents: HashMap<i64, Option<(i64, CheckpointId)>>,
    parts: Vec<Parts>,
}

#[derive(Default)]
struct Parts {
    base: Option<CheckpointId>,
    fields: Vec<StoredField>,
    records: Vec<TaskRecord>,
}

impl<'a> Reading<'a> {
    async fn new(
        client: &'a Client,
        database: &'a Database,
        namespace: i64,
        listed: &'a [Listed],
    ) -> Result<Self, Error> {
        let mut members = Members::new();
        for (position, found) in listed.iter().enumerate() {
            members.entry(found.branch).or_default().push((found.checkpoint.id, position));
        }
        members.values_mut().for_each(|branch| branch.sort_unstable());
        let branches: Vec<i64> = members.keys().copied().collect();
        let schema = database.schema();
        // A parent branch is always older, so this ends even if the rows are corrupt.
        let statement = format!(
            "WITH RECURSIVE up AS ( \
                 SELECT b.* FROM {schema}.branch b WHERE b.id = ANY($1) \
                 UNION SELECT b.* FROM up JOIN {schema}.branch b ON b.id = up.parent AND b.id < up.id \
             ) SELECT id, parent, fork FROM up"
        );
        let mut parents = HashMap::new();
        for row in query(client, &statement, &[(&branches, Type::INT8_ARRAY)]).await? {
            let fork = row.try_get::<_, Option<Id>>(2)?.map(|Id(fork)| fork);
            parents.insert(row.try_get(0)?, row.try_get::<_, Option<i64>>(1)?.zip(fork));
        }
        let parts = listed.iter().map(|_| Parts::default()).collect();
        Ok(Self { client, database, namespace, listed, members, parents, parts })
    }

    /// Reads everything. Returns `false` if that has too many bytes.
    async fn read(&mut self, max_bytes: usize) -> Result<bool, Error> {
        let mut bytes_left = max_bytes;
        if !self.read_records(&mut bytes_left).await? {
            return Ok(false);
        }
        // For each branch: the rows of its oldest listed checkpoint, and those of the others.
        let mut requests = Vec::new();
        let mut plans = Vec::new();
        for (branch, members) in &self.members {
            let Some((first, oldest)) = members.first() else { continue };
            let path = self.path(*branch, *first)?;
            let base = nearest_listed(&self.members, &path);
            let start = requests.len();
            let parts = path.iter().take(base.map_or(path.len(), |(position, _)| position + 1));
            requests.extend(parts.enumerate().map(|(position, part)| Request {
                branch: part.branch,
                after: base.filter(|(ancestor, _)| *ancestor == position).map(|(_, base)| base),
                until: part.until,
                since_value: base.is_none(),
            }));
            let rest = members.get(1..).unwrap_or_default();
            if let Some((last, _)) = rest.last() {
                requests.push(Request {
                    branch: *branch,
                    after: Some(*first),
                    until: *last,
                    since_value: false,
                });
            }
            plans.push((*branch, base.map(|(_, base)| base), start..requests.len(), *oldest));
        }
        let fields = self.fields().await?;
        let rows = self.read_rows(&requests, &fields, &mut bytes_left).await?;
        let Some(mut rows) = rows else { return Ok(false) };
        for (id, field) in fields {
            for (branch, base, range, oldest) in &plans {
                let rest = self
                    .members
                    .get(branch)
                    .and_then(|members| members.get(1..))
                    .unwrap_or_default()
                    .to_vec();
                let mut wanted: Vec<_> = range
                    .clone()
                    .filter_map(|nth| {
                        Some((*requests.get(nth)?, rows.remove(&(nth, id)).unwrap_or_default()))
                    })
                    .collect();
                let read = self.read_field(&field, *base, &rest, *oldest, &mut wanted);
                read.map_err(|error| of_field(error, &field))?;
            }
        }
        for (branch, base, ..) in &plans {
            let mut base = *base;
            for (id, position) in self.members.get(branch).into_iter().flatten() {
                if let Some(parts) = self.parts.get_mut(*position) {
                    parts.base = base;
                }
                base = Some(*id);
            }
        }
        Ok(true)
    }

    /// Returns the branches that lead to a checkpoint, its own first.
    fn path(&self, branch: i64, until: CheckpointId) -> Result<Vec<Ancestor>, Error> {
        let mut path = vec![Ancestor { branch, until }];
        let mut branch = branch;
        loop {
            let parent = self
                .parents
                .get(&branch)
                .ok_or_else(|| Error::corrupt("the checkpoint's branch", Some(until), "it is missing"))?;
            let Some((parent, fork)) = *parent else { return Ok(path) };
            path.push(Ancestor { branch: parent, until: fork });
            branch = parent;
        }
    }

    async fn read_records(&mut self, bytes_left: &mut usize) -> Result<bool, Error> {
        let schema = self.database.schema();
        let ids: Vec<Id> = self.listed.iter().map(|listed| Id(listed.checkpoint.id)).collect();
        let positions: HashMap<CheckpointId, usize> =
            ids.iter().enumerate().map(|(position, Id(id))| (*id, position)).collect();
        let statement = format!(
            "SELECT checkpoint, task, kind, key, encoding, payload FROM {schema}.record \
             WHERE namespace = $1 AND checkpoint = ANY($2)"
        );
        let params: [Param<'_>; 2] = [(&self.namespace, Type::INT8), (&ids, Type::UUID_ARRAY)];
        let rows = self.client.query_typed_raw(&statement, params).await?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.try_next().await? {
            let Id(id) = row.try_get(0)?;
            let record = record(&row).map_err(|error| {
                error.locate(|| "a record".to_owned(), None).locate(|| "the checkpoint".to_owned(), Some(id))
            })?;
            let size = record.payload.len() + OVERHEAD;
            if let Some(parts) = positions.get(&id).and_then(|position| self.parts.get_mut(*position)) {
                parts.records.push(record);
            }
            match bytes_left.checked_sub(size) {
                Some(left) => *bytes_left = left,
                None => return Ok(false),
            }
        }
        for (parts, listed) in self.parts.iter_mut().zip(self.listed) {
            parts.records.sort_unstable_by(|one, other| one.key.cmp(&other.key));
            let progress = listed.checkpoint.progress.as_ref().map_or(0, |progress| progress.len());
            match bytes_left.checked_sub(progress) {
                Some(left) => *bytes_left = left,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    async fn fields(&self) -> Result<BTreeMap<i64, String>, Error> {
        let statement = format!("SELECT id, name FROM {}.field WHERE namespace = $1", self.database.schema());
        let rows = query(self.client, &statement, &[(&self.namespace, Type::INT8)]).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, name(row.try_get(1)?)?.to_owned()))).collect()
    }

    /// Reads the rows of all requests, oldest first, by request and field. Returns `None` if they have too many bytes.
    async fn read_rows(
        &self,
        requests: &[Request],
        fields: &BTreeMap<i64, String>,
        bytes_left: &mut usize,
    ) -> Result<Option<HashMap<(usize, i64), Vec<ChangeRow>>>, Error> {
        let schema = self.database.schema();
        let statement = format!(
            "SELECT q.nth, f.id, p.first, p.before, p.whole, p.entries, p.data \
             FROM unnest($2, $3, $4, $5) WITH ORDINALITY AS q (branch, after, until, since_value, nth) \
             CROSS JOIN {schema}.field f \
             LEFT JOIN LATERAL ( \
                 SELECT s.first FROM {schema}.piece s WHERE s.branch = q.branch AND s.field = f.id \
                 AND s.first <= CASE WHEN q.since_value THEN q.until ELSE q.after END AND (s.whole OR NOT q.since_value) \
                 ORDER BY s.first DESC LIMIT 1 \
             ) AS s ON true \
             CROSS JOIN LATERAL ( \
                 SELECT * FROM {schema}.piece p WHERE p.branch = q.branch AND p.field = f.id AND p.first <= q.until \
                 AND p.first >= coalesce(s.first, '00000000-0000-0000-0000-000000000000') ORDER BY p.first \
             ) AS p \
             WHERE f.namespace = $1"
        );
        let branches: Vec<i64> = requests.iter().map(|request| request.branch).collect();
        let after: Vec<Option<Id>> = requests.iter().map(|request| request.after.map(Id)).collect();
        let until: Vec<Id> = requests.iter().map(|request| Id(request.until)).collect();
        let since_value: Vec<bool> = requests.iter().map(|request| request.since_value).collect();
        let params: [Param<'_>; 5] = [
            (&self.namespace, Type::INT8),
            (&branches, Type::INT8_ARRAY),
            (&after, Type::UUID_ARRAY),
            (&until, Type::UUID_ARRAY),
            (&since_value, Type::BOOL_ARRAY),
        ];
        let stream = self.client.query_typed_raw(&statement, params).await?;
        let mut stream = pin!(stream);
        let mut rows: HashMap<(usize, i64), Vec<ChangeRow>> = HashMap::new();
        while let Some(row) = stream.try_next().await? {
            let nth = usize::try_from(row.try_get::<_, i64>(0)? - 1).unwrap_or(usize::MAX);
            let (data, headers): (&[u8], &[u8]) = (row.try_get(6)?, row.try_get(5)?);
            let Id(first) = row.try_get(2)?;
            let before = i64::from(row.try_get::<_, i32>(3)?);
            let field: i64 = row.try_get(1)?;
            let name = fields.get(&field).map(String::as_str).unwrap_or_default();
            let read = ChangeRow::new(first, before, row.try_get(4)?, headers, data);
            rows.entry((nth, field)).or_default().push(read.map_err(|error| of_field(error, name))?);
            match bytes_left.checked_sub(data.len() + headers.len() + OVERHEAD) {
                Some(left) => *bytes_left = left,
                None => return Ok(None),
            }
        }
        // Rows of a nested loop come in order, but no statement promises that.
        for rows in rows.values_mut() {
            rows.sort_by_key(|row| row.entries.first().map(|entry| entry.checkpoint));
        }
        Ok(Some(rows))
    }

    /// Distributes the changes of a field on a branch to the listed checkpoints: `oldest`, and the `rest` after it.
    fn read_field(
        &mut self,
        field: &str,
        base: Option<CheckpointId>,
        rest: &[(CheckpointId, usize)],
        oldest: usize,
        requests: &mut Vec<(Request, Vec<ChangeRow>)>,
    ) -> Result<(), Error> {
        let last = if rest.is_empty() { None } else { requests.pop() };
        let mut found = vec![Vec::new()];
        if base.is_some() {
            for (request, rows) in requests.iter().rev() {
                scan(rows, request.after, &[request.until], &mut found)?;
            }
        } else {
            let mut complete = Rows::default();
            'path: for (request, rows) in requests.drain(..) {
                for row in rows.into_iter().rev() {
                    let is_whole = row.starts_with_value();
                    complete.push(request.branch, request.until, row)?;
                    if is_whole {
                        break 'path;
                    }
                }
            }
            found = vec![complete.finish()?];
        }
        self.put(oldest, field, found.pop().unwrap_or_default());
        if let Some((request, rows)) = last {
            let ends: Vec<_> = rest.iter().map(|(id, _)| *id).collect();
            let mut found = vec![Vec::new(); rest.len()];
            scan(&rows, request.after, &ends, &mut found)?;
            for ((_, position), changes) in rest.iter().zip(found) {
                self.put(*position, field, changes);
            }
        }
        Ok(())
    }

    fn put(&mut self, position: usize, field: &str, changes: Vec<StoredChange>) {
        if let Some(parts) = self.parts.get_mut(position).filter(|_| !changes.is_empty()) {
            parts.fields.push(StoredField::new(field, changes));
        }
    }
}

/// Adds each change after a checkpoint to the first of `ends` that sees it.
fn scan(
    rows: &[ChangeRow],
    after: Option<CheckpointId>,
    ends: &[CheckpointId],
    found: &mut [Vec<StoredChange>],
) -> Result<(), Error> {
    let mut expected = None;
    for row in rows {
        let first = row.entries.first().map(|entry| entry.checkpoint);
        // Each row has the number of entries before it, which reveals a missing row.
        let expected_before = match expected {
            _ if row.starts_with_value() => 0,
            Some(end) => end,
            None if first <= after => row.before,
            None => 0,
        };
        if row.before != expected_before {
            return Err(missing(first));
        }
        expected = Some(row.end());
        for entry in &row.entries {
            let checkpoint = entry.checkpoint;
            if Some(checkpoint) <= after {
                continue;
            }
            let Some(changes) = found.get_mut(ends.partition_point(|end| *end < checkpoint)) else { break };
            let change = entry.clone().change(&row.data).ok_or_else(|| {
                Error::corrupt("a chunk", Some(checkpoint), "an entry is longer than the chunk")
            })?;
            if change.kind == ChangeKind::Value {
                changes.clear();
            }
            changes.push(change);
        }
    }
    Ok(())
}

fn record(row: &Row) -> Result<TaskRecord, Error> {
    let (kind, encoding): (i16, i16) = (row.try_get(2)?, row.try_get(4)?);
    record_of(row.try_get(1)?, i64::from(kind), row.try_get(3)?, i64::from(encoding), row.try_get(5)?)
}

fn entries(listed: Vec<Listed>, parts: Vec<Parts>) -> Vec<HistoryEntry> {
    let entry = |(found, parts): (Listed, Parts)| {
        HistoryEntry::new(found.checkpoint, parts.fields, parts.records).base(parts.base)
    };
    listed.into_iter().zip(parts).map(entry).collect()
}

/// Returns the newest listed checkpoint on the way to a checkpoint, with the position of its branch in `path`.
fn nearest_listed(members: &Members, path: &[Ancestor]) -> Option<(usize, CheckpointId)> {
    path.iter().enumerate().skip(1).find_map(|(position, part)| {
        let members = members.get(&part.branch)?;
        let before = members.partition_point(|(id, _)| *id <= part.until);
        members.get(before.checked_sub(1)?).map(|(id, _)| (position, *id))
    })
}
