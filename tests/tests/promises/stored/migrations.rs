use serde_json::{Value, json};
use superstep::GraphState;
use superstep::checkpoint::{ChangeKind, StoredField};
use superstep::payload::{Encoding, Payload};
use superstep::state::{MigrationError, Restore, Stored};

use super::{delta, field, value};

#[derive(GraphState, Clone, Debug, PartialEq)]
#[state(version = 3, migrate = migrate_chat)]
struct Chat {
    /// Strings before version 3, numbered since.
    #[state(reducer = append)]
    lines: Vec<(u32, String)>,
}

fn migrate_chat(from: u32, stored: &mut Stored) -> Result<(), MigrationError> {
    assert_eq!(from, 2, "this test has no earlier versions");
    let mut number = 0;
    stored.change("lines", |lines| {
        let lines = lines.as_array().ok_or("the lines are no list")?.iter();
        Ok(lines
            .map(|line| {
                number += 1;
                json!([number, line])
            })
            .collect())
    })
}

#[derive(GraphState, Clone, Debug, PartialEq)]
#[state(version = 2, migrate = migrate)]
struct Ticket {
    /// Named `text` in version 0.
    #[state(input)]
    question: String,
    /// A percentage before version 2.
    score: f64,
    /// Required since version 1.
    #[state(input)]
    language: String,
    #[state(flatten)]
    chat: Chat,
    /// Had the reducer `append` before version 2.
    log: Vec<u8>,
}

fn migrate(from: u32, stored: &mut Stored) -> Result<(), Box<dyn std::error::Error>> {
    if from < 1 {
        stored.rename("text", "question");
        stored.insert("language", json!("en"));
        stored.remove("draft");
    }
    if from < 2 {
        stored.change("score", |percent| {
            Ok(json!(percent.as_f64().ok_or("the score is no number")? / 100.0))
        })?;
        stored.fold("log", |log, more| {
            let lists = log.into_iter().chain([more]);
            Ok(lists.flat_map(|list| list.as_array().cloned().unwrap_or_default()).collect())
        })?;
    }
    Ok(())
}

fn versions(of: &[(&str, u32)]) -> Vec<(String, u32)> {
    of.iter().map(|(name, version)| ((*name).to_owned(), *version)).collect()
}

fn migrated(from: &[(&str, u32)], mut stored: Stored) -> Result<Vec<StoredField>, String> {
    Ticket::__migrate(&versions(from), &mut stored).map_err(|error| error.to_string())?;
    Ok(stored.__into_fields())
}

fn first_version() -> Vec<StoredField> {
    vec![
        field("text", [value(1, "\"why?\"")]),
        field("score", [value(1, "10"), value(4, "50")]),
        field("draft", [value(1, "{}")]),
        field("lines", [value(1, "[\"a\"]"), delta(2, "[]"), delta(3, "[\"b\",\"c\"]")]),
        field("log", [delta(1, "[1]"), delta(2, "[2,3]")]),
    ]
}

#[test]
fn older_checkpoint_is_migrated() {
    let fields = migrated(&[("Chat", 2)], Stored::__of_state(first_version())).unwrap();
    let mut restore = Restore::new(fields);
    let lines = ["a", "b", "c"].iter().zip(1..).map(|(line, number)| (number, (*line).to_owned()));
    assert_eq!(
        Ticket::__restore(&mut restore).unwrap(),
        Ticket {
            question: "why?".to_owned(),
            score: 0.5,
            language: "en".to_owned(),
            chat: Chat { lines: lines.collect() },
            log: vec![1, 2, 3],
        }
    );
    assert!(restore.defaulted().is_empty());
}

#[test]
fn migration_starts_at_the_stored_version() {
    let stored = vec![field("question", [value(1, "\"why?\"")]), field("score", [value(1, "25.0")])];
    let fields = migrated(&[("Ticket", 1), ("Chat", 3)], Stored::__of_state(stored)).unwrap();
    assert_eq!(fields[1].changes[0].payload, Payload::json("0.25"));
    assert_eq!(fields.len(), 2, "{fields:?}");
}

#[test]
fn current_version_is_not_migrated() {
    let stored = Stored::__of_state(first_version());
    assert_eq!(migrated(&[("Ticket", 2), ("Chat", 3), ("Gone", 9)], stored).unwrap(), first_version());
}

#[test]
fn state_reports_versions_of_flattened_states() {
    let mut known = Vec::new();
    Ticket::__versions(&mut known);
    assert_eq!(known, [("Ticket", 2), ("Chat", 3)]);
}

#[test]
fn checkpoint_of_a_newer_program_is_refused() {
    for (from, expected) in [
        (
            ("Ticket", 3),
            "`Ticket` is stored in version 3, but this program supports versions up to 2: use a newer version of it",
        ),
        (
            ("Chat", 4),
            "`Chat` is stored in version 4, but this program supports versions up to 3: use a newer version of it",
        ),
    ] {
        let from = [("Chat", 3), from];
        let from = if from[1].0 == "Chat" { &from[1..] } else { &from[..] };
        assert_eq!(migrated(from, Stored::__of_state(vec![])).unwrap_err(), expected);
    }
}

#[derive(GraphState, Clone)]
#[state(version = 2, alias = "Draft", alias = "Note", migrate = only_from_one)]
struct Renamed {}

fn only_from_one(from: u32, _: &mut Stored) -> Result<(), String> {
    if from == 1 { Ok(()) } else { Err(format!("from {from}")) }
}

#[test]
fn renamed_state_finds_its_version_by_alias() {
    fn migrated(from: &[(&str, u32)]) -> Result<(), MigrationError> {
        Renamed::__migrate(&versions(from), &mut Stored::__of_state(vec![]))
    }
    for name in ["Renamed", "Draft", "Note"] {
        assert_eq!(migrated(&[("Other", 7), (name, 1)]), Ok(()));
        assert_eq!(migrated(&[(name, 2)]), Ok(()));
    }
    assert!(migrated(&[("Other", 1)]).is_err());
    let mut known = Vec::new();
    Renamed::__versions(&mut known);
    assert_eq!(known, [("Renamed", 2)]);
}

#[derive(GraphState, Clone)]
struct Unversioned {}

#[test]
fn unversioned_state_refuses_versioned_checkpoints() {
    let error = Unversioned::__migrate(&versions(&[("Unversioned", 1)]), &mut Stored::__of_state(vec![]));
    let newer = MigrationError::Newer { state: "Unversioned", found: 1, known: 0 };
    assert_eq!(error, Err(newer));
}

#[test]
fn migration_error_names_state_version_field_and_reason() {
    let stored = vec![field("score", [value(1, "\"high\"")])];
    assert_eq!(
        migrated(&[("Chat", 3)], Stored::__of_state(stored)).unwrap_err(),
        "the migration of `Ticket` from version 0 failed: \
         the stored field `score` cannot be changed: the score is no number"
    );
    let error = migrated(&[("Chat", 1)], Stored::__of_state(vec![])).unwrap_err();
    assert!(
        error.starts_with("the migration of `Chat` from version 1 failed: its code panicked: "),
        "{error}"
    );
}

#[test]
fn writes_of_finished_tasks_are_migrated() {
    let writes = vec![field("text", [delta(1, "\"how?\"")]), field("lines", [delta(1, "[\"d\"]")])];
    let fields = migrated(&[("Chat", 2)], Stored::__of_writes(writes)).unwrap();
    assert_eq!(
        fields,
        [field("lines", [delta(1, "[[1,\"d\"]]")]), field("question", [delta(1, "\"how?\"")])],
        "the migration inserts no field that the task has not written"
    );
    let writes = vec![field("log", [delta(1, "[4]")])];
    let error = migrated(&[("Chat", 3)], Stored::__of_writes(writes)).unwrap_err();
    assert!(error.ends_with("the superstep that folds its deltas is not finished"), "{error}");
    let overwrite = vec![field("log", [value(1, "[4]")])];
    assert_eq!(migrated(&[("Chat", 3)], Stored::__of_writes(overwrite.clone())).unwrap(), overwrite);
}

#[test]
fn rename_merges_changes_of_both_names() {
    let mut stored = Stored::__of_state(vec![
        field("lines", [value(2, "[1,2]"), delta(4, "[4]")]),
        field("notes", [value(1, "[1]"), delta(3, "[3]")]),
    ]);
    stored.rename("notes", "lines");
    stored.rename("gone", "lines");
    assert_eq!(stored.names().collect::<Vec<_>>(), ["lines"]);
    let changes = &stored.__into_fields()[0].changes;
    let checkpoints: Vec<_> = changes.iter().map(|change| change.checkpoint.to_bytes()[0]).collect();
    assert_eq!(checkpoints, [1, 2, 3, 4]);
}

#[test]
fn insert_keeps_an_existing_field() {
    let mut stored = Stored::__of_state(vec![field("a", [value(1, "1")])]);
    stored.insert("a", json!(2));
    stored.insert("b", json!(3));
    assert!(stored.contains("b") && !stored.contains("c"));
    let fields = stored.__into_fields();
    assert_eq!(fields[0], field("a", [value(1, "1")]));
    assert_eq!(fields[1].changes[0].payload, Payload::json("3"));
}

#[test]
fn change_refuses_values_that_json_would_alter() {
    let refused = |payload| {
        let mut stored = Stored::__of_state(vec![field("a", [(1, ChangeKind::Value, payload)])]);
        stored.change("a", Ok).unwrap_err().to_string()
    };
    let wide = u128::MAX.to_string();
    assert!(
        refused(Payload::json(&wide)).ends_with("an integer of more than 64 bits, which would be rounded")
    );
    assert!(refused(Payload::new(Encoding::Bytes, *b"\x01")).ends_with("stored as bytes, not as JSON"));
    assert!(refused(Payload::new(Encoding::Sealed, *b"1")).ends_with("encrypted and was not decrypted"));
    let mut stored = Stored::__of_state(vec![field("a", [value(1, "[0.1,1e-45,18446744073709551615]")])]);
    stored.change("a", Ok::<Value, _>).unwrap();
    let fields = stored.__into_fields();
    assert_eq!(fields[0].changes[0].payload, Payload::json("[0.1,1e-45,18446744073709551615]"));
}
