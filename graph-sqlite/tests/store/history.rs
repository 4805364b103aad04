use superstep_store::checkpoint::{ChangeKind, CheckpointId, Checkpointer as _};

use crate::fixture::{File, step, wait, writer};

#[test]
fn field_is_its_last_value_and_later_deltas() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let a = thread.then(step().delta("l", "1").value("x", "a"));
    let b = thread.then(step().delta("l", "2"));
    let c = thread.then(step().delta("l", "dropped").value("l", "3").delta("l", "4").delta("l", "5"));
    let d = thread.then(step().delta("l", "6"));
    for (id, expected) in [(a, "+1"), (b, "+1 +2"), (c, "=3 +4 +5"), (d, "=3 +4 +5 +6")] {
        assert_eq!(thread.field(id, "l"), expected);
        assert_eq!(thread.field(id, "x"), "=a");
    }
}

/// Enough steps to fill several chunks, with changes of very different sizes.
#[test]
fn old_checkpoints_of_a_long_history_are_unchanged() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let mut expected: Vec<(CheckpointId, String)> = Vec::new();
    let mut so_far = String::new();
    for index in 0..400_usize {
        let text = format!("{index}{}", "x".repeat(if index % 90 == 0 { 20_000 } else { index % 300 }));
        let id = if index == 150 {
            so_far = format!("={text}");
            thread.then(step().value("l", &text))
        } else {
            so_far = format!("{so_far} +{text}").trim().to_owned();
            thread.then(step().delta("l", &text))
        };
        expected.push((id, so_far.clone()));
    }
    for (id, text) in expected {
        assert!(thread.field(id, "l") == text, "{id}");
    }
    let rows: i64 = file.sql().query_row("SELECT count(*) FROM piece", [], |row| row.get(0)).unwrap();
    assert!(rows < 250, "{rows} rows");
}

#[test]
fn branch_sees_the_state_at_its_fork() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let ids: Vec<_> = (0..100).map(|index| thread.then(step().delta("l", &index.to_string()))).collect();
    let fork = thread.add(step().after(ids[69]).delta("l", "f"));
    let value = thread.add(step().after(fork).value("m", "v"));
    let main = thread.add(step().after(ids[99]).delta("l", "100"));
    let more = thread.add(step().after(value).delta("l", "g"));
    let to = |end: usize| (0..end).map(|index| format!("+{index}")).collect::<Vec<_>>().join(" ");
    assert_eq!(thread.field(fork, "l"), format!("{} +f", to(70)));
    assert_eq!(thread.field(more, "l"), format!("{} +f +g", to(70)));
    assert_eq!(thread.field(more, "m"), "=v");
    assert_eq!(thread.field(main, "l"), to(101));
    assert_eq!(thread.field(main, "m"), "");
    assert_eq!(thread.field(ids[99], "l"), to(100));
    // Both branches continue at their ends; only the fork has created a branch.
    let branches: i64 = file.sql().query_row("SELECT count(*) FROM line", [], |row| row.get(0)).unwrap();
    assert_eq!(branches, 2);
}

#[test]
fn deep_branches_have_a_bounded_depth() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let mut expected = "=start +0".to_owned();
    let mut at = thread.then(step().value("l", "start").delta("l", "0").value("old", "o"));
    for index in 1..60 {
        // The fork point is not the last checkpoint of its branch.
        thread.add(step().after(at).delta("l", "elsewhere"));
        at = thread.add(step().after(at).delta("l", &index.to_string()));
        expected = format!("{expected} +{index}");
        assert_eq!(thread.field(at, "l"), expected);
        assert_eq!(thread.field(at, "old"), "=o");
    }
    let depth: i64 = file.sql().query_row("SELECT max(depth) FROM line", [], |row| row.get(0)).unwrap();
    assert_eq!(depth, 15);
}

#[test]
fn second_root_sees_nothing_of_the_first() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let first = thread.add(step().value("l", "1"));
    let second = thread.add(step().delta("l", "2"));
    assert_eq!((thread.field(first, "l"), thread.field(second, "l")), ("=1".into(), "+2".into()));
}

#[test]
fn copy_is_independent_of_its_original() {
    let file = File::new();
    let store = file.open();
    let mut thread = writer(&store, "t");
    let a = thread.then(step().delta("l", "1"));
    let b = thread.then(step().delta("l", "2"));
    let fork = thread.add(step().after(a).delta("l", "3"));
    wait(store.copy("t", "u", None)).unwrap();
    let mut copy = writer(&store, "u");
    assert_eq!(copy.fence, thread.fence);
    let c = copy.add(step().after(b).delta("l", "4"));
    assert!(wait(store.delete("t", None)).unwrap());
    assert_eq!(copy.field(fork, "l"), "+1 +3");
    assert_eq!(copy.field(c, "l"), "+1 +2 +4");
    assert_eq!(copy.load(b).found.unwrap().fields[0].changes[0].kind, ChangeKind::Delta);
    // Deleting both threads leaves no rows.
    wait(store.delete("u", None)).unwrap();
    for table in ["thread", "namespace", "run", "line", "checkpoint", "field", "piece", "record"] {
        let rows: i64 =
            file.sql().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}
