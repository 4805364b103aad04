use std::sync::Arc;

use superstep::messages::MessagesState;
use superstep_agent::ChatModel;
use superstep_agent::agent::Agent;

fn build(model: Arc<dyn ChatModel>) -> superstep::Result<()> {
    let graph = Agent::<MessagesState>::new(model).compile()?;
    println!("{}", graph.name());
    Ok(())
}

fn main() {
    let _ = build;
}
