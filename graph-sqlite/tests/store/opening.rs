use std::fs;
use std::sync::Barrier;
use std::thread;

use superstep_sqlite::SqliteCheckpointer;
use superstep_store::checkpoint::{CheckpointError, Checkpointer as _};

use crate::fixture::{File, step, wait, writer};

#[test]
fn missing_file_and_folders_are_created() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a/b c/threads%41?.db", "a/file:x?mode=memory", "a/:memory:"] {
        let path = folder.path().join(name);
        let store = SqliteCheckpointer::open(&path).unwrap();
        writer(&store, "t").add(step());
        assert!(path.metadata().unwrap().len() > 0, "{name}");
        assert!(format!("{store:?}").contains(name), "{store:?}");
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;

    let file = File::new();
    let store = file.open();
    writer(&store, "t").add(step());
    for file in fs::read_dir(file.path().parent().unwrap()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
}

#[test]
fn reopened_file_has_every_write() {
    let file = File::new();
    let store = file.open();
    let id = writer(&store, "t").add(step().value("a", "1").delta("b", "2"));
    drop(store);
    let store = file.open();
    let thread = writer(&store, "t");
    assert_eq!(thread.field(id, "a"), "=1");
    assert_eq!(thread.field(id, "b"), "+2");
}

#[test]
fn many_stores_can_open_a_new_file_at_once() {
    for _ in 0..10 {
        let file = File::new();
        let barrier = Barrier::new(8);
        thread::scope(|scope| {
            for index in 0..8 {
                let (file, barrier) = (&file, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let store = file.open();
                    writer(&store, &format!("t{index}")).add(step().value("a", "1"));
                });
            }
        });
        let store = file.open();
        assert_eq!(wait(store.threads(Default::default())).unwrap().items.len(), 8);
    }
}

#[test]
fn foreign_database_is_refused_and_unchanged() {
    let file = File::new();
    file.sql().execute_batch("CREATE TABLE notes (text)").unwrap();
    let before = fs::read(file.path()).unwrap();
    let error = SqliteCheckpointer::open(file.path()).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(error.to_string(), "the store could not open the file");
    assert_eq!(cause, "it is another program's database, not a superstep store");
    assert_eq!(fs::read(file.path()).unwrap(), before);
}

#[test]
fn other_files_and_folders_are_refused() {
    let file = File::new();
    fs::write(file.path(), "x".repeat(5_000)).unwrap();
    assert!(matches!(SqliteCheckpointer::open(file.path()), Err(CheckpointError::Backend { .. })));
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(SqliteCheckpointer::open(folder.path()), Err(CheckpointError::Backend { .. })));
}

#[test]
fn newer_format_is_refused() {
    let file = File::new();
    drop(file.open());
    file.sql().execute_batch("PRAGMA user_version = 7").unwrap();
    let error = SqliteCheckpointer::open(file.path()).unwrap_err();
    assert!(matches!(error, CheckpointError::NewerFormat { found: 7, known: 5, .. }), "{error}");
}
