//! The hand-written loops next to which a run on a file is measured.

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Statement, params};
use superstep_store::checkpoint::CheckpointId;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::message::message;

/// The file of a hand-written loop.
fn open_by_hand(path: &Path, synchronous: &str) -> Connection {
    let db = Connection::open(path).expect("a file");
    db.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};
         CREATE TABLE checkpoint (id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, name TEXT NOT NULL, parent TEXT,
             step INTEGER NOT NULL, source TEXT NOT NULL, run INTEGER NOT NULL, created INTEGER NOT NULL,
             next TEXT NOT NULL, UNIQUE (thread, name));
         CREATE TABLE message (id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, field INTEGER NOT NULL,
             checkpoint TEXT NOT NULL, data TEXT NOT NULL, UNIQUE (thread, field, checkpoint));"
    ))
    .expect("tables");
    db
}

/// The rows of a superstep, as a hand-written loop makes them.
struct Rows {
    id: CheckpointId,
    parent: CheckpointId,
    number: u32,
    created: i64,
    json: String,
}

impl Rows {
    fn after(parent: CheckpointId, number: u32) -> Self {
        let json = serde_json::to_string(&[message(number as usize)]).expect("JSON");
        let created = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
        let created = i64::try_from(created.as_millis()).expect("a time");
        Self { id: CheckpointId::after(Some(parent)), parent, number, created, json }
    }
}

/// The statements of a hand-written loop.
struct Inserts<'d> {
    checkpoint: Statement<'d>,
    delta: Statement<'d>,
}

impl<'d> Inserts<'d> {
    fn new(db: &'d Connection) -> Self {
        let checkpoint = "INSERT INTO checkpoint (thread, name, parent, step, source, run, created, next) VALUES (1, ?, ?, ?, 'loop', 1, ?, ?)";
        let delta = "INSERT INTO message (thread, field, checkpoint, data) VALUES (1, 1, ?, ?)";
        let prepare = |sql| db.prepare(sql).expect("a statement");
        Self { checkpoint: prepare(checkpoint), delta: prepare(delta) }
    }

    fn insert(&mut self, rows: &Rows) {
        let Rows { id, parent, number, created, json } = rows;
        self.checkpoint
            .execute(params![id.to_string(), parent.to_string(), number, created, "[\"answer\"]"])
            .expect("a row");
        self.delta.execute(params![id.to_string(), json]).expect("a row");
    }
}

/// A loop with a row for the checkpoint and one for the message, with `batch` supersteps per transaction. The loop
/// waits for the disk on its own thread.
pub(crate) fn by_hand(path: &Path, synchronous: &str, supersteps: u32, batch: u32) -> Duration {
    let db = open_by_hand(path, synchronous);
    let mut inserts = Inserts::new(&db);
    let mut parent = CheckpointId::after(None);
    let start = Instant::now();
    for number in 0..supersteps {
        if number % batch == 0 {
            db.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
        }
        let rows = Rows::after(parent, number);
        inserts.insert(&rows);
        parent = rows.id;
        if number % batch == batch - 1 || number == supersteps - 1 {
            db.execute_batch("COMMIT").expect("a transaction");
        }
    }
    start.elapsed() / supersteps
}

/// The same with a transaction for each superstep, on a thread that waits for the disk, so that the thread of the runtime
/// does not.
pub(crate) fn by_hand_on_a_thread(
    runtime: &Runtime,
    path: &Path,
    synchronous: &str,
    supersteps: u32,
) -> Duration {
    let (queue, queued) = mpsc::channel::<(Rows, oneshot::Sender<()>)>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let db = open_by_hand(path, synchronous);
            let mut inserts = Inserts::new(&db);
            for (rows, reply) in queued {
                db.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
                inserts.insert(&rows);
                db.execute_batch("COMMIT").expect("a transaction");
                reply.send(()).expect("the loop waits");
            }
        });
        runtime.block_on(async move {
            let mut parent = CheckpointId::after(None);
            let start = Instant::now();
            for number in 0..supersteps {
                let rows = Rows::after(parent, number);
                parent = rows.id;
                let (reply, replied) = oneshot::channel();
                queue.send((rows, reply)).expect("the thread runs");
                replied.await.expect("a commit");
            }
            start.elapsed() / supersteps
        })
    })
}
