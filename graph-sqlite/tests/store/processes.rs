//! Other processes on the same file: this test program restarts itself to run one of its own tests.

use std::env;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use superstep_sqlite::{SqliteCheckpointer, Synchronous};
use superstep_store::checkpoint::{CheckpointError, CheckpointId, Checkpointer as _};

use crate::fixture::{File, step, wait, writer};

const PATH: &str = "SUPERSTEP_SQLITE_TEST_FILE";
const THREAD: &str = "SUPERSTEP_SQLITE_TEST_THREAD";
const STEPS: &str = "SUPERSTEP_SQLITE_TEST_STEPS";
const NORMAL: &str = "SUPERSTEP_SQLITE_TEST_NORMAL";

/// Does nothing unless [`child`] has started the process. There it adds steps to a thread, prints each acknowledged
/// one, and retries when another writer was faster.
#[test]
fn in_another_process() {
    let (Ok(path), Ok(thread), Ok(steps)) = (env::var(PATH), env::var(THREAD), env::var(STEPS)) else {
        return;
    };
    let synchronous = if env::var_os(NORMAL).is_some() { Synchronous::Normal } else { Synchronous::Full };
    let store = SqliteCheckpointer::options().synchronous(synchronous).open(PathBuf::from(path)).unwrap();
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

fn child(
    file: &File,
    thread: &str,
    steps: usize,
    synchronous: Synchronous,
) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .envs((synchronous == Synchronous::Normal).then_some((NORMAL, "1")))
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

/// Returns the id in a line, or `None` if the line was cut off by the end of its process.
fn acknowledged(line: &str) -> Option<CheckpointId> {
    line.split_once("acknowledged ")?.1.parse().ok()
}

#[test]
fn concurrent_processes_lose_nothing() {
    let file = File::new();
    let children = [
        ("one", Synchronous::Full),
        ("both", Synchronous::Full),
        ("both", Synchronous::Normal),
        ("both", Synchronous::Normal),
    ];
    let children: Vec<_> =
        children.map(|(thread, synchronous)| (thread, child(&file, thread, 60, synchronous))).into();
    let mut printed = Vec::new();
    for (thread, (mut child, lines)) in children {
        printed.extend(lines.filter_map(|line| acknowledged(&line.unwrap())).map(|id| (thread, id)));
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(printed.len(), 240);
    let store = file.open();
    for name in ["one", "both"] {
        let thread = writer(&store, name);
        let mut expected: Vec<_> = printed.iter().filter(|(of, _)| *of == name).map(|(_, id)| *id).collect();
        expected.sort();
        assert_eq!(thread.ids(), expected, "{name}");
        let found = wait(store.get(name, "", None)).unwrap().found.unwrap();
        assert_eq!(found.fields[0].changes.len(), expected.len());
    }
}

#[test]
fn acknowledged_writes_survive_a_killed_process() {
    let (full, normal) = (Synchronous::Full, Synchronous::Normal);
    for (count, synchronous) in [(1, full), (20, full), (70, full), (130, full), (70, normal), (500, normal)]
    {
        let file = File::new();
        let (mut child, mut lines) = child(&file, "t", 900, synchronous);
        let mut ids: Vec<_> =
            lines.by_ref().filter_map(|line| acknowledged(&line.unwrap())).take(count).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        // The ids that were printed before the kill, but not read yet.
        ids.extend(lines.filter_map(|line| acknowledged(&line.unwrap_or_default())));
        let store = file.open();
        let mut thread = writer(&store, "t");
        let stored = thread.ids();
        assert_eq!(stored[..ids.len()], ids);
        // The last write may have succeeded without being printed.
        assert!(stored.len() <= ids.len() + 1);
        let last = thread.then(step().delta("l", "x"));
        assert_eq!(thread.field(last, "l"), vec!["+x"; stored.len() + 1].join(" "));
    }
}
