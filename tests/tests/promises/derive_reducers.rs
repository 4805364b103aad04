//! Custom reducers: types and functions.

use std::num::ParseIntError;

use serde_json::json;
use superstep::reducers::{ReduceError, Reducer, Stamp};
use superstep::state::FieldWrite;
use superstep::state::{Input, Update};
use superstep::{GraphState, Overwrite};

/// Keeps the longest string.
enum Longest {}

impl Reducer<String> for Longest {
    type Update = String;
    type Delta = String;

    fn prepare(update: String, _: &Stamp<'_>) -> Result<String, ReduceError> {
        Ok(update)
    }

    fn fold(value: &mut String, delta: String) -> Result<(), ReduceError> {
        if delta.chars().count() > value.chars().count() {
            *value = delta;
        }
        Ok(())
    }
}

fn push_char(text: &mut String, letter: char) {
    text.push(letter);
}

fn add_parsed(sum: &mut u64, text: String) -> Result<(), ParseIntError> {
    *sum += text.parse::<u64>()?;
    Ok(())
}

fn at_most(value: &mut u8, other: u8) {
    *value = (*value).max(other).min(9);
}

#[derive(GraphState, Clone, Debug)]
struct Own {
    #[state(reducer = Longest)]
    title: String,
    #[state(reducer = push_char, takes = char)]
    letters: String,
    #[state(reducer = add_parsed, takes = String)]
    sum: u64,
    #[state(reducer = self::at_most)]
    level: u8,
    #[state(reducer = ephemeral)]
    flash: Option<u8>,
    #[state(ephemeral, reducer = append, default = vec![1])]
    scratch: Vec<u8>,
}

fn apply(state: &mut Own, update: OwnUpdate) -> Result<(), ReduceError> {
    for write in update.__into_writes() {
        drop(write.prepare(&Stamp::new("node", 0, 0))?.apply(state)?);
    }
    Ok(())
}

#[test]
fn overwrites_bypass_the_reducer() {
    let mut state = Own::input().into_start().state;
    let update = Own::update()
        .title("long".to_owned())
        .title("short?".to_owned())
        .title("no".to_owned())
        .letters('a')
        .letters('b')
        .sum("40".to_owned())
        .sum("2".to_owned())
        .level(12);
    apply(&mut state, update).unwrap();
    assert_eq!((&*state.title, &*state.letters, state.sum, state.level), ("short?", "ab", 42, 9));
    apply(&mut state, Own::update().title(Overwrite("x".to_owned())).letters(Overwrite(String::new())))
        .unwrap();
    assert_eq!((&*state.title, &*state.letters), ("x", ""));
}

#[test]
fn update_json_contains_the_reducer_input() {
    let update = Own::update().letters('a').letters(Overwrite("bc".to_owned())).sum("1".to_owned());
    let value = serde_json::to_value(&update).unwrap();
    assert_eq!(value, json!([{"letters": "a", "sum": "1"}, {"$overwrite": {"letters": "bc"}}]));
    assert_eq!(serde_json::to_value(OwnUpdate::from_json(value.clone()).unwrap()).unwrap(), value);
}

#[test]
fn reducer_function_can_refuse() {
    let mut state = Own::input().into_start().state;
    let error = apply(&mut state, Own::update().sum("many".to_owned())).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "invalid digit found in string");
    assert_eq!(state.sum, 0);
}

#[test]
fn clearing_an_ephemeral_field_can_be_undone() {
    let mut state = Own { flash: Some(1), scratch: vec![2, 3], ..Own::input().into_start().state };
    let flash = state.clear_ephemeral(Own::FLASH.index()).unwrap();
    let scratch = state.clear_ephemeral(Own::SCRATCH.index()).unwrap();
    assert_eq!((state.flash, &*state.scratch), (None, &[1][..]));
    assert!(state.clear_ephemeral(Own::TITLE.index()).is_none());
    type Write = <OwnUpdate as Update<Own>>::Write;
    Write::undo(scratch, &mut state);
    Write::undo(flash, &mut state);
    assert_eq!((state.flash, &*state.scratch), (Some(1), &[2, 3][..]));
}

#[test]
fn field_reports_the_reducer_path_as_written() {
    let specs: Vec<_> = (0..).map_while(Own::field).map(|spec| (spec.reducer, spec.ephemeral)).collect();
    assert_eq!(
        specs,
        [
            (Some("Longest"), false),
            (Some("push_char"), false),
            (Some("add_parsed"), false),
            (Some("self::at_most"), false),
            (None, true),
            (Some("append"), true),
        ]
    );
}

#[derive(GraphState, Clone)]
struct Calm {
    a: u8,
    #[state(reducer = append)]
    b: Vec<u8>,
}

#[derive(GraphState, Clone)]
struct Strict {
    #[state(validate(range(max = 3)))]
    a: u8,
}

#[derive(GraphState, Clone)]
struct Around {
    #[state(flatten)]
    strict: Strict,
}

#[test]
fn fallible_reducers_and_rules_make_the_state_fallible() {
    const { assert!(!Calm::FALLIBLE) };
    const { assert!(Own::FALLIBLE) };
    const { assert!(Strict::FALLIBLE) };
    const { assert!(Around::FALLIBLE) };
}
