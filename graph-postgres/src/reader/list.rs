use std::sync::Arc;

use superstep_store::checkpoint::{Checkpoint, CheckpointId, CheckpointQuery, Page};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::Id;
use crate::database::{Database, query};
use crate::error::Error;
use crate::tags::{has_all, tags};
use crate::transaction::Work;

use super::checkpoints::{COLUMNS, Checkpoints};
use super::params::Params;
use super::rows;

/// Lists checkpoints of a namespace, in the order of the query.
pub(crate) fn list(
    client: &Client,
    database: Arc<Database>,
    wanted: Arc<CheckpointQuery>,
) -> Work<'_, Page<Checkpoint>, Error> {
    Box::pin(async move {
        let mut pages = Pages::new(&wanted, wanted.limit);
        while !pages.add(&pages.read(client, &pages.selection(&database)).await?)? {}
        let page = pages.take();
        Ok(Page::new(page.items.into_iter().map(|listed| listed.checkpoint).collect(), page.more))
    })
}

/// A listed checkpoint with its branch.
pub(super) struct Listed {
    pub(super) checkpoint: Checkpoint,
    pub(super) branch: i64,
}

/// The rows of checkpoints that a statement selects: a query of the table `checkpoint`, with its parameters.
pub(super) struct Selection {
    pub(super) schema: String,
    pub(super) query: String,
    pub(super) params: Params,
    order: &'static str,
}

/// A list in the making. It usually takes one read.
pub(super) struct Pages<'w> {
    wanted: &'w CheckpointQuery,
    pub(super) limit: usize,
    count: i64,
    before: Option<CheckpointId>,
    after: Option<CheckpointId>,
    page: Page<Listed>,
}

impl<'w> Pages<'w> {
    pub(super) fn new(wanted: &'w CheckpointQuery, limit: Option<usize>) -> Self {
        let (limit, count) = rows(limit);
        let page = Page::new(Vec::new(), false);
        Self { wanted, limit, count, before: wanted.before, after: wanted.after, page }
    }

    /// Takes the checkpoints that were added so far. The list goes on after them.
    pub(super) fn take(&mut self) -> Page<Listed> {
        std::mem::replace(&mut self.page, Page::new(Vec::new(), false))
    }

    /// Selects the next checkpoints. Conditions that are not set are left out, so that they cost nothing.
    pub(super) fn selection(&self, database: &Database) -> Selection {
        let (wanted, schema) = (self.wanted, database.schema());
        let mut params = Params::default();
        let thread = params.add(wanted.thread.as_bytes().to_vec(), Type::BYTEA);
        // Each is one value and no join, so that the rows come from the index in their order.
        let thread = format!("(SELECT t.id FROM {schema}.thread t WHERE sha256(t.name) = sha256({thread}))");
        let namespace = params.add(wanted.namespace.as_bytes().to_vec(), Type::BYTEA);
        let namespace = format!(
            "(SELECT n.id FROM {schema}.namespace n WHERE n.thread = {thread} AND sha256(n.name) = sha256({namespace}))"
        );
        let mut conditions = format!("c.namespace = {namespace}");
        let mut and = |condition: String| {
            conditions.push_str(" AND ");
            conditions.push_str(&condition);
        };
        if let Some(before) = self.before {
            and(format!("c.id < {}", params.add(Id(before), Type::UUID)));
        }
        if let Some(after) = self.after {
            and(format!("c.id > {}", params.add(Id(after), Type::UUID)));
        }
        if let Some(source) = wanted.source {
            and(format!("c.source = {}", params.add(source.name(), Type::TEXT)));
        }
        if wanted.run.is_some() || !wanted.metadata.is_empty() {
            let tags = params.add(tags(&wanted.metadata), Type::INT8_ARRAY);
            let name = wanted.run.as_deref().map_or_else(String::new, |run| {
                let run = params.add(run.as_bytes().to_vec(), Type::BYTEA);
                format!(" AND sha256(w.name) = sha256({run}) AND w.name = {run}")
            });
            and(format!(
                "c.run = ANY(ARRAY(SELECT w.id FROM {schema}.run w WHERE w.thread = {thread}{name} AND w.tags @> {tags}))"
            ));
        }
        if let Some(request) = &wanted.request {
            let key = params.add(request.as_bytes().to_vec(), Type::BYTEA);
            and(format!(
                "c.id = ANY(ARRAY(SELECT k.checkpoint FROM {schema}.record k WHERE k.namespace = {namespace} \
                 AND k.kind = 12 AND substr(sha256(k.key), 1, 8) = substr(sha256({key}), 1, 8) AND k.key = {key}))"
            ));
        }
        let order = if wanted.oldest_first { "ASC" } else { "DESC" };
        let count = params.add(self.count, Type::INT8);
        let query = format!(
            "SELECT c.* FROM {schema}.checkpoint c WHERE {conditions} ORDER BY c.id {order} LIMIT {count}"
        );
        Selection { schema: schema.to_string(), query, params, order }
    }

    /// Reads the selected checkpoints with their runs.
    pub(super) async fn read(&self, client: &Client, selection: &Selection) -> Result<Vec<Row>, Error> {
        let Selection { schema, query: selected, params, order } = selection;
        let statement = format!(
            "SELECT {COLUMNS}, c.branch FROM ( \
                 SELECT c.*, row_number() OVER (PARTITION BY c.run ORDER BY c.id {order}) AS nth FROM ({selected}) AS c \
             ) AS c LEFT JOIN {schema}.run r ON r.id = c.run ORDER BY c.id {order}"
        );
        Ok(query(client, &statement, &params.as_list()).await?)
    }

    /// Adds the checkpoints of a read. Returns `true` if the page is complete.
    pub(super) fn add(&mut self, rows: &[Row]) -> Result<bool, Error> {
        let mut checkpoints = Checkpoints::default();
        for row in rows {
            let checkpoint = checkpoints.read(row, 0)?;
            *(if self.wanted.oldest_first { &mut self.after } else { &mut self.before }) =
                Some(checkpoint.id);
            // Different metadata may have the same tags.
            if !has_all(&checkpoint.run.metadata, &self.wanted.metadata) {
                continue;
            }
            if self.page.items.len() == self.limit {
                self.page.more = true;
                return Ok(true);
            }
            self.page.items.push(Listed { checkpoint, branch: row.try_get(12)? });
        }
        Ok(i64::try_from(rows.len()).unwrap_or(i64::MAX) < self.count)
    }
}
