use std::sync::Arc;

use superstep::messages::MessagesState;
use superstep_agent::agent::Agent;
use superstep_agent::{ChatModel, tool};

/// Says how the weather is.
#[tool]
async fn weather() -> String {
    String::new()
}

fn build(model: Arc<dyn ChatModel>) {
    let _ = Agent::<MessagesState>::new(model).tools([weather]);
}

fn main() {}
