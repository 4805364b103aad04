use superstep::GraphState;

fn push(text: &mut String, letter: char) {
    text.push(letter);
}

#[derive(GraphState, Clone)]
struct Ticket {
    question: String,
    #[state(reducer = append)]
    notes: Vec<String>,
    #[state(reducer = push, takes = char)]
    letters: String,
}

fn main() {
    Ticket::update().question(3);
    Ticket::update().notes("a note");
    Ticket::update().letters("a");
}
// mistakes: 3
