//! Shows encrypted checkpoints and a change of the key. Checkpoints encrypted with the old key stay readable.
//! Run with `cargo run -p examples --bin 16_encryption`.

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

/// Opens the thread of bed 12 with these keys.
fn open_thread(file: &Path, keys: Keys) -> Result<Thread<Patient>> {
    let store = EncryptedCheckpointer::new(SqliteCheckpointer::open(file)?, keys);
    let graph = StateGraph::<Patient>::new().edge(START, check_input).edge(check_input, END).compile()?;
    Ok(graph.with_checkpointer(store).thread("bed 12"))
}

/// Returns `true` if a file in the folder contains this string in plain text.
fn is_readable(folder: &Path, text: &str) -> std::io::Result<bool> {
    let mut found = false;
    for file in std::fs::read_dir(folder)? {
        match std::fs::read(file?.path()) {
            Ok(bytes) => found |= bytes.windows(text.len()).any(|window| window == text.as_bytes()),
            // SQLite deletes its auxiliary files when the last connection is closed.
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
    // A real program uses 32 random bytes for each key, from its secret store.
    let (last_year, this_year) = (Key::new(1, &[25; 32]), Key::new(2, &[26; 32]));

    open_thread(&file, Keys::new(last_year.clone()))?.run(Patient::input("Ada")).await?;
    assert!(!is_readable(folder.path(), "Ada")? && !is_readable(folder.path(), "cough")?);
    // Thread names are not encrypted, since the store searches for them.
    assert!(is_readable(folder.path(), "bed 12")?);

    let keys = Keys::new(this_year.clone()).with_old(last_year);
    let patient = open_thread(&file, keys)?.run(Patient::input("Ada")).await?.into_state();
    println!("{}: {}", patient.name, patient.notes.join("; "));
    assert_eq!(patient.notes.len(), 2);

    // Without the key that encrypted it, a checkpoint is refused.
    let Err(error) = open_thread(&file, Keys::new(this_year))?.state().await else {
        unreachable!("the first note is encrypted with last year's key")
    };
    println!("{error:?}");
    assert!(
        matches!(error.kind(), ErrorKind::Checkpoint(error) if matches!(**error, CheckpointError::Corrupt(_)))
    );
    Ok(())
}
