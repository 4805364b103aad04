use superstep::{Context, GraphState};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

async fn review(_: &Ticket, cx: &Context) -> TicketUpdate {
    let answer = cx.interrupt("approve?").await;
    Ticket::update().answer(answer)
}

fn main() {}
