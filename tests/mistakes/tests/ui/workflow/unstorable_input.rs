use superstep::Result;
use superstep::workflow::Workflow;

struct Topic(String);

async fn write(topic: &Topic) -> Result<String> {
    Ok(topic.0.clone())
}

fn main() {
    let _ = Workflow::new(write);
}
