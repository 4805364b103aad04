//! One row per superstep in a SQLite file, with a write-ahead log and `synchronous = FULL`.

use std::future::ready;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;

use harness::{Bench, STEPS};
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

use super::{Chat, Message, answer_node, append, check};

const INSERT: &str = "INSERT INTO message (step, data) VALUES (?, ?)";

fn open(file: &PathBuf) -> Connection {
    let db = Connection::open(file).expect("a file");
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE IF NOT EXISTS message (step INTEGER PRIMARY KEY, data TEXT NOT NULL);",
    )
    .expect("a table");
    db
}

fn insert(db: &Connection, step: i64, data: &str) {
    db.prepare_cached(INSERT).expect("a statement").execute(params![step, data]).expect("a row");
}

async fn check_file(file: PathBuf) {
    let db = open(&file);
    let mut rows = db.prepare("SELECT data FROM message ORDER BY step").expect("a statement");
    let rows = rows.query_map([], |row| row.get::<_, String>(0)).expect("rows");
    let restored =
        rows.flat_map(|row| serde_json::from_str::<Vec<Message>>(&row.expect("a row")).expect("messages"));
    check(&restored.collect::<Vec<_>>());
}

/// One transaction per superstep, which is on disk before the next superstep starts.
pub(crate) fn in_turn(bench: &Bench) {
    let node = Arc::new(answer_node());
    bench.time(
        move |folder| {
            let file = folder.join("messages.db");
            drop(open(&file));
            ready((Arc::clone(&node), file))
        },
        |(node, file)| {
            let db = open(&file);
            async move {
                let mut chat = Arc::new(Chat::default());
                for step in 0..STEPS {
                    let update = black_box(&node)(&chat).await;
                    let json = serde_json::to_string(&update.messages).expect("JSON");
                    insert(&db, step as i64, &json);
                    append(&mut chat, update);
                }
                chat
            }
        },
        |(_, file), chat| async move {
            check(&chat.messages);
            check_file(file).await;
        },
    );
}

/// A thread writes the rows while the next supersteps run, with all rows that wait in one transaction. The run ends when
/// the last row is on disk.
pub(crate) fn queued(bench: &Bench) {
    let node = Arc::new(answer_node());
    bench.time(
        move |folder| {
            let file = folder.join("messages.db");
            drop(open(&file));
            ready((Arc::clone(&node), file))
        },
        |(node, file)| async move {
            let (rows, queue) = mpsc::channel::<(i64, String)>();
            let (done, written) = oneshot::channel();
            thread::spawn(move || {
                let db = open(&file);
                while let Ok((step, json)) = queue.recv() {
                    db.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
                    insert(&db, step, &json);
                    for (step, json) in queue.try_iter() {
                        insert(&db, step, &json);
                    }
                    db.execute_batch("COMMIT").expect("a transaction");
                }
                done.send(()).expect("a run that waits");
            });
            let mut chat = Arc::new(Chat::default());
            for step in 0..STEPS {
                let update = black_box(&node)(&chat).await;
                let json = serde_json::to_string(&update.messages).expect("JSON");
                rows.send((step as i64, json)).expect("a writer");
                append(&mut chat, update);
            }
            drop(rows);
            written.await.expect("a writer");
            chat
        },
        |(_, file), chat| async move {
            check(&chat.messages);
            check_file(file).await;
        },
    );
}
