//! Fields that threads cannot share. The nodes that use the state are no errors.

use std::cell::RefCell;
use std::rc::Rc;

use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    question: Rc<String>,
    #[state(untracked)]
    cache: RefCell<u32>,
    #[state(reducer = append)]
    notes: Vec<Rc<String>>,
}

async fn ask(ticket: &Ticket) -> TicketUpdate {
    Ticket::update().question(ticket.question.clone())
}

async fn note(ticket: &Ticket) -> TicketUpdate {
    ask(ticket).await.notes([ticket.question.clone()])
}

async fn run() -> superstep::Result<()> {
    let graph = StateGraph::<Ticket>::new().edge(START, ask).edge(ask, note).edge(note, END).compile()?;
    let outcome = graph.run(Ticket::input()).await?;
    drop(outcome);
    println!("{:?}", Ticket::started(Ticket::input())?.dump());
    Ok(())
}

fn main() {
    drop(run());
}
// mistakes: 3
