//! `compile()` reports mistakes in the state.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use superstep::{END, GraphState, START, StateGraph};

const HIGHEST: f64 = 1.0;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Square {
    row: u32,
    column: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct PlayerId(u64);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Color {
    White,
}

#[derive(GraphState, Clone)]
struct Clock {
    #[state(default = 2.0 * HIGHEST, validate(range(max = HIGHEST)))]
    share: f64,
}

#[derive(GraphState, Clone)]
struct Board {
    #[state(default = String::new(), validate(length(min = 1)))]
    owner: String,
    #[state(default = String::new(), exclude, validate(length(min = 1)))]
    secret: String,
    pieces: HashMap<Square, String>,
    #[state(untracked)]
    cache: HashMap<Square, String>,
    scores: BTreeMap<PlayerId, u32>,
    colors: Option<BTreeMap<Color, PlayerId>>,
    #[state(flatten)]
    clock: Clock,
}

async fn play(_: &Board) -> BoardUpdate {
    Board::update().colors(BTreeMap::from([(Color::White, PlayerId(1))])).pieces(HashMap::new())
}

#[test]
fn all_mistakes_of_a_state_are_reported() {
    let error = StateGraph::<Board>::new().edge(START, play).edge(play, END).compile().unwrap_err();
    assert_eq!(
        error.to_string(),
        "graph `Board`: cannot be built, it has 4 mistakes\n  \
         the start value of field `owner` breaks `length(min = 1)`: length is lower than 1: choose another one with \
         `#[state(default = ..)]`\n  \
         the start value of field `secret` breaks `length(min = 1)`: choose another one with `#[state(default = ..)]`\n  \
         the start value of field `share` breaks `range(max = HIGHEST)`: greater than 1: choose another one with \
         `#[state(default = ..)]`\n  \
         the map in field `pieces` has keys of type `Square`, which are no strings in JSON: use another type for the keys, or \
         set `#[state(with = ..)]` or `#[state(untracked)]`"
    );
}

/// A start value that was not chosen may break a rule: the field has no value yet.
#[derive(GraphState, Clone)]
struct Draft {
    #[state(validate(length(min = 1)))]
    text: String,
}

async fn write(_: &Draft) -> DraftUpdate {
    Draft::update().text("done")
}

#[tokio::test]
async fn default_start_value_may_break_a_rule() {
    let graph = StateGraph::<Draft>::new().edge(START, write).edge(write, END).compile().unwrap();
    assert_eq!(graph.run(Draft::input()).await.unwrap().state().text, "done");
}
