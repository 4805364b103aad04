use superstep::{GraphState, StateUpdate};

fn longest(value: &mut String, text: &'static str) {
    if text.len() > value.len() {
        *value = text.to_owned();
    }
}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(reducer = append)]
    notes: Vec<String>,
    #[state(reducer = add)]
    cost: u32,
    #[state(reducer = longest, takes = &'static str, untracked)]
    title: String,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Noted {
    notes: String,
    cost: i32,
    title: String,
}

fn main() {}
// mistakes: 3
