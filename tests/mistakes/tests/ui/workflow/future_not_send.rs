use superstep::workflow::Workflow;
use superstep::{Context, Result};

async fn write(topic: &str, cx: &Context) -> Result<String> {
    let shared = std::rc::Rc::new(topic.to_owned());
    cx.emit(1).await;
    Ok(shared.to_string())
}

fn main() {
    let _ = Workflow::new(write);
}
