use superstep::GraphState;

use super::{delta, of, restored, value, whole};

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Log {
    #[state(reducer = append, alias = "notes", alias = "remarks")]
    lines: Vec<u32>,
}

fn lines(fields: Vec<superstep::checkpoint::StoredField>) -> Vec<u32> {
    restored::<Log>(fields).unwrap().lines
}

#[test]
fn a_field_is_stored_under_its_first_name_and_read_under_all() {
    assert_eq!(whole(&Log { lines: vec![] })[0].field, "lines");
    for name in ["lines", "notes", "remarks"] {
        assert_eq!(lines(vec![of(name, [value(1, "[1]"), delta(2, "[2]")])]), [1, 2], "{name}");
    }
}

#[test]
fn what_was_stored_before_a_field_was_renamed_comes_first() {
    let notes = of("notes", [value(1, "[1]"), delta(2, "[2]")]);
    assert_eq!(lines(vec![of("lines", [delta(3, "[3]"), delta(4, "[4]")]), notes.clone()]), [1, 2, 3, 4]);
    assert_eq!(lines(vec![notes, of("lines", [value(3, "[3]"), delta(4, "[4]")])]), [3, 4]);
}

#[test]
fn a_program_of_before_that_has_run_in_between_loses_nothing() {
    let fields = vec![
        of("notes", [value(1, "[1]"), delta(4, "[4]")]),
        of("lines", [value(2, "[1,2]"), delta(3, "[3]"), delta(5, "[5]")]),
    ];
    assert_eq!(lines(fields), [1, 2, 3, 4, 5]);
}
