use superstep::Result;
use superstep::workflow::Workflow;

async fn write(topic: &str, words: &u32) -> Result<String> {
    Ok(format!("{topic} in {words} words"))
}

fn main() {
    let _ = Workflow::new(write);
}
