use tokio_postgres::types::{ToSql, Type};

use crate::columns::{Param, after_prefix};

/// The parameters of a statement under construction. They have the numbers in which they were added.
#[derive(Default)]
pub(super) struct Params(Vec<(Box<dyn ToSql + Send + Sync>, Type)>);

impl Params {
    /// Adds a parameter. Returns its place in the statement.
    pub(super) fn add(&mut self, value: impl ToSql + Send + Sync + 'static, of: Type) -> String {
        self.0.push((Box::new(value), of));
        format!("${}", self.0.len())
    }

    pub(super) fn as_list(&self) -> Vec<Param<'_>> {
        self.0.iter().map(|(value, of)| (&**value as &(dyn ToSql + Sync), of.clone())).collect()
    }

    /// Returns the condition for names after one and with a prefix, for an index over the first bytes of the names.
    pub(super) fn names(&mut self, column: &str, after: Option<&str>, prefix: Option<&str>) -> String {
        let mut conditions = vec!["true".to_owned()];
        if let Some(after) = after {
            let after = self.add(after.as_bytes().to_vec(), Type::BYTEA);
            conditions.push(format!(
                "substr({column}, 1, 1000) >= substr({after}, 1, 1000) AND {column} > {after}"
            ));
        }
        if let Some(prefix) = prefix.filter(|prefix| !prefix.is_empty()) {
            let from = self.add(prefix.as_bytes().to_vec(), Type::BYTEA);
            conditions
                .push(format!("substr({column}, 1, 1000) >= substr({from}, 1, 1000) AND {column} >= {from}"));
            if let Some(end) = after_prefix(prefix.as_bytes()) {
                let end = self.add(end, Type::BYTEA);
                conditions.push(format!(
                    "substr({column}, 1, 1000) <= substr({end}, 1, 1000) AND {column} < {end}"
                ));
            }
        }
        conditions.join(" AND ")
    }
}
