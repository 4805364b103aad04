use superstep::GraphState;

use super::{all_fields, delta, field, restored, value};

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Log {
    #[state(reducer = append, alias = "notes", alias = "remarks")]
    lines: Vec<u32>,
}

fn lines(fields: Vec<superstep::checkpoint::StoredField>) -> Vec<u32> {
    restored::<Log>(fields).unwrap().lines
}

#[test]
fn field_is_stored_by_name_and_read_by_alias() {
    assert_eq!(all_fields(&Log { lines: vec![] })[0].field, "lines");
    for name in ["lines", "notes", "remarks"] {
        assert_eq!(lines(vec![field(name, [value(1, "[1]"), delta(2, "[2]")])]), [1, 2], "{name}");
    }
}

#[test]
fn changes_before_a_rename_are_applied_first() {
    let notes = field("notes", [value(1, "[1]"), delta(2, "[2]")]);
    assert_eq!(lines(vec![field("lines", [delta(3, "[3]"), delta(4, "[4]")]), notes.clone()]), [1, 2, 3, 4]);
    assert_eq!(lines(vec![notes, field("lines", [value(3, "[3]"), delta(4, "[4]")])]), [3, 4]);
}

#[test]
fn older_program_between_two_newer_loses_nothing() {
    let fields = vec![
        field("notes", [value(1, "[1]"), delta(4, "[4]")]),
        field("lines", [value(2, "[1,2]"), delta(3, "[3]"), delta(5, "[5]")]),
    ];
    assert_eq!(lines(fields), [1, 2, 3, 4, 5]);
}
