use superstep::messages::MessagesState;
use superstep_agent::tool;
use superstep_agent::tool::Tools;

/// Says how the weather is.
#[tool]
async fn weather() -> String {
    String::new()
}

fn main() {
    Tools::<MessagesState>::new().with(weather());
}
