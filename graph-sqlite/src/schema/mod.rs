//! The tables, their migrations, and the check that a file belongs to this crate.

use rusqlite::Connection;
use superstep_store::checkpoint::CheckpointError;

use crate::error::Error;
use crate::thread_metadata;

/// The `application_id` of our files ("GRPH").
const APPLICATION: i32 = 0x4752_5048;

/// The migration from format `n` to format `n + 1`, at index `n`. A released migration never changes.
const MIGRATIONS: [&str; 5] = [
    include_str!("1.sql"),
    include_str!("2.sql"),
    include_str!("3.sql"),
    include_str!("4.sql"),
    include_str!("5.sql"),
];

/// The format since which the metadata of threads are in an index.
const METADATA_SINCE: usize = 5;

/// The content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The file is empty.
    Nothing,
    /// Our file, in this format.
    Format(usize),
    /// Another program's database.
    Foreign,
}

/// Returns the content of the file without changing it.
pub(crate) fn content(db: &Connection) -> rusqlite::Result<Content> {
    // One statement sees one state of the file. Between two, another process may create the tables.
    let (application, version, tables): (i32, i32, i64) = db.query_row(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
         FROM pragma_application_id, pragma_user_version",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    Ok(match (application, usize::try_from(version), tables) {
        (APPLICATION, Ok(version), _) if version > 0 => Content::Format(version),
        (0, Ok(0), 0) => Content::Nothing,
        _ => Content::Foreign,
    })
}

/// Refuses a file that this version of the crate must not write to.
pub(crate) fn check(content: Content) -> Result<(), CheckpointError> {
    match content {
        Content::Format(found) if found > MIGRATIONS.len() => Err(CheckpointError::newer_format(
            u32::try_from(found).unwrap_or(u32::MAX),
            u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX),
        )),
        Content::Foreign => Err(CheckpointError::backend(
            "open the file",
            "it is another program's database, not a superstep store",
        )),
        Content::Format(_) | Content::Nothing => Ok(()),
    }
}

/// Fails if the file no longer has the format in which this program has opened it.
///
/// A newer program may have migrated it since then. Call this inside a transaction.
pub(crate) fn check_unchanged(db: &Connection) -> Result<(), Error> {
    let version: i64 = db.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))?;
    let found = usize::try_from(version).unwrap_or_default();
    if found == MIGRATIONS.len() {
        return Ok(());
    }
    check(Content::Format(found))?;
    Err(CheckpointError::backend(
        "use the file",
        format!(
            "it was replaced while it was open, by one of format {found} instead of {}: open it again",
            MIGRATIONS.len()
        ),
    )
    .into())
}

/// Migrates a file to the newest format. Several processes may do so at once: only the first migrates.
pub(crate) fn migrate(db: &Connection) -> Result<(), Error> {
    if content(db)? == Content::Format(MIGRATIONS.len()) {
        return Ok(());
    }
    db.execute_batch("BEGIN EXCLUSIVE")?;
    let done = migrate_locked(db);
    let ended = db.execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" });
    done?;
    Ok(ended?)
}

fn migrate_locked(db: &Connection) -> Result<(), Error> {
    let content = content(db)?;
    check(content)?;
    let from = if let Content::Format(format) = content { format } else { 0 };
    for (format, migration) in MIGRATIONS.iter().enumerate().skip(from) {
        db.execute_batch(migration)?;
        if format + 1 == METADATA_SINCE && from > 0 {
            thread_metadata::index_all(db)?;
        }
    }
    db.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {}",
        MIGRATIONS.len()
    ))?;
    Ok(())
}
