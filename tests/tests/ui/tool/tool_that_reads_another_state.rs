use graph_agent::tool;
use graph_agent::tool::Tools;
use graph_core::messages::MessagesState;
use graph_core::GraphState;

#[derive(GraphState, Clone)]
struct Desk {
    budget: u32,
}

/// Says how much is left.
#[tool]
async fn left(desk: &Desk) -> u32 {
    desk.budget
}

fn main() {
    Tools::<MessagesState>::new().with(left);
}
