use std::collections::{BTreeMap, VecDeque};

use superstep::GraphState;
use superstep::reducers::{ReduceError, Reducer, Stamp, StoredAs};
use superstep::state::Restore;

use super::{delta, of, restored, value};

/// Appends to a text what it is told, in another form; opts into deltas.
enum Said {}

impl Reducer<String> for Said {
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
    #[state(reducer = Said)]
    said: String,
    #[state(reducer = add)]
    sum: u64,
}

#[test]
fn the_last_value_and_every_delta_since_make_the_field() {
    let log: Log = restored(vec![
        of("lines", [delta(1, "[9]"), value(2, "[1,2]"), delta(3, "[3]"), delta(3, "[]"), delta(4, "[4,5]")]),
        of("maybe", [value(1, "null"), delta(1, "null"), delta(2, "[1]"), delta(3, "[2]")]),
        of("by_name", [value(1, "{\"a\":1,\"b\":2}"), delta(2, "{\"b\":3}")]),
        of("said", [value(1, "\"\""), delta(2, "[\"hello\",2]"), delta(3, "[\"you\",3]")]),
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
fn nothing_of_a_delta_is_left_for_the_next_one() {
    let appended: Appended = restored(vec![
        of("list", ["[\"a\",\"b\",\"c\"]", "[]", "[\"d\"]", "[\"\",\"e\"]"].map(|json| delta(1, json))),
        of("queue", ["[1,2,3]", "[4]", "[]", "[5,6]"].map(|json| delta(1, json))),
        of("text", ["\"long\"", "\"\"", "\"é\"", "\"er\""].map(|json| delta(1, json))),
    ])
    .unwrap();
    assert_eq!(appended.list, ["a", "b", "c", "d", "", "e"]);
    assert_eq!(appended.queue, [1, 2, 3, 4, 5, 6]);
    assert_eq!(appended.text, "longéer");
}

#[test]
fn without_a_value_deltas_are_folded_into_the_start_value() {
    let mut restore = Restore::new(vec![of("lines", [delta(1, "[1]"), delta(2, "[2]")])]);
    assert_eq!(Log::__restore(&mut restore).unwrap().lines, [0, 1, 2]);
    assert!(!restore.defaulted().contains(&0));
}

#[test]
fn a_delta_that_does_not_fit_names_its_checkpoint() {
    let error = restored::<Log>(vec![of("lines", [value(1, "[]"), delta(2, "[-1]")])]).unwrap_err();
    assert_eq!(error.checkpoint(), Some(super::checkpoint(2)));
    assert!(error.to_string().contains("`lines`") && error.to_string().contains("expected u32"), "{error}");
}

#[test]
fn a_reducer_that_refuses_its_own_delta_is_the_cause() {
    let error = restored::<Log>(vec![of("said", [delta(5, "[\"!\",5]")])]).unwrap_err();
    assert_eq!(error.checkpoint(), Some(super::checkpoint(5)));
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "shouting");
}

#[test]
fn deltas_of_a_reducer_that_is_gone_are_not_taken_for_values() {
    let error = restored::<Log>(vec![of("sum", [value(1, "3"), delta(2, "4")])]).unwrap_err();
    assert!(error.to_string().contains("deltas of another reducer"), "{error}");
}
