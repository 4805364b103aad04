//! Creates the file and opens connections to it.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use superstep_store::checkpoint::CheckpointError;

use crate::error::{Error, Operation, backend};
use crate::options::{SqliteOptions, Synchronous};
use crate::schema;

const OPEN: &str = "open the file";

/// Creates the file if it does not exist, and returns its absolute path. A name with a special meaning for SQLite, such
/// as `:memory:`, is an ordinary file name here. The absolute path stays valid when the process changes its working
/// directory.
pub(crate) fn create_file(path: &Path) -> Result<PathBuf, CheckpointError> {
    create_if_missing(path)
        .and_then(|()| fs::canonicalize(path))
        .map_err(|error| CheckpointError::backend("create the file", error))
}

/// Opens the connection that writes, and migrates the file to the newest format.
pub(crate) fn writer(path: &Path, options: &SqliteOptions) -> Result<Connection, CheckpointError> {
    prepare(path, options)
        .map_err(|error| error.into_error(&Operation { name: OPEN, ..Operation::default() }))
        .map_err(|error| match error {
            // Opening concerns no thread, so the error must not name one.
            CheckpointError::Corrupt(corrupt) => {
                CheckpointError::backend(OPEN, format!("{}: {}", corrupt.part, corrupt.reason))
            }
            other => other,
        })
}

/// Opens a read-only connection.
pub(crate) fn reader(path: &Path, options: &SqliteOptions) -> Result<Connection, CheckpointError> {
    let connect = || -> rusqlite::Result<Connection> {
        let db = connect(path, options)?;
        db.execute_batch("PRAGMA query_only = ON")?;
        Ok(db)
    };
    connect().map_err(|error| backend(OPEN, error))
}

/// Creates the file and its parent folders. Values may be secret, so only the owner may read the file.
fn create_if_missing(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

fn connect(path: &Path, options: &SqliteOptions) -> rusqlite::Result<Connection> {
    // No `SQLITE_OPEN_URI`: a path that begins with `file:` is still a path.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(options.busy_timeout)?;
    db.set_prepared_statement_cache_capacity(64);
    // Query plans must not depend on bound values. Otherwise SQLite prepares a statement with a range again for every
    // use.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Large enough for the pages of a long history.
    db.execute_batch("PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF")?;
    Ok(db)
}

fn prepare(path: &Path, options: &SqliteOptions) -> Result<Connection, Error> {
    let db = connect(path, options)?;
    // Before any change: another program's database must stay untouched.
    schema::check(schema::content(&db)?)?;
    // Lets pruning return space to the file system. SQLite accepts the setting only while the file is empty.
    db.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
    enable_wal(&db, options.busy_timeout)?;
    db.execute_batch(match options.synchronous {
        // `fullfsync` matters on macOS, whose `fsync` does not reach the disk.
        Synchronous::Full => {
            "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON"
        }
        Synchronous::Normal => "PRAGMA synchronous = NORMAL",
    })?;
    // A long read lets the write-ahead log grow; this truncates it afterwards.
    db.query_row("PRAGMA journal_size_limit = 16777216", [], |_| Ok(()))?;
    schema::migrate(&db)?;
    Ok(db)
}

/// Turns write-ahead logging on. While another process does the same, SQLite fails at once whatever the busy timeout
/// is, so this function waits itself.
fn enable_wal(db: &Connection, timeout: Duration) -> Result<(), Error> {
    let until = Instant::now() + timeout;
    loop {
        match db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let reason = format!(
                    "the file system supports only journal mode `{mode}`, but the store needs `wal`: use a local disk"
                );
                return Err(CheckpointError::backend(OPEN, reason).into());
            }
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < until =>
            {
                thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error.into()),
        }
    }
}
