use std::fs;
use std::sync::Barrier;
use std::thread;

use superstep_sqlite::SqliteCheckpointer;
use superstep_store::checkpoint::{CheckpointError, Checkpointer as _};

use crate::kit::{File, step, wait, writer};

#[test]
fn a_file_that_is_not_there_is_made_with_the_folders_above_it() {
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
fn nobody_else_may_read_the_file_or_what_sqlite_puts_beside_it() {
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
fn what_was_written_is_there_when_the_file_is_opened_again() {
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
fn many_may_open_a_new_file_at_once() {
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
fn another_programs_database_is_refused_and_left_as_it_is() {
    let file = File::new();
    file.sql().execute_batch("CREATE TABLE notes (text)").unwrap();
    let before = fs::read(file.path()).unwrap();
    let error = SqliteCheckpointer::open(file.path()).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(error.to_string(), "the store could not open the file");
    assert_eq!(cause, "it is a database of another program, not a store of graphs");
    assert_eq!(fs::read(file.path()).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_and_a_folder_are_refused() {
    let file = File::new();
    fs::write(file.path(), "x".repeat(5_000)).unwrap();
    assert!(matches!(SqliteCheckpointer::open(file.path()), Err(CheckpointError::Backend { .. })));
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(SqliteCheckpointer::open(folder.path()), Err(CheckpointError::Backend { .. })));
}

#[test]
fn a_file_of_a_newer_format_is_refused() {
    let file = File::new();
    drop(file.open());
    file.sql().execute_batch("PRAGMA user_version = 7").unwrap();
    let error = SqliteCheckpointer::open(file.path()).unwrap_err();
    assert!(matches!(error, CheckpointError::NewerFormat { found: 7, known: 3 }), "{error}");
}
