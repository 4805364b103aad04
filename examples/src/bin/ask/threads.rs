//! The file or database of the threads, the choice of a thread, and the metadata of its runs.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use examples::corpus::Kinds;
use superstep::checkpoint::{CheckpointError, CheckpointId, Checkpointer, ThreadQuery, ThreadRecord};
use superstep::thread::{PersistentGraph, Snapshot, Thread};
use superstep_postgres::PostgresCheckpointer;
use superstep_sqlite::SqliteCheckpointer;

use crate::inquiry::Inquiry;
use crate::library::Library;

pub(crate) type Threads = PersistentGraph<Inquiry, Library>;

/// Opens the file or database of the threads. Creates the file, or the tables, if they do not exist.
pub(crate) async fn store(db: Option<&Path>) -> Result<Arc<dyn Checkpointer>, Box<dyn Error>> {
    if let Some(url) = db.and_then(database_url) {
        let store = PostgresCheckpointer::connect(url).await;
        // The URL may contain a password.
        return match store {
            Ok(store) => Ok(Arc::new(store)),
            Err(error) => Err(cannot_store("the database", "another one", &error)),
        };
    }
    let path = match db {
        Some(path) => path.to_owned(),
        None => {
            default_file().ok_or("there is no home folder for the threads: name a file with `--db FILE`")?
        }
    };
    match SqliteCheckpointer::open(&path) {
        Ok(store) => Ok(Arc::new(store)),
        Err(error) => Err(cannot_store(&format!("`{}`", path.display()), "another file", &error)),
    }
}

/// Returns the URL of a PostgreSQL database, if it is one.
fn database_url(db: &Path) -> Option<&str> {
    let url = db.to_str()?;
    ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)).then_some(url)
}

fn cannot_store(place: &str, other: &str, error: &CheckpointError) -> Box<dyn Error> {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("cannot store threads in {place} (choose {other} with `--db`): {error}{cause}").into()
}

/// Returns the default file, in the state directory of the XDG base directory specification.
fn default_file() -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(absolute);
    let state = state.or_else(|| env::home_dir().filter(absolute).map(|home| home.join(".local/state")));
    state.map(|state| state.join("ask").join("threads.db"))
}

/// Returns a name for a new thread, short enough to type.
pub(crate) fn new_name() -> String {
    // The last characters of an id are random.
    ending(CheckpointId::after(None)).to_lowercase()
}

/// Returns the end of an id, which is enough to identify it in a thread.
pub(crate) fn ending(id: CheckpointId) -> String {
    id.to_string().chars().skip(20).collect()
}

/// Returns the thread of this name. Without a name, returns the thread used last; with `unfinished`, threads with pending tasks come
/// first.
pub(crate) async fn existing(
    threads: &Threads,
    name: Option<&str>,
    unfinished: bool,
) -> Result<Thread<Inquiry, Library>, Box<dyn Error>> {
    if let Some(name) = name {
        return Ok(threads.thread(name));
    }
    let mut last = None;
    if unfinished {
        last = newest(threads, true).await?;
    }
    if last.is_none() {
        last = newest(threads, false).await?;
    }
    let last = last.ok_or("there is no thread yet: ask a question first")?;
    Ok(threads.thread(last.thread))
}

async fn newest(threads: &Threads, unfinished: bool) -> Result<Option<ThreadRecord>, superstep::Error> {
    let mut query = ThreadQuery::new().unfinished(unfinished);
    let mut newest = None;
    loop {
        let page = threads.threads(query.clone()).await?;
        query.after = page.items.last().map(|last| last.thread.clone());
        let head = |record: &ThreadRecord| record.head.as_ref().ok()?.as_ref().map(|head| head.id);
        // An unreadable thread is chosen only by name.
        let readable = page.items.into_iter().filter(|record| record.head.is_ok());
        newest = newest.into_iter().chain(readable).max_by_key(head);
        if !page.more || query.after.is_none() {
            return Ok(newest);
        }
    }
}

/// The key of a run's metadata for its folder.
pub(crate) const FOLDER: &str = "folder";
/// The key of a run's metadata for the kinds of its documents.
pub(crate) const DOCUMENTS: &str = "documents";

/// Returns the value of [`DOCUMENTS`] for these kinds.
pub(crate) fn kinds_name(kinds: Kinds) -> &'static str {
    match kinds {
        Kinds::Text => "text",
        Kinds::Markdown => "markdown",
    }
}

/// Returns the folder and the kinds of the run that created a checkpoint, so that a resume need not repeat them.
pub(crate) fn folder(snapshot: &Snapshot<Inquiry>) -> Option<(PathBuf, Kinds)> {
    let text = |key| snapshot.metadata.get(key).and_then(|value| value.as_str());
    let kinds = if text(DOCUMENTS)? == "markdown" { Kinds::Markdown } else { Kinds::Text };
    Some((PathBuf::from(text(FOLDER)?), kinds))
}

/// Returns the checkpoint whose id ends with `id`.
pub(crate) async fn checkpoint(
    thread: &Thread<Inquiry, Library>,
    id: &str,
) -> Result<Snapshot<Inquiry>, Box<dyn Error>> {
    let ending = id.to_uppercase();
    let mut found = thread.history().await?;
    found.retain(|snapshot| !ending.is_empty() && snapshot.id.to_string().ends_with(&ending));
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => {
            Err(format!("thread `{}` has no checkpoint `{id}`: see `--history`", thread.name()).into())
        }
        (Some(_), more) => {
            Err(format!("{} checkpoint ids end with `{id}`: give more characters", more + 1).into())
        }
    }
}
