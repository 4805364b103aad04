use std::sync::Arc;

use superstep_store::checkpoint::{Checkpoint, NamespaceQuery, NamespaceRecord, Page};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::{Id, name};
use crate::database::{Database, query};
use crate::error::Error;
use crate::transaction::Work;

use super::checkpoints::{COLUMNS, Checkpoints};
use super::params::Params;
use super::rows;

/// Lists the namespaces of a thread by name, each with its head.
pub(crate) fn namespaces(
    client: &Client,
    database: Arc<Database>,
    wanted: Arc<NamespaceQuery>,
) -> Work<'_, Page<NamespaceRecord>, Error> {
    Box::pin(async move { select(client, &database, &wanted).await })
}

async fn select(
    client: &Client,
    database: &Database,
    wanted: &NamespaceQuery,
) -> Result<Page<NamespaceRecord>, Error> {
    let (limit, count) = rows(wanted.limit);
    let mut params = Params::default();
    let thread = params.add(wanted.thread.as_bytes().to_vec(), Type::BYTEA);
    let names = params.names("n.name", wanted.after.as_deref(), wanted.prefix.as_deref());
    let count = params.add(count, Type::INT8);
    let schema = database.schema();
    let statement = format!(
        "SELECT n.name, n.head, {COLUMNS} FROM ( \
             SELECT n.* FROM {schema}.namespace n \
             WHERE n.thread = (SELECT t.id FROM {schema}.thread t WHERE sha256(t.name) = sha256({thread})) \
             AND n.head IS NOT NULL AND {names} ORDER BY substr(n.name, 1, 1000), n.name LIMIT {count} \
         ) AS n LEFT JOIN LATERAL ( \
             SELECT c.*, 1 AS nth FROM {schema}.checkpoint c WHERE c.namespace = n.id AND c.id = n.head \
         ) AS c ON true LEFT JOIN {schema}.run r ON r.id = c.run ORDER BY substr(n.name, 1, 1000), n.name"
    );
    let found = query(client, &statement, &params.as_list()).await?;
    let mut checkpoints = Checkpoints::default();
    let mut page = Page::new(Vec::new(), false);
    for row in &found {
        if page.items.len() == limit {
            page.more = true;
            break;
        }
        let namespace: Arc<str> = name(row.try_get(0)?)?.into();
        let head = match head(row, &mut checkpoints) {
            Ok(head) => Ok(head),
            // An unreadable head becomes part of the record and does not fail the page.
            Err(Error::Corrupt(corruption)) => {
                Err(corruption.of(Arc::clone(&wanted.thread), Arc::clone(&namespace)))
            }
            Err(error) => return Err(error),
        };
        page.items.push(NamespaceRecord::new(namespace, head));
    }
    Ok(page)
}

fn head(row: &Row, checkpoints: &mut Checkpoints) -> Result<Checkpoint, Error> {
    if row.try_get::<_, Option<Id>>(2)?.is_none() {
        let head = row.try_get::<_, Option<Id>>(1)?.map(|Id(id)| id);
        return Err(Error::corrupt("the newest checkpoint", head, "it is missing"));
    }
    checkpoints.read(row, 2)
}
