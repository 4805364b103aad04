use superstep::thread::Thread;
use superstep::{GraphState, Result};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn resume(thread: Thread<Ticket>) -> Result<()> {
    thread.resume("yes").await?;
    Ok(())
}

fn main() {
    let _ = resume;
}
