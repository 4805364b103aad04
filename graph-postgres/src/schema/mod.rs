//! The tables, their migrations, and the check that a schema belongs to this crate.

use std::fmt;

use tokio_postgres::IsolationLevel;
use tokio_postgres::types::Type;

use crate::database::{Connection, query};
use crate::error::Failure;

/// The migration from format `n` to format `n + 1`, at index `n`. A released migration never changes.
const MIGRATIONS: [&str; 4] =
    [include_str!("1.sql"), include_str!("2.sql"), include_str!("3.sql"), include_str!("4.sql")];

/// The newest format that this program knows.
pub(crate) const FORMAT: u32 = {
    #[expect(clippy::cast_possible_truncation, reason = "there are few migrations")]
    let count = MIGRATIONS.len() as u32;
    count
};

/// The name of a schema, quoted for a statement: `format!("SELECT … FROM {schema}.thread")`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SchemaName {
    name: String,
    quoted: String,
}

impl SchemaName {
    pub(crate) fn new(name: &str) -> Result<Self, Failure> {
        // A search path replaces `$user` by the name of the role.
        if name.is_empty()
            || name.len() > 63
            || name.contains('\0')
            || name.starts_with("pg_")
            || name == "$user"
        {
            return Err(Failure::backend(format!(
                "`{name}` cannot be the name of a schema: a name has 1 to 63 bytes, no null character, does not begin with `pg_`, and is not `$user`"
            )));
        }
        Ok(Self { name: name.to_owned(), quoted: format!("\"{}\"", name.replace('"', "\"\"")) })
    }
}

impl fmt::Display for SchemaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.quoted)
    }
}

impl fmt::Debug for SchemaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.name, f)
    }
}

/// Returns the failure for a schema of another format than that of this program.
pub(crate) fn other_format(found: u32) -> Failure {
    if found > FORMAT {
        return Failure::NewerFormat { found, known: FORMAT };
    }
    Failure::backend(format!(
        "the schema has format {found}, but this program needs {FORMAT}: migrate it by connecting once with `migrate(true)`"
    ))
}

/// Makes sure that the schema has the format of this program.
pub(crate) async fn open(
    connection: &mut Connection,
    schema: &SchemaName,
    migrate: bool,
) -> Result<(), Failure> {
    match format(connection, schema).await? {
        Some(FORMAT) => Ok(()),
        Some(found) if found > FORMAT || !migrate => Err(other_format(found)),
        None if !migrate => Err(Failure::backend(format!(
            "schema {schema} has no tables of superstep: create them by connecting once with `migrate(true)`"
        ))),
        _ => migrate_locked(connection, schema).await,
    }
}

/// Returns the format of the schema, or `None` if it has no tables of this crate.
async fn format(connection: &Connection, schema: &SchemaName) -> Result<Option<u32>, Failure> {
    let table = format!("{schema}.format");
    let known = query(connection, "SELECT to_regclass($1) IS NOT NULL", &[(&table, Type::TEXT)]).await?;
    if !known.first().is_some_and(|row| row.try_get(0).unwrap_or(false)) {
        return Ok(None);
    }
    let rows = query(connection, &format!("SELECT number FROM {schema}.format"), &[]).await?;
    let number: Option<i32> = rows.first().map(|row| row.try_get(0)).transpose()?;
    Ok(number.and_then(|number| u32::try_from(number).ok()))
}

/// Migrates the schema in one transaction. Several programs may do so at once: only the first migrates.
async fn migrate_locked(connection: &mut Connection, schema: &SchemaName) -> Result<(), Failure> {
    // Each statement has to see what other programs have done before it got the lock.
    let transaction =
        connection.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start().await?;
    // The lock ends with the transaction, as poolers demand.
    let lock = format!("superstep migration of {schema}");
    let locked = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    transaction.query_typed(locked, &[(&lock, Type::TEXT)]).await?;
    let exists = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)";
    let rows = transaction.query_typed(exists, &[(&schema.name, Type::TEXT)]).await?;
    // A role without the right to create schemas can use one that exists.
    if !rows.first().is_some_and(|row| row.try_get(0).unwrap_or(false)) {
        transaction.batch_execute(&format!("CREATE SCHEMA {schema}")).await?;
    }
    transaction.batch_execute(&format!("SET LOCAL search_path TO {schema}, pg_temp")).await?;
    transaction.batch_execute("CREATE TABLE IF NOT EXISTS format (number integer NOT NULL)").await?;
    let rows = transaction.query_typed("SELECT number FROM format", &[]).await?;
    let found: Option<i32> = rows.first().map(|row| row.try_get(0)).transpose()?;
    let from = found.and_then(|found| u32::try_from(found).ok()).unwrap_or(0);
    if from > FORMAT {
        return Err(other_format(from));
    }
    let done = usize::try_from(from).unwrap_or(usize::MAX);
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.batch_execute(migration).await?;
    }
    let number = i32::try_from(FORMAT).unwrap_or(i32::MAX);
    // The functions compare it with the format of their caller.
    let function = format!(
        "CREATE OR REPLACE FUNCTION format_number() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT {FORMAT}'"
    );
    transaction.batch_execute(&function).await?;
    transaction.batch_execute("DELETE FROM format").await?;
    transaction.query_typed("INSERT INTO format VALUES ($1)", &[(&number, Type::INT4)]).await?;
    transaction.commit().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::MIGRATIONS;

    /// The server converts statements to the encoding of its database, which may have no other characters.
    #[test]
    fn migrations_are_ascii() {
        for (nth, migration) in MIGRATIONS.iter().enumerate() {
            assert_eq!(migration.chars().find(|character| !character.is_ascii()), None, "{}.sql", nth + 1);
        }
    }
}
