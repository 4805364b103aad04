//! Checkpoints that nobody reads without the key: a store around the store encrypts what goes in. The key is changed once a
//! year; what was written under the old one can still be read.

use std::path::Path;

use superstep::checkpoint::{CheckpointError, EncryptedCheckpointer, Key, Keys};
use superstep::thread::Thread;
use superstep::{END, ErrorKind, GraphState, Result, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

#[derive(GraphState, Clone)]
struct Patient {
    #[state(input)]
    name: String,

    #[state(reducer = append)]
    notes: Vec<String>,
}

async fn check_input(patient: &Patient) -> PatientUpdate {
    Patient::update().notes([format!("{} has a cough", patient.name)])
}

/// The thread of bed 12, for whoever has these keys.
fn bed(file: &Path, keys: Keys) -> Result<Thread<Patient>> {
    let store = EncryptedCheckpointer::new(SqliteCheckpointer::open(file)?, keys);
    let graph = StateGraph::<Patient>::new().edge(START, check_input).edge(check_input, END).compile()?;
    Ok(graph.with_checkpointer(store).thread("bed 12"))
}

/// Whether a text is anywhere in the folder's files.
fn is_readable(folder: &Path, text: &str) -> std::io::Result<bool> {
    let mut found = false;
    for file in std::fs::read_dir(folder)? {
        match std::fs::read(file?.path()) {
            Ok(bytes) => found |= bytes.windows(text.len()).any(|window| window == text.as_bytes()),
            // SQLite takes the files beside the database away when the last store that was dropped has closed it.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("ward.db");
    // In a real program they are 32 random bytes each, and come from where its secrets are kept.
    let (last_year, this_year) = (Key::new(1, &[25; 32]), Key::new(2, &[26; 32]));

    bed(&file, Keys::new(last_year.clone()))?.run(Patient::input("Ada")).await?;
    assert!(!is_readable(folder.path(), "Ada")? && !is_readable(folder.path(), "cough")?);
    // Names of threads are in the clear: they are what is searched for.
    assert!(is_readable(folder.path(), "bed 12")?);

    let keys = Keys::new(this_year.clone()).with_old(last_year);
    let patient = bed(&file, keys)?.run(Patient::input("Ada")).await?.into_state();
    println!("{}: {}", patient.name, patient.notes.join("; "));
    assert_eq!(patient.notes.len(), 2);

    // Without the key that it was written under, nothing is read, and nothing is taken for what it is not.
    let Err(error) = bed(&file, Keys::new(this_year))?.state().await else {
        unreachable!("the first note was written under last year's key")
    };
    println!("{error:?}");
    assert!(
        matches!(error.kind(), ErrorKind::Checkpoint(error) if matches!(**error, CheckpointError::Corrupt(_)))
    );
    Ok(())
}
