//! The stores of the server: one SQLite file or one PostgreSQL database for everything.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};

use superstep_postgres::{PostgresCheckpointer, PostgresStore};
use superstep_server::Server;
use superstep_sqlite::{SqliteCheckpointer, SqliteStore};

/// Adds the stores to a server. Returns their place as text.
pub(crate) async fn open(server: Server, db: Option<&Path>) -> Result<(Server, String), Box<dyn Error>> {
    if let Some(url) = db.and_then(database_url) {
        let (checkpoints, items) =
            (PostgresCheckpointer::connect(url).await?, PostgresStore::connect(url).await?);
        // The URL may contain a password.
        return Ok((server.checkpointer(checkpoints).store(items), "a PostgreSQL database".to_owned()));
    }
    let path = match db {
        Some(path) => path.to_owned(),
        None => {
            default_file().ok_or("there is no home folder for the threads: name a file with `--db FILE`")?
        }
    };
    let place = path.display().to_string();
    let (checkpoints, items) = (SqliteCheckpointer::open(&path)?, SqliteStore::open(&path)?);
    Ok((server.checkpointer(checkpoints).store(items), place))
}

/// Returns the URL of a PostgreSQL database, if it is one.
fn database_url(db: &Path) -> Option<&str> {
    let url = db.to_str()?;
    ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)).then_some(url)
}

/// Returns the default file, in the state directory of the XDG base directory specification.
fn default_file() -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(absolute);
    let state = state.or_else(|| env::home_dir().filter(absolute).map(|home| home.join(".local/state")));
    state.map(|state| state.join("superstep").join("server.db"))
}
