//! The conformance suite of long-term stores.

use superstep_conformance::store::{Damage, TestLongTermStore};
use superstep_postgres::PostgresStore;
use superstep_store::store::{Namespace, StoreError};
use tokio_postgres::types::Type;

use crate::fixture::{Schema, url, with_server};

fn name(namespace: &Namespace) -> String {
    serde_json::Value::from(namespace.segments().iter().map(|segment| &**segment).collect::<Vec<_>>())
        .to_string()
}

impl TestLongTermStore for Schema {
    type Store = PostgresStore;

    async fn open(&self) -> Result<PostgresStore, StoreError> {
        self.options().connect_store(url().unwrap_or_default()).await
    }

    async fn damage(&self, damage: &Damage<'_>) -> bool {
        let item = "item_namespace(name) = $1 AND item_key(name) = $2";
        let (statement, namespace, key) = match damage {
            Damage::Value { namespace, key } => (
                format!("UPDATE store_item SET value = '{{\"f\":', encoding = 77 WHERE {item}"),
                namespace,
                key,
            ),
            Damage::Embedding { namespace, key } => (
                format!(
                    "UPDATE store_vector SET numbers = '{{1,NaN}}' WHERE item = (SELECT id FROM store_item WHERE {item})"
                ),
                namespace,
                key,
            ),
            _ => return false,
        };
        let namespace = name(namespace);
        let params = [(&namespace as _, Type::TEXT), (key as _, Type::TEXT)];
        let changed = self.sql(async |client| client.execute_typed(&statement, &params).await.unwrap());
        assert!(changed > 0, "no row to damage: {damage:?}");
        true
    }
}

superstep_conformance::store_conformance_tests!(Schema::new(), run = with_server);
