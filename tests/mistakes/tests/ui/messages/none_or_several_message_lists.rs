use superstep::GraphState;
use superstep::messages::{HasMessages, Message};

#[derive(GraphState, Clone)]
struct None {
    lines: Vec<String>,
}

#[derive(GraphState, Clone)]
struct Two {
    #[state(reducer = add_messages)]
    messages: Vec<Message>,
    #[state(reducer = add_messages)]
    aside: Vec<Message>,
}

fn length<S: HasMessages>(state: &S) -> usize {
    state.messages().len()
}

fn check(none: &None, two: &Two) {
    length(none);
    length(two);
}

fn main() {}
// mistakes: 2
