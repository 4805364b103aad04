use std::sync::{Mutex, PoisonError};

use futures_util::future::join;
use superstep_store::store::{Near, Search};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::columns::Param;
use crate::error::Failure;

use super::scope::Scope;
use super::statements::{ORDERS, SCOPE};
use super::{ItemError, Statements};

/// The largest number of dimensions of a vector in the extension.
const MAX_DIMENSIONS: usize = 16_000;

/// The lengths of vectors for which the server computes precisely enough. It adds squares as 32-bit numbers, which overflow.
const LENGTHS: [f64; 2] = [1e-10, 1e10];

/// The schema of the extension pgvector, if the database has it.
///
/// The library never installs the extension: an administrator does, with `CREATE EXTENSION vector`. A search finds out by
/// itself.
#[derive(Debug, Default)]
pub(crate) struct Extension {
    /// The quoted name of the schema, once it was found.
    schema: Mutex<Option<String>>,
}

impl Extension {
    /// Returns the rows of the items among which the results of a search are, or `None` if the server cannot tell. Only the
    /// rows in `accepted` meet the conditions.
    pub(super) async fn candidates(
        &self,
        client: &Client,
        statements: &Statements,
        search: &Search,
        scope: &Scope,
        near: &Near,
        accepted: Option<&Vec<i64>>,
    ) -> Result<Option<Vec<i64>>, ItemError> {
        // All results are wanted: the server could leave out none.
        let Some(limit) = search.limit else { return Ok(None) };
        let length = near.vector().iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
        let dimensions = near.vector().len();
        if dimensions > MAX_DIMENSIONS || !(LENGTHS[0]..=LENGTHS[1]).contains(&length) {
            return Ok(None);
        }
        let Some(schema) = self.schema(client).await? else { return Ok(None) };
        let statement = statement(&schema, statements, scope.order);
        let model = near.model().as_bytes();
        let count = i32::try_from(dimensions).unwrap_or(i32::MAX);
        let last = i64::try_from(search.offset.saturating_add(limit)).unwrap_or(i64::MAX);
        let (vector, margin) = (near.vector(), margin(dimensions));
        let others: [Param<'_>; 6] = [
            (&accepted, Type::INT8_ARRAY),
            (&model, Type::BYTEA),
            (&count, Type::INT4),
            (&vector, Type::FLOAT4_ARRAY),
            (&last, Type::INT8),
            (&margin, Type::FLOAT8),
        ];
        let params = scope.params(others);
        let found =
            join(client.batch_execute("SAVEPOINT candidates"), client.query_typed(&statement, &params)).await;
        match (found.0, found.1) {
            (Ok(()), Ok(rows)) => Ok(Some(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)),
            // A damaged vector, which the exact search reports, or an extension that was removed or is another one.
            (Ok(()), Err(error)) if is_refused(&error) => {
                self.replace(None);
                client.batch_execute("ROLLBACK TO SAVEPOINT candidates").await?;
                Ok(None)
            }
            (begun, found) => {
                begun?;
                found?;
                Ok(None)
            }
        }
    }

    async fn schema(&self, client: &Client) -> Result<Option<String>, Failure> {
        if let Some(schema) = self.known() {
            return Ok(Some(schema));
        }
        let installed = "SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e \
             JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace \
             WHERE e.extname = 'vector' AND has_schema_privilege(n.oid, 'USAGE')";
        let rows = client.query_typed(installed, &[]).await?;
        let schema: Option<String> = rows.first().map(|row| row.try_get(0)).transpose()?;
        self.replace(schema.clone());
        Ok(schema)
    }

    fn known(&self) -> Option<String> {
        self.schema.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, schema: Option<String>) {
        *self.schema.lock().unwrap_or_else(PoisonError::into_inner) = schema;
    }
}

/// Returns twice the largest difference between a score of the server and one of this crate.
///
/// The server adds up products as 32-bit numbers, so each addition may be wrong by 2^-24 of the sum.
fn margin(dimensions: usize) -> f64 {
    let dimensions = u32::try_from(dimensions).unwrap_or(u32::MAX);
    8.0 * (f64::from(dimensions) + 8.0) * f64::from(f32::EPSILON) / 2.0
}

/// Returns `true` if the server has answered that it cannot compare the vectors.
fn is_refused(error: &tokio_postgres::Error) -> bool {
    // 22: data that a function refuses. 42 and 3F: a name that does not exist, or a missing privilege.
    let class = error.code().and_then(|code| code.code().get(..2));
    matches!(class, Some("22" | "42" | "3F"))
}

/// Selects the items that may be among the first $8 + 1 by their score. Scores that are not numbers, and vectors that cannot
/// be compared, are left to the exact search.
fn statement(extension: &str, statements: &Statements, order: usize) -> String {
    let schema = &statements.schema;
    let order = ORDERS.get(order).copied().unwrap_or_default();
    let vector = format!("v.numbers::{extension}.vector");
    let [least, most] = LENGTHS;
    format!(
        "WITH scored AS MATERIALIZED (SELECT v.item, \
         bool_or(v.model <> $5 OR cardinality(v.numbers) <> $6) AS incomparable, \
         max(CASE WHEN v.model <> $5 OR cardinality(v.numbers) <> $6 THEN NULL \
         WHEN {extension}.vector_norm({vector}) BETWEEN {least:e} AND {most:e} \
         THEN 1 - ({vector} OPERATOR({extension}.<=>) $7::real[]::{extension}.vector) ELSE 'NaN' END) AS score \
         FROM {schema}.store_item i JOIN {schema}.store_vector v ON v.item = i.id \
         WHERE {SCOPE} AND ($4::bigint[] IS NULL OR i.id = ANY($4)) GROUP BY v.item), \
         last AS (SELECT score FROM scored WHERE score <> 'NaN' ORDER BY score DESC OFFSET $8 LIMIT 1) \
         SELECT i.id FROM scored s JOIN {schema}.store_item i ON i.id = s.item \
         WHERE s.incomparable OR s.score IS NULL OR s.score = 'NaN' \
         OR s.score >= coalesce((SELECT score FROM last), '-Infinity') - $9 ORDER BY {order}"
    )
}
