//! The tables, and what a file must be to be ours.

use rusqlite::Connection;
use superstep_store::checkpoint::CheckpointError;

use crate::trouble::Trouble;

/// What the header of a file of ours says ("GRPH").
const APPLICATION: i32 = 0x4752_5048;

/// What turns format `n` into format `n + 1`, at place `n`. None of them ever changes once it was released.
const MIGRATIONS: [&str; 3] = [include_str!("1.sql"), include_str!("2.sql"), include_str!("3.sql")];

/// What is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nothing yet.
    Nothing,
    /// This format of ours.
    Format(usize),
    /// Another program's database.
    Foreign,
}

/// What is in the file; nothing is changed.
pub(crate) fn content(db: &Connection) -> rusqlite::Result<Content> {
    // One statement is of one moment: between two, another process may have made the tables.
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

/// Refuses a file that this program must not write to.
pub(crate) fn check(content: Content) -> Result<(), CheckpointError> {
    match content {
        Content::Format(found) if found > MIGRATIONS.len() => Err(CheckpointError::NewerFormat {
            found: u32::try_from(found).unwrap_or(u32::MAX),
            known: u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX),
        }),
        Content::Foreign => Err(CheckpointError::backend(
            "open the file",
            "it is a database of another program, not a store of graphs",
        )),
        Content::Format(_) | Content::Nothing => Ok(()),
    }
}

/// Brings a file to the newest format. Several processes may do so at once: the second finds it done.
pub(crate) fn migrate(db: &Connection) -> Result<(), Trouble> {
    if content(db)? == Content::Format(MIGRATIONS.len()) {
        return Ok(());
    }
    db.execute_batch("BEGIN EXCLUSIVE")?;
    let done = migrate_locked(db);
    let ended = db.execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" });
    done?;
    Ok(ended?)
}

fn migrate_locked(db: &Connection) -> Result<(), Trouble> {
    let content = content(db)?;
    check(content)?;
    let from = if let Content::Format(format) = content { format } else { 0 };
    for migration in MIGRATIONS.iter().skip(from) {
        db.execute_batch(migration)?;
    }
    db.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {}",
        MIGRATIONS.len()
    ))?;
    Ok(())
}
