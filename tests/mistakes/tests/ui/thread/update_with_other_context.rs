use superstep::{GraphState, Result};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

struct Office;
struct Shop;

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes".to_owned())
}

async fn program(thread: superstep::thread::Thread<Ticket, Office>) -> Result<()> {
    thread.update(Ticket::update(), None).context(Shop).await?;
    Ok(())
}

fn main() {
    let _ = (program, draft, Office);
}
