use superstep::thread::Thread;
use superstep::{GraphState, Result};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

struct Office;

async fn program(thread: Thread<Ticket, Office>) -> Result<()> {
    thread.run(Ticket::input("why?")).await?;
    Ok(())
}

fn main() {
    let _ = (program, Office);
}
