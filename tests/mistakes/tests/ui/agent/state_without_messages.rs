use superstep::GraphState;
use superstep_agent::ChatModel;
use superstep_agent::agent::Agent;
use std::sync::Arc;

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

fn build(model: Arc<dyn ChatModel>) {
    let _ = Agent::<Ticket>::new(model).system("You are kind.").graph();
}

fn main() {}
