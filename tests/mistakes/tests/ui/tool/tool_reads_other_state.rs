use superstep_agent::tool;
use superstep_agent::tool::Tools;
use superstep::messages::MessagesState;
use superstep::GraphState;

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
