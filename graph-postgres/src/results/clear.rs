use superstep_store::cache::Clear;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::columns::millis;
use crate::error::Failure;

use super::Statements;

/// Deletes results. Returns the number of deleted results.
pub(crate) async fn clear(client: &Client, statements: &Statements, which: &Clear) -> Result<u64, Failure> {
    let bytes = |name: &'_ str| name.as_bytes().to_vec();
    let deleted = match which {
        Clear::All => client.execute_typed(&statements.clear_all, &[]).await?,
        Clear::Graph(graph) => {
            client.execute_typed(&statements.clear_graph, &[(&bytes(graph), Type::BYTEA)]).await?
        }
        Clear::Node { graph, node, .. } => {
            let params = [(&bytes(graph) as _, Type::BYTEA), (&bytes(node) as _, Type::BYTEA)];
            client.execute_typed(&statements.clear_node, &params).await?
        }
        Clear::Expired { now, .. } => {
            client.execute_typed(&statements.clear_expired, &[(&millis(*now), Type::INT8)]).await?
        }
        _ => return Err(Failure::backend("this version does not support the selection")),
    };
    Ok(deleted)
}
