use serde_json::json;
use superstep::payload::Payload;
use superstep::state::{Decoded, FieldWrite, Form, Update};
use superstep::{GraphState, Overwrite};

use super::{WriteOf, prepared, read_back, stored};

fn push(text: &mut String, letter: char) {
    text.push(letter);
}

#[derive(GraphState, Clone, Debug)]
struct Part {
    #[state(reducer = append)]
    inner: Vec<u8>,
}

#[derive(GraphState, Clone, Debug)]
struct Whole {
    answer: Option<String>,
    #[state(reducer = append, alias = "remarks")]
    notes: Vec<String>,
    #[state(reducer = push, takes = char)]
    letters: String,
    #[state(reducer = add)]
    sum: u8,
    #[state(exclude)]
    token: u64,
    #[state(untracked)]
    local: u8,
    #[state(flatten)]
    part: Part,
}

fn forms(update: WholeUpdate) -> Vec<(Form, String)> {
    let stored = prepared::<Whole>(update).filter_map(|write| stored::<Whole>(&write).unwrap());
    stored.map(|(form, payload)| (form, super::json(&payload).to_owned())).collect()
}

#[test]
fn writes_are_stored_as_delta_or_overwrite() {
    let update = Whole::update()
        .answer("yes")
        .notes(["a".to_owned()])
        .letters('é')
        .sum(3)
        .token(4711_u64)
        .local(9)
        .part(Part::update().inner([1]))
        .notes(Overwrite(vec!["b".to_owned()]));
    let expected = [
        (Form::Delta, "\"yes\""),
        (Form::Delta, "[\"a\"]"),
        (Form::Delta, "\"é\""),
        (Form::Delta, "3"),
        (Form::Delta, "4711"),
        (Form::Delta, "[1]"),
        (Form::Overwrite, "[\"b\"]"),
    ];
    assert_eq!(forms(update), expected.map(|(form, text)| (form, text.to_owned())));
}

#[test]
fn writes_round_trip() {
    let update = Whole::update()
        .notes(["a".to_owned()])
        .notes(Overwrite(vec![]))
        .letters('x')
        .answer(None)
        .token(7_u64)
        .part(Part::update().inner([1]));
    let read = read_back::<Whole>(update);
    assert_eq!(
        serde_json::to_value(&read).unwrap(),
        json!([
            {"notes": ["a"], "letters": "x", "answer": null, "inner": [1]},
            {"$overwrite": {"notes": []}},
        ])
    );
    assert!(read.writes(Whole::TOKEN));
    let before = Whole::started(Whole::input()).unwrap();
    let after = before.updated(read).unwrap();
    assert_eq!((after.notes.len(), after.letters.as_str(), after.token), (0, "x", 7));
    assert_eq!(after.part.inner, [1]);
}

#[test]
fn writes_are_read_under_every_field_name() {
    for name in ["notes", "remarks"] {
        let read = WriteOf::<Whole>::__decode(name, Form::Delta, &Payload::json("[\"a\"]"));
        assert!(matches!(read, Decoded::Write(write) if write.field() == Whole::NOTES.index()), "{name}");
    }
    let inner = WriteOf::<Whole>::__decode("inner", Form::Overwrite, &Payload::json("[]"));
    assert!(matches!(inner, Decoded::Write(write) if write.field() == 6));
    for name in ["gone", "local", "part", ""] {
        let read = WriteOf::<Whole>::__decode(name, Form::Delta, &Payload::json("[]"));
        assert!(matches!(read, Decoded::Unknown), "{name}");
    }
}

#[test]
fn unreadable_write_error_hides_excluded_values() {
    let error = |name| match WriteOf::<Whole>::__decode(name, Form::Delta, &Payload::json("\"hunter2\"")) {
        Decoded::Invalid(error) => error.to_string(),
        Decoded::Write(_) | Decoded::Unknown => panic!("`{name}` was read"),
    };
    assert_eq!(
        error("sum"),
        "the stored write to field `sum` cannot be read: invalid type: string \"hunter2\", expected u8 at line 1 column 9"
    );
    assert_eq!(
        error("token"),
        "the stored write to field `token` cannot be read: the value does not fit (details are withheld because the field is excluded)"
    );
}

#[test]
fn unprepared_update_is_stored_as_update() {
    let update = Whole::update().letters('é');
    let write = update.__writes().iter().next().unwrap();
    let mut bytes = Vec::new();
    let (form, encoding) = write.__encode(&mut bytes).unwrap().unwrap();
    assert_eq!((form, bytes.as_slice()), (Form::Update, "\"é\"".as_bytes()));
    let read = WriteOf::<Whole>::__decode("letters", form, &Payload::new(encoding, bytes));
    let Decoded::Write(read) = read else { panic!("it is a write") };
    assert_eq!(read.__value().downcast_ref(), Some(&'é'));
    let mut again = Vec::new();
    assert_eq!(
        read.__encode(&mut again).unwrap().unwrap().0,
        Form::Update,
        "decoding does not prepare the update"
    );
}
