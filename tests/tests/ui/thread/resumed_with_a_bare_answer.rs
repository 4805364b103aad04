use graph_core::thread::Thread;
use graph_core::{GraphState, Result};

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
