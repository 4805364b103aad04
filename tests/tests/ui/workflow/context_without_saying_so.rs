use superstep::workflow::Workflow;
use superstep::{Ctx, Result};

async fn write(topic: &str, model: &Ctx<u32>) -> Result<String> {
    Ok(format!("{topic} {}", model.context()))
}

fn main() {
    let _ = Workflow::new(write);
}
