use std::collections::{BTreeMap, VecDeque};

use superstep::GraphState;
use superstep::reducers::{ReduceError, Reducer, Stamp, StoredAs};
use superstep::state::Restore;

use super::{delta, field, restored, value};

/// Appends each update as a line with its step. The delta has another type than the update and is stored.
enum StampedLines {}

impl Reducer<String> for StampedLines {
    type Update = String;
    type Delta = (String, u64);

    const STORED: StoredAs = StoredAs::Delta;

    fn prepare(update: String, stamp: &Stamp<'_>) -> Result<(String, u64), ReduceError> {
        Ok((update, stamp.step))
    }

    fn fold(value: &mut String, (words, step): (String, u64)) -> Result<(), ReduceError> {
        if words == "!" {
            return Err(ReduceError::new("shouting"));
        }
        value.push_str(&format!("[{step}] {words}\n"));
        Ok(())
    }
}

#[derive(GraphState, Clone, Debug, PartialEq, Default)]
struct Log {
    #[state(reducer = append, default = vec![0])]
    lines: Vec<u32>,
    #[state(reducer = append)]
    maybe: Option<Vec<u32>>,
    #[state(reducer = merge)]
    by_name: BTreeMap<String, u8>,
    #[state(reducer = StampedLines)]
    said: String,
    #[state(reducer = add)]
    sum: u64,
}

#[test]
fn field_is_its_last_value_plus_later_deltas() {
    let log: Log = restored(vec![
        field(
            "lines",
            [delta(1, "[9]"), value(2, "[1,2]"), delta(3, "[3]"), delta(3, "[]"), delta(4, "[4,5]")],
        ),
        field("maybe", [value(1, "null"), delta(1, "null"), delta(2, "[1]"), delta(3, "[2]")]),
        field("by_name", [value(1, "{\"a\":1,\"b\":2}"), delta(2, "{\"b\":3}")]),
        field("said", [value(1, "\"\""), delta(2, "[\"hello\",2]"), delta(3, "[\"you\",3]")]),
    ])
    .unwrap();
    assert_eq!(log.lines, [1, 2, 3, 4, 5]);
    assert_eq!(log.maybe, Some(vec![1, 2]));
    assert_eq!(log.by_name, BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 3)]));
    assert_eq!(log.said, "[2] hello\n[3] you\n");
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Appended {
    #[state(reducer = append)]
    list: Vec<String>,
    #[state(reducer = append)]
    queue: VecDeque<u32>,
    #[state(reducer = append)]
    text: String,
}

#[test]
fn deltas_do_not_leak_into_the_next() {
    let appended: Appended = restored(vec![
        field("list", ["[\"a\",\"b\",\"c\"]", "[]", "[\"d\"]", "[\"\",\"e\"]"].map(|json| delta(1, json))),
        field("queue", ["[1,2,3]", "[4]", "[]", "[5,6]"].map(|json| delta(1, json))),
        field("text", ["\"long\"", "\"\"", "\"é\"", "\"er\""].map(|json| delta(1, json))),
    ])
    .unwrap();
    assert_eq!(appended.list, ["a", "b", "c", "d", "", "e"]);
    assert_eq!(appended.queue, [1, 2, 3, 4, 5, 6]);
    assert_eq!(appended.text, "longéer");
}

#[test]
fn deltas_without_a_value_fold_into_the_start_value() {
    let mut restore = Restore::new(vec![field("lines", [delta(1, "[1]"), delta(2, "[2]")])]);
    assert_eq!(Log::__restore(&mut restore).unwrap().lines, [0, 1, 2]);
    assert!(!restore.defaulted().contains(&0));
}

#[test]
fn invalid_delta_error_names_its_checkpoint() {
    let error = restored::<Log>(vec![field("lines", [value(1, "[]"), delta(2, "[-1]")])]).unwrap_err();
    assert_eq!(error.checkpoint(), Some(super::checkpoint(2)));
    assert!(error.to_string().contains("`lines`") && error.to_string().contains("expected u32"), "{error}");
}

#[test]
fn reducer_refusing_a_stored_delta_is_the_cause() {
    let error = restored::<Log>(vec![field("said", [delta(5, "[\"!\",5]")])]).unwrap_err();
    assert_eq!(error.checkpoint(), Some(super::checkpoint(5)));
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "shouting");
}

#[test]
fn deltas_of_a_removed_reducer_are_not_read_as_values() {
    let error = restored::<Log>(vec![field("sum", [value(1, "3"), delta(2, "4")])]).unwrap_err();
    assert!(error.to_string().contains("deltas of another reducer"), "{error}");
}
