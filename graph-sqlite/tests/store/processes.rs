//! Other processes on the same file: this test program, started again to run one of its own tests.

use std::env;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use superstep_sqlite::SqliteCheckpointer;
use superstep_store::checkpoint::{CheckpointError, CheckpointId, Checkpointer as _};

use crate::kit::{File, step, wait, writer};

const PATH: &str = "SUPERSTEP_SQLITE_TEST_FILE";
const THREAD: &str = "SUPERSTEP_SQLITE_TEST_THREAD";
const STEPS: &str = "SUPERSTEP_SQLITE_TEST_STEPS";

/// Does nothing by itself. In a process that [`child`] has started, adds steps to a thread, tells of each that was
/// acknowledged, and tries again when somebody else was faster.
#[test]
fn in_another_process() {
    let (Ok(path), Ok(thread), Ok(steps)) = (env::var(PATH), env::var(THREAD), env::var(STEPS)) else {
        return;
    };
    let store = SqliteCheckpointer::open(PathBuf::from(path)).unwrap();
    let mut thread = writer(&store, &thread);
    let mut left: usize = steps.parse().unwrap();
    while left > 0 {
        let mut next = step().delta("l", "x");
        next.parent = thread.fence.head;
        match thread.try_add(next) {
            Ok(id) => {
                println!("acknowledged {id}");
                left -= 1;
            }
            Err(CheckpointError::Conflict(conflict)) => thread.fence = conflict.found,
            Err(other) => panic!("{other}"),
        }
    }
}

fn child(file: &File, thread: &str, steps: usize) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::in_another_process", "--nocapture"])
        .env(PATH, file.path())
        .env(THREAD, thread)
        .env(STEPS, steps.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

/// The id that a line tells of; a line that was cut off by the end of its process tells of none.
fn acknowledged(line: &str) -> Option<CheckpointId> {
    line.split_once("acknowledged ")?.1.parse().ok()
}

#[test]
fn processes_on_one_file_lose_nothing() {
    let file = File::new();
    let children: Vec<_> = ["one", "both", "both"].map(|thread| (thread, child(&file, thread, 60))).into();
    let mut told = Vec::new();
    for (thread, (mut child, lines)) in children {
        told.extend(lines.filter_map(|line| acknowledged(&line.unwrap())).map(|id| (thread, id)));
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(told.len(), 180);
    let store = file.open();
    for name in ["one", "both"] {
        let thread = writer(&store, name);
        let mut expected: Vec<_> = told.iter().filter(|(of, _)| *of == name).map(|(_, id)| *id).collect();
        expected.sort();
        assert_eq!(thread.ids(), expected, "{name}");
        let found = wait(store.get(name, "", None)).unwrap().found.unwrap();
        assert_eq!(found.fields[0].changes.len(), expected.len());
    }
}

#[test]
fn what_a_process_has_acknowledged_is_there_after_it_was_killed() {
    for told in [1, 20, 70, 130] {
        let file = File::new();
        let (mut child, mut lines) = child(&file, "t", 1_000_000);
        let mut ids: Vec<_> =
            lines.by_ref().filter_map(|line| acknowledged(&line.unwrap())).take(told).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        // What it had told before it ended, and nobody had read yet.
        ids.extend(lines.filter_map(|line| acknowledged(&line.unwrap_or_default())));
        let store = file.open();
        let mut thread = writer(&store, "t");
        let there = thread.ids();
        assert_eq!(there[..ids.len()], ids);
        // One more may have been written that it could not tell of any more.
        assert!(there.len() <= ids.len() + 1);
        let last = thread.then(step().delta("l", "x"));
        assert_eq!(thread.field(last, "l"), vec!["+x"; there.len() + 1].join(" "));
    }
}
