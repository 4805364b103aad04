use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes".to_owned())
}

fn main() {
    let ticket = Ticket { question: String::new(), answer: None };
    let _graph = StateGraph::<Ticket>::new().edge(START, draft(&ticket));
}
