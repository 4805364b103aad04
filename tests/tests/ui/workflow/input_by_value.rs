use graph_core::Result;
use graph_core::workflow::Workflow;

async fn write(topic: String) -> Result<String> {
    Ok(topic)
}

fn main() {
    let _ = Workflow::new(write);
}
