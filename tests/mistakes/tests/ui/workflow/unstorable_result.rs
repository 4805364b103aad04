use superstep::Result;
use superstep::workflow::Workflow;

struct Essay(String);

async fn write(topic: &str) -> Result<Essay> {
    Ok(Essay(topic.to_owned()))
}

fn main() {
    let _ = Workflow::new(write);
}
