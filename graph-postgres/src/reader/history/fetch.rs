//! The statements of a history.

use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::TryStreamExt as _;
use futures_util::future::try_join4;
use superstep_store::checkpoint::{CheckpointId, TaskRecord};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::{Id, name};
use crate::database::query;
use crate::error::Error;

use super::super::changes::{ChangeRow, of_field};
use super::super::get::record_of;
use super::super::list::Selection;
use super::plan::Parents;

/// The number of bytes that a row counts in addition to its data.
const OVERHEAD: usize = 64;

/// The number of bytes that may still be read.
#[derive(Debug)]
pub(super) struct ByteBudget(AtomicUsize);

impl ByteBudget {
    pub(super) fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// Takes bytes. Returns `false` if there are not enough.
    pub(super) fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// Names of fields by id.
pub(super) type Fields = BTreeMap<i64, String>;

/// Rows of changes, oldest first, by their branch and their field.
pub(super) type ChangeRows = HashMap<(i64, i64), Vec<ChangeRow>>;

/// Records by their checkpoint.
pub(super) type Records = HashMap<CheckpointId, Vec<TaskRecord>>;

/// The statements that read the parts of selected checkpoints. They do not depend on each other, so they are sent together.
pub(super) struct Fetch<'a> {
    pub(super) client: &'a Client,
    pub(super) selection: &'a Selection,
    pub(super) budget: &'a ByteBudget,
}

/// The parts of the selected checkpoints.
pub(super) struct Fetched {
    pub(super) parents: Parents,
    pub(super) fields: Fields,
    pub(super) records: Records,
    pub(super) rows: ChangeRows,
}

impl Fetch<'_> {
    /// Reads all parts. Returns `None` if they have too many bytes.
    pub(super) async fn all(self) -> Result<Option<Fetched>, Error> {
        let read = try_join4(self.parents(), self.fields(), self.records(), self.rows()).await?;
        let (parents, fields, Some(records), Some(rows)) = read else { return Ok(None) };
        Ok(Some(Fetched { parents, fields, records, rows }))
    }

    /// Returns the parents of the branches, and of all branches above.
    pub(super) async fn parents(&self) -> Result<Parents, Error> {
        let Selection { schema, query: selected, params, .. } = self.selection;
        // A parent branch is always older, so this ends even if the rows are corrupt.
        let statement = format!(
            "WITH RECURSIVE selected AS MATERIALIZED ({selected}), up AS ( \
                 SELECT b.* FROM {schema}.branch b WHERE b.id = ANY(ARRAY(SELECT branch FROM selected)) \
                 UNION SELECT b.* FROM up JOIN {schema}.branch b ON b.id = up.parent AND b.id < up.id \
             ) SELECT id, parent, fork FROM up"
        );
        let mut parents = Parents::new();
        for row in query(self.client, &statement, &params.as_list()).await? {
            let fork = row.try_get::<_, Option<Id>>(2)?.map(|Id(fork)| fork);
            parents.insert(row.try_get(0)?, row.try_get::<_, Option<i64>>(1)?.zip(fork));
        }
        Ok(parents)
    }

    /// Returns the fields of the namespace.
    pub(super) async fn fields(&self) -> Result<Fields, Error> {
        let Selection { schema, query: selected, params, .. } = self.selection;
        let statement = format!(
            "SELECT id, name FROM {schema}.field WHERE namespace = (SELECT c.namespace FROM ({selected}) AS c LIMIT 1)"
        );
        let rows = query(self.client, &statement, &params.as_list()).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, name(row.try_get(1)?)?.to_owned()))).collect()
    }

    /// Reads the records. Returns `None` if they have too many bytes.
    pub(super) async fn records(&self) -> Result<Option<Records>, Error> {
        let Selection { schema, query: selected, params, .. } = self.selection;
        let statement = format!(
            "SELECT r.checkpoint, r.task, r.kind, r.key, r.encoding, r.payload FROM ({selected}) AS c \
             CROSS JOIN LATERAL ( \
                 SELECT r.* FROM {schema}.record r WHERE r.namespace = c.namespace AND r.checkpoint = c.id \
             ) AS r"
        );
        let rows = self.client.query_typed_raw(&statement, params.as_list()).await?;
        let mut rows = pin!(rows);
        let mut records = Records::new();
        while let Some(row) = rows.try_next().await? {
            let Id(id) = row.try_get(0)?;
            let record = record(&row).map_err(|error| {
                error.locate(|| "a record".to_owned(), None).locate(|| "the checkpoint".to_owned(), Some(id))
            })?;
            if !self.budget.take(record.payload.len() + OVERHEAD) {
                return Ok(None);
            }
            records.entry(id).or_default().push(record);
        }
        for records in records.values_mut() {
            records.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        }
        Ok(Some(records))
    }

    /// Adds the name of a field to an error about its rows.
    async fn of_field(&self, error: Error, field: i64) -> Result<Error, Error> {
        let statement = format!("SELECT name FROM {}.field WHERE id = $1", self.selection.schema);
        let rows = query(self.client, &statement, &[(&field, Type::INT8)]).await?;
        let found = rows.first().map(|row| name(row.try_get(0)?)).transpose()?;
        Ok(of_field(error, found.unwrap_or_default()))
    }

    /// Reads the rows of changes that the selected checkpoints see: of each branch those since the last value before its oldest
    /// checkpoint. Returns `None` if they have too many bytes.
    pub(super) async fn rows(&self) -> Result<Option<ChangeRows>, Error> {
        let Selection { schema, query: selected, params, .. } = self.selection;
        let statement = format!(
            "WITH RECURSIVE selected AS MATERIALIZED ({selected}), own (branch, oldest, newest) AS ( \
                 SELECT branch, (array_agg(id ORDER BY id))[1], (array_agg(id ORDER BY id DESC))[1] \
                 FROM selected GROUP BY branch \
             ), up AS ( \
                 SELECT branch, oldest, newest FROM own \
                 UNION SELECT b.parent, b.fork, b.fork FROM up JOIN {schema}.branch b ON b.id = up.branch \
                     WHERE b.parent < b.id \
             ), \
             seen AS (SELECT branch, (array_agg(oldest ORDER BY oldest))[1] AS oldest, \
                 (array_agg(newest ORDER BY newest DESC))[1] AS newest FROM up GROUP BY branch) \
             SELECT q.branch, f.id, p.first, p.before, p.whole, p.entries, p.data FROM seen q \
             CROSS JOIN (SELECT id FROM {schema}.field WHERE namespace = (SELECT namespace FROM selected LIMIT 1)) AS f \
             LEFT JOIN LATERAL ( \
                 SELECT s.first FROM {schema}.piece s WHERE s.branch = q.branch AND s.field = f.id \
                 AND s.first <= q.oldest AND s.whole ORDER BY s.first DESC LIMIT 1 \
             ) AS s ON true \
             CROSS JOIN LATERAL ( \
                 SELECT * FROM {schema}.piece p WHERE p.branch = q.branch AND p.field = f.id AND p.first <= q.newest \
                 AND p.first >= coalesce(s.first, '00000000-0000-0000-0000-000000000000') ORDER BY p.first \
             ) AS p"
        );
        let stream = self.client.query_typed_raw(&statement, params.as_list()).await?;
        let mut stream = pin!(stream);
        let mut rows = ChangeRows::new();
        while let Some(row) = stream.try_next().await? {
            let (branch, field): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
            let (data, headers): (&[u8], &[u8]) = (row.try_get(6)?, row.try_get(5)?);
            let Id(first) = row.try_get(2)?;
            let before = i64::from(row.try_get::<_, i32>(3)?);
            match ChangeRow::new(first, before, row.try_get(4)?, headers, data) {
                Ok(row) => rows.entry((branch, field)).or_default().push(row),
                Err(error) => return Err(self.of_field(error, field).await?),
            }
            if !self.budget.take(data.len() + headers.len() + OVERHEAD) {
                return Ok(None);
            }
        }
        // Rows of a nested loop come in order, but no statement promises that.
        for rows in rows.values_mut() {
            rows.sort_by_key(ChangeRow::first);
        }
        Ok(Some(rows))
    }
}

fn record(row: &Row) -> Result<TaskRecord, Error> {
    let (kind, encoding): (i16, i16) = (row.try_get(2)?, row.try_get(4)?);
    record_of(row.try_get(1)?, i64::from(kind), row.try_get(3)?, i64::from(encoding), row.try_get(5)?)
}
