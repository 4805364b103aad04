use superstep::workflow::Workflow;
use superstep::{ContextWith, Result};

async fn write(topic: &str, model: &ContextWith<u32>) -> Result<String> {
    Ok(format!("{topic} {}", model.context()))
}

fn main() {
    let _ = Workflow::new(write);
}
