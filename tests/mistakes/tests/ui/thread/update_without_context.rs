use superstep::thread::{Thread, as_node};
use superstep::{GraphState, Result};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

struct Office;

async fn draft(_: &Ticket) {}

async fn program(thread: Thread<Ticket, Office>) -> Result<()> {
    let yes = Ticket::update().answer("yes".to_owned());
    thread.update(yes, as_node(draft)).await?;
    Ok(())
}

fn main() {
    let _ = (program, Office);
}
