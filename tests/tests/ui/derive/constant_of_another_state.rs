use graph_core::{Field, GraphState};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    #[state(reducer = append)]
    notes: Vec<String>,
    count: u32,
    answer: Option<String>,
}

#[derive(GraphState, Clone)]
struct Chat {
    count: u32,
}

fn count_of(ticket: &Ticket, field: Field<Ticket, u32>) -> u32 {
    *field.get(ticket)
}

fn main() {
    let ticket = Ticket { question: String::new(), notes: vec![], count: 0, answer: None };
    count_of(&ticket, Chat::COUNT);
    count_of(&ticket, Ticket::QUESTION);
    count_of(&ticket, Ticket::CUONT);
}
