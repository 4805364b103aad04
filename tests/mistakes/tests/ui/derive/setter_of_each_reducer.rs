use std::collections::{BTreeMap, BTreeSet};

use superstep::reducers::Append;
use superstep::{GraphState, Overwrite};

fn longest(value: &mut String, text: String) {
    value.push_str(&text);
}

#[derive(GraphState, Clone)]
struct Ticket {
    title: Option<String>,
    #[state(reducer = append)]
    notes: Vec<String>,
    #[state(reducer = append)]
    scores: Option<Vec<u32>>,
    #[state(reducer = append)]
    text: String,
    #[state(reducer = union)]
    tags: BTreeSet<String>,
    #[state(reducer = union)]
    seen: Vec<u64>,
    #[state(reducer = merge)]
    prices: BTreeMap<String, u32>,
    #[state(reducer = add)]
    cost: u32,
    #[state(reducer = min)]
    lowest: Option<u32>,
    #[state(reducer = max)]
    highest: u32,
    #[state(reducer = any_value)]
    owner: String,
    #[state(reducer = longest)]
    longest: String,
    #[state(reducer = Append)]
    lines: Vec<String>,
}

fn main() {
    let update = Ticket::update();
    let update = update.title(3);
    let update = update.notes(["a"]);
    let update = update.notes(Overwrite("a"));
    let update = update.scores(3);
    let update = update.text(3);
    let update = update.tags("a");
    let update = update.seen(3);
    let update = update.prices([("a", 3)]);
    let update = update.cost(0.5);
    let update = update.lowest("a");
    let update = update.highest("a");
    let update = update.owner(3);
    let update = update.longest("a");
    let update = update.lines("a");
    Ticket::input().notes("a");
}
// mistakes: 15
