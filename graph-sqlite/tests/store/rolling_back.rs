//! Rolling back removes every row that only the removed checkpoints need.

use superstep_store::checkpoint::{
    BatchWrite, CheckpointError, CheckpointId, Checkpointer as _, RecordKind, WriteBatch,
};

use crate::fixture::{File, Writer, batch, step, wait, writer};

/// The tables with the contents of threads.
const TABLES: [&str; 8] =
    ["namespace", "run", "line", "checkpoint", "field", "piece", "record", "thread_metadata"];

fn rows(file: &File) -> Vec<i64> {
    let db = file.sql();
    let count =
        |table: &&str| db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
    TABLES.iter().map(count).collect()
}

fn roll_back(thread: &mut Writer<'_>, to: Option<CheckpointId>) {
    wait(thread.store.commit(roll_back_batch(thread, to))).unwrap();
    thread.fence.head = to;
}

fn roll_back_batch(thread: &Writer<'_>, to: Option<CheckpointId>) -> WriteBatch {
    batch(thread.thread, thread.fence, vec![BatchWrite::roll_back("", to)])
}

/// Adds supersteps with branches, records and several fields.
fn grow(thread: &mut Writer<'_>, count: usize) -> Vec<CheckpointId> {
    let mut ids = Vec::new();
    for n in 0..count {
        let next = step().delta("notes", &format!("[{n}]")).value("n", &n.to_string());
        let next = next.record(RecordKind::Step, "s").record(RecordKind::Request, &format!("request {n}"));
        let id = match n % 10 {
            7 => thread.add(next.after(thread.fence.head.unwrap()).delta("seldom", "1")),
            8 => thread.add(next.after(ids[n - 3])),
            9 => thread.add(next.after(ids[n - 1])),
            _ => thread.then(next),
        };
        ids.push(id);
    }
    ids
}

#[test]
fn roll_back_to_nothing_leaves_no_rows() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    grow(&mut thread, 200);
    roll_back(&mut thread, None);
    assert_eq!(rows(&file), [0; TABLES.len()], "{TABLES:?}");
    grow(&mut thread, 20);
}

#[test]
fn repeated_roll_backs_do_not_fill_the_file() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let to = *grow(&mut thread, 95).last().unwrap();
    let before = rows(&file);
    let mut size = None;
    for round in 0..20 {
        grow(&mut thread, 70);
        roll_back(&mut thread, Some(to));
        assert_eq!(rows(&file), before, "{TABLES:?}");
        if round == 2 {
            size = Some(file.size());
        }
    }
    assert_eq!(Some(file.size()), size, "freed pages are used again");
}

#[test]
fn other_handles_see_a_roll_back() {
    let file = File::new();
    let (one, other) = (file.open(), file.open());
    let mut thread = writer(&one, "t");
    let ids = grow(&mut thread, 80);
    let mut late = writer(&other, "t");
    late.then(step().delta("notes", "[\"late\"]"));
    thread.fence = late.fence;
    roll_back(&mut thread, Some(ids[40]));
    // The caches of the other handle are of the time before.
    let (_, stale) = step().delta("notes", "[\"stale\"]").batch("t", late.fence);
    let refused = wait(other.commit(stale)).unwrap_err();
    assert!(matches!(refused, CheckpointError::Conflict(_)), "{refused}");
    late.fence = thread.fence;
    let next = late.then(step().delta("notes", "[\"next\"]"));
    assert!(late.field(next, "notes").ends_with("+[40] +[\"next\"]"), "{}", late.field(next, "notes"));
    thread.fence = late.fence;
    let next = thread.then(step().delta("notes", "[\"last\"]"));
    let notes = thread.field(next, "notes");
    assert!(notes.ends_with("+[40] +[\"next\"] +[\"last\"]"), "{notes}");
}
