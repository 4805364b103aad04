use superstep::GraphState;

#[derive(GraphState, Clone)]
#[state(renam_all = "camelCase")]
struct Ticket {
    #[state(input, reducr = append)]
    question: String,
    #[state(untracked, exclude)]
    client: u8,
    #[serde(flatten)]
    rest: u8,
    #[state(rename = "rest")]
    other: u8,
}

async fn node(ticket: &Ticket) -> TicketUpdate {
    Ticket::update().question(&ticket.question).client(1).rest(2)
}

fn main() {
    let graph = superstep::StateGraph::<Ticket>::new().edge(superstep::START, node);
    let graph = graph.compile().unwrap();
    let _ = graph.run(Ticket::input("why?").other(3));
    let _ = Ticket::QUESTION.name();
}
// mistakes: 5
