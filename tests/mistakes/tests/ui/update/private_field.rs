use superstep::{GraphState, StateUpdate};

mod tickets {
    #[derive(superstep::GraphState, Clone)]
    pub struct Ticket {
        pub question: String,
        answer: Option<String>,
    }

    pub fn answer(ticket: &Ticket) -> Option<&str> {
        ticket.answer.as_deref()
    }
}

use tickets::Ticket;

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Answered {
    answer: String,
}

fn main() {
    let ticket = Ticket::started(Ticket::input()).unwrap();
    let _ = (tickets::answer(&ticket), &ticket.question);
}
