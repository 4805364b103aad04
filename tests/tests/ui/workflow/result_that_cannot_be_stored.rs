use graph_core::Result;
use graph_core::workflow::Workflow;

struct Essay(String);

async fn write(topic: &str) -> Result<Essay> {
    Ok(Essay(topic.to_owned()))
}

fn main() {
    let _ = Workflow::new(write);
}
