use superstep::Result;
use superstep::workflow::Workflow;

async fn write(topic: String) -> Result<String> {
    Ok(topic)
}

fn main() {
    let _ = Workflow::new(write);
}
