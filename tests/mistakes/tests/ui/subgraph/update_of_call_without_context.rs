use superstep::thread::{Thread, keep_plan};
use superstep::{Graph, GraphState, Result};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

struct Office;

async fn program(thread: Thread<Ticket, Office>, bot: &Graph<Ticket, Office>) -> Result<()> {
    let bot = bot.as_node("bot");
    thread.within(&bot).update(Ticket::update().answer("yes".to_owned()), keep_plan()).await?;
    Ok(())
}

fn main() {
    let _ = (program, Office);
}
