use std::sync::Arc;

use superstep::messages::MessagesState;
use superstep_agent::ChatModel;
use superstep_agent::agent::Agent;

async fn build(model: Arc<dyn ChatModel>) {
    let _ = Agent::<MessagesState>::new(model).run(MessagesState::input()).await;
}

fn main() {}
