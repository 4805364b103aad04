use superstep::Result;
use superstep::workflow::Workflow;

async fn write(topic: &str) -> Result<String> {
    Ok(topic.to_owned())
}

fn main() {
    let _ = Workflow::new(write("rust"));
}
