//! Making a file, and connections to it.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use superstep_store::checkpoint::CheckpointError;

use crate::options::{Options, Synchronous};
use crate::schema;
use crate::trouble::{About, Trouble, backend};

const OPEN: &str = "open the file";

/// Where the file is, which is made if it is not there. What SQLite takes for something else than a path (`:memory:`) is
/// the file of that name, and a process may go to another folder later.
pub(crate) fn place(path: &Path) -> Result<PathBuf, CheckpointError> {
    make(path)
        .and_then(|()| fs::canonicalize(path))
        .map_err(|error| CheckpointError::backend("make the file", error))
}

/// The connection that writes; the file is in the newest format afterwards.
pub(crate) fn writer(path: &Path, options: &Options) -> Result<Connection, CheckpointError> {
    prepare(path, options)
        .map_err(|trouble| trouble.into_error(&About { what: OPEN, ..About::default() }))
        .map_err(|error| match error {
            // There is no thread to speak of yet.
            CheckpointError::Corrupt(corrupt) => {
                CheckpointError::backend(OPEN, format!("{}: {}", corrupt.what, corrupt.reason))
            }
            other => other,
        })
}

/// A connection that cannot write.
pub(crate) fn reader(path: &Path, options: &Options) -> Result<Connection, CheckpointError> {
    let connect = || -> rusqlite::Result<Connection> {
        let db = connect(path, options)?;
        db.execute_batch("PRAGMA query_only = ON")?;
        Ok(db)
    };
    connect().map_err(|error| backend(OPEN, error))
}

/// Makes the file and the folders above it. Values may be secret: nobody else may read it.
fn make(path: &Path) -> std::io::Result<()> {
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

fn connect(path: &Path, options: &Options) -> rusqlite::Result<Connection> {
    // No `SQLITE_OPEN_URI`: a path is a path, whatever it begins with.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(options.busy_timeout)?;
    db.set_prepared_statement_cache_capacity(64);
    // A plan does not depend on what is bound: otherwise a statement with a range in it is prepared anew for every use.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // The pages of a long history fit in.
    db.execute_batch("PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF")?;
    Ok(db)
}

fn prepare(path: &Path, options: &Options) -> Result<Connection, Trouble> {
    let db = connect(path, options)?;
    // Before anything is changed: another program's database stays as it is.
    schema::check(schema::content(&db)?)?;
    // Pruning gives space back; it can be chosen only while the file is empty.
    db.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
    write_ahead(&db, options.busy_timeout)?;
    db.execute_batch(match options.synchronous {
        // `fullfsync` matters on macOS, whose `fsync` does not reach the disk.
        Synchronous::Full => {
            "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON"
        }
        Synchronous::Normal => "PRAGMA synchronous = NORMAL",
    })?;
    // A file that a long read has let grow is cut again.
    db.query_row("PRAGMA journal_size_limit = 16777216", [], |_| Ok(()))?;
    schema::migrate(&db)?;
    Ok(db)
}

/// Turns write-ahead logging on. SQLite does not wait here while another process does the same, whatever the timeout is.
fn write_ahead(db: &Connection, timeout: Duration) -> Result<(), Trouble> {
    let until = Instant::now() + timeout;
    loop {
        match db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let reason = format!("its file system does not allow write-ahead logging, only `{mode}`");
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
