use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn answer(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, answer).edge(answer, END).on_error(answer, END);
}
