use superstep::thread::{Thread, as_node};
use superstep::{GraphState, Result};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

#[derive(GraphState, Clone, Default)]
struct Order {
    price: u32,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

async fn correct(thread: Thread<Ticket>) -> Result<()> {
    thread.update(Order::update().price(17), as_node(draft)).await?;
    Ok(())
}

fn main() {
    let _ = correct;
}
