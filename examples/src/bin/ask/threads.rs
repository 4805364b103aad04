//! Where threads are kept, which one is meant, and what they remember of how they were begun.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};

use examples::corpus::Kinds;
use superstep::checkpoint::{CheckpointId, ThreadQuery, ThreadRecord};
use superstep::thread::{PersistentGraph, Snapshot, Thread};
use superstep_sqlite::SqliteCheckpointer;

use crate::inquiry::Inquiry;
use crate::library::Library;

pub(crate) type Threads = PersistentGraph<Inquiry, Library>;

/// Opens the file of the threads, and makes it first if it is not there.
pub(crate) fn store(db: Option<&Path>) -> Result<SqliteCheckpointer, Box<dyn Error>> {
    let path = match db {
        Some(path) => path.to_owned(),
        None => own_file().ok_or("no home folder to keep threads in: say where with `--db FILE`")?,
    };
    SqliteCheckpointer::open(&path).map_err(|error| {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("cannot keep threads in `{}` (`--db` names another file): {error}{cause}", path.display())
            .into()
    })
}

/// Where the XDG base directories put what a program keeps from one start to the next.
fn own_file() -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(absolute);
    let state = state.or_else(|| env::home_dir().filter(absolute).map(|home| home.join(".local/state")));
    state.map(|state| state.join("ask").join("threads.db"))
}

/// A name for a new thread: short enough to be typed.
pub(crate) fn fresh_name() -> String {
    // The last characters of an id are random.
    ending(CheckpointId::after(None)).to_lowercase()
}

/// The end of an id, which tells it from its neighbours.
pub(crate) fn ending(id: CheckpointId) -> String {
    id.to_string().chars().skip(20).collect()
}

/// The thread of this name, or the one that was used last; of those with something left to do, if there is one and it is
/// `unfinished` ones that are wanted.
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
    let last = last.ok_or("no thread yet: ask something first")?;
    Ok(threads.thread(last.thread))
}

async fn newest(threads: &Threads, unfinished: bool) -> Result<Option<ThreadRecord>, superstep::Error> {
    let mut query = ThreadQuery { unfinished, ..ThreadQuery::default() };
    let mut newest = None;
    loop {
        let page = threads.threads(query.clone()).await?;
        query.after = page.items.last().map(|last| last.thread.clone());
        let head = |record: &ThreadRecord| record.head.as_ref().ok()?.as_ref().map(|head| head.id);
        // One that cannot be read is nothing to go on with, unless somebody names it.
        let readable = page.items.into_iter().filter(|record| record.head.is_ok());
        newest = newest.into_iter().chain(readable).max_by_key(head);
        if !page.more || query.after.is_none() {
            return Ok(newest);
        }
    }
}

/// The key of a run's metadata that has its folder.
pub(crate) const FOLDER: &str = "folder";
/// The key that says what in the folder is a document.
pub(crate) const DOCUMENTS: &str = "documents";

/// As metadata has it.
pub(crate) fn kinds_name(kinds: Kinds) -> &'static str {
    match kinds {
        Kinds::Text => "text",
        Kinds::Markdown => "markdown",
    }
}

/// Where the run that made a checkpoint has read. A person who goes on need not say it again.
pub(crate) fn folder(snapshot: &Snapshot<Inquiry>) -> Option<(PathBuf, Kinds)> {
    let text = |key| snapshot.metadata.get(key).and_then(|value| value.as_str());
    let kinds = if text(DOCUMENTS)? == "markdown" { Kinds::Markdown } else { Kinds::Text };
    Some((PathBuf::from(text(FOLDER)?), kinds))
}

/// The checkpoint whose id is this, or ends so.
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
        (Some(_), more) => Err(format!("{} checkpoints end with `{id}`: give more of it", more + 1).into()),
    }
}
