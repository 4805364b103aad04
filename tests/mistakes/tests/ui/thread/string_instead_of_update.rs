use superstep::thread::Thread;
use superstep::{GraphState, Result};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn correct(thread: Thread<Ticket>) -> Result<()> {
    thread.update("no", None).await?;
    Ok(())
}

fn main() {
    let _ = correct;
}
