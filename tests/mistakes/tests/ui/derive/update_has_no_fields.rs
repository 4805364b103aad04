use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    question: String,
    #[state(reducer = append)]
    notes: Vec<String>,
}

fn main() {
    let update = TicketUpdate { question: "why?".to_owned() };
    let TicketInput { question } = Ticket::input();

    let update = Ticket::update();
    update.question = "why?".to_owned();
    update.note;
    update.push("a note");
    update.iter();
    Ticket::input().push("a note");
    Ticket::input().note;
}
// mistakes: 8
