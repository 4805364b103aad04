//! Killed clients, killed servers, and processes that race on a thread. `LONG=1` kills more of them.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use superstep_conformance::block_on;
use superstep_postgres::PostgresCheckpointer;
use superstep_store::checkpoint::{CheckpointError, Checkpointer as _, Fence};

use crate::log::{after, append, read};
use crate::private_server::PrivateServer;
use crate::server::{Schema, is_long, url};

/// Returns how often something is done: rarely, or often with `LONG=1`.
fn times(short: usize, long: usize) -> usize {
    if is_long() { long } else { short }
}

const SCHEMA: &str = "SUPERSTEP_CHILD_SCHEMA";
const NAME: &str = "SUPERSTEP_CHILD_NAME";
const COMMITS: &str = "SUPERSTEP_CHILD_COMMITS";

/// Does nothing on its own. In a process started by [`start`], appends to the thread and prints the acknowledged commits.
#[test]
fn child_process() {
    let (Ok(schema), Ok(name)) = (std::env::var(SCHEMA), std::env::var(NAME)) else { return };
    let commits: usize = std::env::var(COMMITS).unwrap().parse().unwrap();
    let options = PostgresCheckpointer::options().schema(schema).max_connections(2);
    let mut out = std::io::stdout();
    block_on(async {
        let store = options.connect(&url().unwrap()).await.unwrap();
        let mut done = 0;
        while done < commits {
            let fence = store.get("t", "", None).await.unwrap().fence;
            let text = format!("{name}.{done}");
            match store.commit(append("t", fence, &text)).await {
                // Each line is written by itself, so that a killed process has reported all of its commits.
                Ok(()) => {
                    writeln!(out, "ACK {text}").unwrap();
                    done += 1;
                }
                Err(CheckpointError::Conflict(_)) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    });
}

fn start(schema: &Schema, name: &str, commits: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["crashes::child_process", "--exact", "--nocapture", "--test-threads=1"])
        .env(SCHEMA, &schema.name)
        .env(NAME, name)
        .env(COMMITS, commits.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Reads the commits that a process has acknowledged, and kills it after `until` of them.
fn acknowledged(mut child: Child, until: usize) -> Vec<String> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = Vec::new();
    for line in lines {
        let line = line.unwrap();
        // The harness may have begun the line.
        if let Some((_, text)) = line.split_once("ACK ") {
            acknowledged.push(text.to_owned());
            if acknowledged.len() == until {
                child.kill().unwrap();
            }
        }
    }
    child.wait().unwrap();
    acknowledged
}

/// Checks that everything acknowledged is in the log once, and nothing is twice.
fn assert_once(log: &[String], acknowledged: &[String]) {
    let found: HashSet<&String> = log.iter().collect();
    assert_eq!(found.len(), log.len(), "a commit was made twice");
    let lost: Vec<_> = acknowledged.iter().filter(|text| !found.contains(text)).collect();
    assert!(lost.is_empty(), "acknowledged commits are lost: {lost:?}");
}

#[test]
fn killed_clients_lose_no_acknowledged_commit() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let store = block_on(schema.open()).unwrap();
    let mut all = Vec::new();
    for round in 0..times(6, 200) {
        let until = 1 + (round * 7) % 23;
        all.extend(acknowledged(start(&schema, &format!("c{round}"), usize::MAX), until));
    }
    let (_, log) = block_on(read(&store, "t")).unwrap();
    assert_once(&log, &all);
    assert!(log.len() <= all.len() + times(6, 200), "more than one commit of a process was not acknowledged");
}

#[test]
fn processes_that_race_on_a_thread_make_each_commit_once() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let store = block_on(schema.open()).unwrap();
    let commits = times(10, 100);
    let children: Vec<_> = (0..8).map(|nth| start(&schema, &format!("p{nth}"), commits)).collect();
    let all: Vec<String> = std::thread::scope(|scope| {
        let reading: Vec<_> =
            children.into_iter().map(|child| scope.spawn(|| acknowledged(child, usize::MAX))).collect();
        reading.into_iter().flat_map(|reading| reading.join().unwrap()).collect()
    });
    assert_eq!(all.len(), 8 * commits);
    let (_, log) = block_on(read(&store, "t")).unwrap();
    assert_once(&log, &all);
    assert_eq!(log.len(), all.len());
}

#[test]
fn killed_server_loses_no_acknowledged_commit() {
    if url().is_none() {
        return;
    }
    let Some(server) = PrivateServer::start(&[], &[]) else { return };
    let options =
        || PostgresCheckpointer::options().max_connections(4).retry_timeout(Duration::from_secs(120));
    let store = block_on(options().connect(&server.url())).unwrap();
    let ended = AtomicBool::new(false);
    let write = |thread: String| {
        let (mut fence, mut written) = (Fence::default(), 0);
        while !ended.load(Ordering::SeqCst) {
            let batch = append(&thread, fence, &written.to_string());
            let next = after(&batch);
            // A commit whose answer was lost is not an error: it is recognized after the restart.
            block_on(store.commit(batch)).unwrap();
            (fence, written) = (next, written + 1);
        }
        (thread, fence, written)
    };
    let written = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4).map(|nth| scope.spawn(move || write(format!("t{nth}")))).collect();
        for _ in 0..times(2, 20) {
            // Everybody has written since the last restart.
            let head = |nth| block_on(store.get(&format!("t{nth}"), "", None)).unwrap().fence.head;
            let heads: Vec<_> = (0..4).map(head).collect();
            while (0..4).map(head).zip(&heads).any(|(now, before)| now == *before) {
                std::thread::yield_now();
            }
            server.kill();
            server.run();
        }
        ended.store(true, Ordering::SeqCst);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    let fresh = block_on(options().connect(&server.url())).unwrap();
    for (thread, fence, count) in written {
        let (found, log) = block_on(read(&fresh, &thread)).unwrap();
        assert_eq!(found, fence);
        assert_eq!(log, (0..count).map(|n: usize| n.to_string()).collect::<Vec<_>>());
    }
}
